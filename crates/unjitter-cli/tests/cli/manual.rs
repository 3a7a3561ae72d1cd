use crate::folder::Folder;

const VERBS: [&str; 10] = [
    "demo",
    "inspect",
    "featurize",
    "simulate",
    "fit",
    "align",
    "predict",
    "evaluate",
    "report",
    "review",
];

#[test]
fn every_verb_has_a_manual() {
    let folder = Folder::new();
    let help = folder.ok(&["--help"]);
    assert!(help.contains("Exit codes"), "{help}");
    for verb in VERBS {
        assert!(help.contains(verb), "{verb} is missing from the help");
        let of_verb = folder.ok(&[verb, "--help"]);
        assert!(of_verb.contains("Usage: unjitter"), "{verb}: {of_verb}");
    }
    folder.ok(&["man", "--output", "man"]);
    for verb in VERBS {
        let page = folder.read(&format!("man/unjitter-{verb}.1"));
        assert!(page.contains(".TH"), "{verb}");
    }
    assert!(folder.ok(&["man"]).contains("unjitter"));
    assert!(folder.ok(&["--version"]).starts_with("unjitter 0."));
}

#[test]
fn shells_complete_verbs() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.ok(&["completions", shell]);
        assert!(VERBS.iter().all(|verb| script.contains(verb)), "{shell}");
    }
}

#[test]
fn mistyped_verbs_are_suggested() {
    let err = Folder::new().fails(2, &["algin", "data"]);
    assert!(err.contains("'align'"), "{err}");
}
