//! Colours of the page, light and dark, as CSS made from the palette.
//!
//! Figures carry the light values as presentation attributes, which any CSS rule overrides. So one rule per
//! colour turns `fill="#0072B2"` into `fill: var(--blue)`, and a change of theme changes variables only.

use std::fmt::Write;

use crate::palette;

/// A colour's CSS name, its value in the palette, and its counterpart on a dark page: the same hue, at
/// least as far from the background.
struct Tone {
    name: &'static str,
    light: &'static str,
    dark: &'static str,
}

const TONES: [Tone; 10] = [
    Tone { name: "ink", light: palette::INK, dark: "#E9EAEC" },
    Tone { name: "muted", light: palette::MUTED, dark: "#A4A8AE" },
    Tone { name: "grid", light: palette::GRID, dark: "#383C42" },
    Tone { name: "blue", light: palette::BLUE, dark: "#4BA3E3" },
    Tone { name: "black", light: palette::BLACK, dark: "#FFFFFF" },
    Tone { name: "orange", light: palette::ORANGE, dark: "#F5B83D" },
    Tone { name: "vermilion", light: palette::VERMILION, dark: "#FF8A57" },
    Tone { name: "green", light: palette::GREEN, dark: "#35C79B" },
    Tone { name: "purple", light: palette::PURPLE, dark: "#E8A5CB" },
    Tone { name: "sky", light: palette::SKY, dark: "#9AD4F5" },
];

/// Colours of the page itself, which figures do not use.
const SURFACES: [Tone; 3] = [
    Tone { name: "page", light: "#F7F7F5", dark: "#131518" },
    Tone { name: "card", light: "#FFFFFF", dark: "#1B1E22" },
    Tone { name: "hover", light: "#EEF0F1", dark: "#282C31" },
];

/// Variables for both themes, and rules that make figures follow them. Paper is always light.
pub(super) fn css() -> String {
    let light = variables(|tone| tone.light);
    let dark = variables(|tone| tone.dark);
    let mut css = format!(
        ":root {{{light} }}\n\
         @media screen {{\n  :root[data-theme=\"dark\"] {{{dark} }}\n}}\n\
         @media screen and (prefers-color-scheme: dark) {{\n  \
         :root:not([data-theme=\"light\"]) {{{dark} }}\n}}\n"
    );
    for Tone { name, light, .. } in &TONES {
        for property in ["fill", "stroke"] {
            writeln!(css, ".drawing [{property}=\"{light}\"] {{ {property}: var(--{name}); }}")
                .expect("a string takes any text");
        }
    }
    css
}

fn variables(value: impl Fn(&Tone) -> &'static str) -> String {
    TONES
        .iter()
        .chain(&SURFACES)
        .map(|tone| format!(" --{}: {};", tone.name, value(tone)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every constant of the palette, read from its source so that a new one cannot be forgotten.
    fn palette_values() -> Vec<&'static str> {
        let source = include_str!("../palette.rs");
        source.lines().filter(|line| line.starts_with("pub(crate) const")).map(quoted).collect()
    }

    fn quoted(line: &str) -> &str {
        line.split('"').nth(1).unwrap()
    }

    #[test]
    fn every_colour_of_the_palette_is_a_variable_and_restyles_figures() {
        let css = css();
        assert_eq!(palette_values().len(), TONES.len());
        for value in palette_values() {
            assert!(css.contains(&format!(": {value};")), "no variable for {value}");
            assert!(css.contains(&format!("[fill=\"{value}\"]")), "no fill rule for {value}");
            assert!(css.contains(&format!("[stroke=\"{value}\"]")), "no stroke rule for {value}");
        }
    }

    #[test]
    fn dark_colours_differ_from_light_ones_and_from_each_other() {
        for (k, tone) in TONES.iter().enumerate() {
            assert_ne!(tone.light, tone.dark, "{}", tone.name);
            assert!(TONES[..k].iter().all(|other| other.dark != tone.dark), "{}", tone.name);
        }
    }
}
