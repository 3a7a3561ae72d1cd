//! Reading of settings.

use serde::{Deserialize, Deserializer};

/// Reads the settings of a kind that has none. Without this, serde would accept any field there, and
/// `{"kind": "poisson", "max_count": 3}` would silently lose its number.
pub(crate) fn no_settings<'de, D: Deserializer<'de>>(input: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoSettings {}
    NoSettings::deserialize(input).map(|NoSettings {}| ())
}
