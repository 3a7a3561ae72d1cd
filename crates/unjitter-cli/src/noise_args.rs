//! The noise model. The library's table lists the models and their settings: a new one needs nothing here.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use serde::ser::{Serialize, SerializeMap, Serializer};
use unjitter::model::noise::{Kind, Setting, Value};
use unjitter::{Model, Noise};

use crate::failure::usage;

/// A noise model on the command line: `--noise` and an option for each setting of any of them.
#[derive(Debug, Clone)]
pub(crate) struct NoiseArgs {
    kind: &'static Kind,
    /// Every option of a setting, with its value if it was given.
    given: Vec<(&'static Setting, Option<f64>)>,
}

/// The settings of all noise models; the first of several with the same name.
fn settings() -> Vec<&'static Setting> {
    let mut settings: Vec<&Setting> = Vec::new();
    for setting in Noise::kinds().iter().flat_map(|kind| kind.settings) {
        if settings.iter().all(|known| known.name != setting.name) {
            settings.push(setting);
        }
    }
    settings
}

/// A name in the command line's spelling.
fn spelt(name: &str) -> String {
    name.replace('_', "-")
}

fn option(setting: &Setting) -> String {
    format!("--{}", spelt(setting.name))
}

/// The noise models with this setting, by their names.
fn owners(setting: &Setting) -> String {
    let has = |kind: &&Kind| kind.settings.iter().any(|own| own.name == setting.name);
    let names: Vec<String> =
        Noise::kinds().iter().filter(has).map(|kind| spelt(kind.name)).collect();
    names.join(" or ")
}

fn kind_arg() -> Arg {
    let names = Noise::kinds().iter().map(|kind| {
        let options: Vec<String> = kind.settings.iter().map(option).collect();
        let options = if options.is_empty() { "" } else { &format!(" ({})", options.join(", ")) };
        PossibleValue::new(spelt(kind.name)).help(format!("{}{options}", kind.about))
    });
    let find = |name: String| {
        let kind = Noise::kinds().iter().find(|kind| spelt(kind.name) == name);
        kind.expect("one of the names that are possible")
    };
    Arg::new("noise")
        .long("noise")
        .value_name("NOISE")
        .help("How stamps scatter around their instance")
        .default_value(spelt(Model::default().noise.name()))
        .value_parser(PossibleValuesParser::new(names).map(find))
}

fn setting_arg(setting: &'static Setting) -> Arg {
    let arg = Arg::new(setting.name).long(spelt(setting.name)).allow_negative_numbers(true);
    let arg = match setting.value {
        Value::Length => arg.value_name("N").value_parser(value_parser!(u32).map(f64::from)),
        Value::Time => arg.value_name("T").value_parser(value_parser!(f64)),
        Value::Number => arg.value_name("X").value_parser(value_parser!(f64)),
    };
    let unit = if setting.value == Value::Time { ", in seconds" } else { "" };
    let usual = setting.default.map_or(String::new(), |usual| format!("; {usual} by default"));
    arg.help(format!("{}{unit}, with {} noise{usual}", setting.about, owners(setting)))
}

impl Args for NoiseArgs {
    fn augment_args(command: Command) -> Command {
        let all = [kind_arg()].into_iter().chain(settings().into_iter().map(setting_arg));
        command.args(all.map(|arg| arg.help_heading("Model")))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for NoiseArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingRequiredArgument);
        let kind = *matches.get_one::<&'static Kind>("noise").ok_or_else(missing)?;
        let given = |setting: &'static Setting| (setting, matches.get_one(setting.name).copied());
        Ok(Self { kind, given: settings().into_iter().map(given).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Serialises each option like a field.
impl Serialize for NoiseArgs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("noise", &spelt(self.kind.name))?;
        for (setting, value) in &self.given {
            match setting.value {
                Value::Length => map.serialize_entry(setting.name, &value.map(|n| n as u64))?,
                _ => map.serialize_entry(setting.name, value)?,
            }
        }
        map.end()
    }
}

impl NoiseArgs {
    /// For the library.
    pub(crate) fn noise(&self) -> anyhow::Result<Noise> {
        let value = |setting: &Setting| {
            let given = self.given.iter().find(|(known, _)| known.name == setting.name);
            given.and_then(|(_, value)| *value).or(setting.default)
        };
        let values: Option<Vec<f64>> = self.kind.settings.iter().map(value).collect();
        let needed = || {
            let needed = self.kind.settings.iter().filter(|setting| setting.default.is_none());
            let options: Vec<String> = needed.map(option).collect();
            usage(format!("{} noise needs {}", spelt(self.kind.name), options.join(" and ")))
        };
        Ok(self.kind.noise(&values.ok_or_else(needed)?)?)
    }

    /// An option of a noise model that is not in use, and the choice that it belongs to.
    pub(crate) fn idle(&self) -> Option<(String, String)> {
        let is_own = |name| self.kind.settings.iter().any(|own| own.name == name);
        let is_idle = |(setting, value): &&(&'static Setting, Option<f64>)| {
            value.is_some() && !is_own(setting.name)
        };
        let (setting, _) = self.given.iter().find(is_idle)?;
        Some((option(setting), format!("--noise {}", owners(setting))))
    }
}
