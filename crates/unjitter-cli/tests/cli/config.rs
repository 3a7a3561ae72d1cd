use crate::folder::{Folder, small};

#[test]
fn options_come_from_a_file_and_the_command_line_wins() {
    let folder = Folder::with_small_data();
    folder.write(
        "fit.toml",
        "# Half of it here.\nnoise = \"student-t\"\nrestarts = 0\nignore = [\"noise\"]\nforce = true\n\
         output = \"from-file.json\"\n\n[freeze]\n\"noise.delay\" = 0.5\n\n[prior]\nhit_rate = [9, 1]\n",
    );
    folder.ok(&small("fit", &["--config", "fit.toml", "--noise", "laplace"]));
    let model = folder.json("from-file.json");
    let options = &model["metadata"]["options"];
    assert_eq!(options["model"]["noise"], "laplace");
    assert_eq!(options["model"]["restarts"], 0);
    assert_eq!(model["metadata"]["features"], serde_json::json!(["x"]));
    assert_eq!(options["model"]["freeze"], serde_json::json!(["noise.delay=0.5"]));
    assert_eq!(options["model"]["prior"], serde_json::json!(["hit_rate=9,1"]));
    // `force` is on: a second run replaces the model.
    folder.ok(&small("fit", &["--config", "fit.toml"]));
    assert_eq!(folder.json("from-file.json")["metadata"]["options"]["model"]["noise"], "student-t");
}

#[test]
fn mistakes_in_the_file_are_named_with_their_line() {
    let folder = Folder::with_small_data();
    for (text, expected) in [
        (
            "restarts = 1\nnoize = \"laplace\"\n",
            "fit.toml, line 2: fit has no option `noize`; did you mean `noise`?",
        ),
        ("restarts = \n", "fit.toml: TOML parse error at line 1"),
        ("noise = \"lapalce\"\n", "invalid value 'lapalce' for '--noise"),
        ("output = true\n", "fit.toml, line 1: `output` should be a value"),
        ("force = \"no\"\n", "fit.toml, line 1: `force` should be true or false"),
        ("config = \"b.toml\"\n", "`config` is for the command line only"),
        ("restarts = { a = [[1]] }\n", "fit.toml, line 1: `restarts` should be a table of numbers"),
    ] {
        folder.write("fit.toml", text);
        let err = folder.fails(2, &small("fit", &["--config", "fit.toml"]));
        assert!(err.contains(expected), "{text:?}: {err}");
    }
    let err = folder.fails(2, &small("fit", &["--config", "nowhere.toml"]));
    assert!(err.contains("nowhere.toml"), "{err}");
}
