//! Code common to all noise models, generated from their rows in the table.

/// Rows are `file::Type`, with the settings and their types if there are any, in the order in which users
/// see them. Each file has a `KIND`.
macro_rules! noises {
    ($($file:ident::$Name:ident $({ $($setting:ident: $type:ty),+ })?,)+) => {
        $(pub use $file::$Name;)+

        /// The noise model, with its fixed settings (times in the user's unit).
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Noise {
            $(
                #[doc = concat!("As [`", stringify!($Name), "`](struct@", stringify!($Name), ") says.")]
                $Name $({
                    $(
                        #[doc = concat!("The setting `", stringify!($setting), "`.")]
                        $setting: $type,
                    )+
                })?,
            )+
        }

        impl Noise {
            /// All noise models.
            pub fn kinds() -> &'static [Kind] {
                const KINDS: &[Kind] = &[$($file::KIND),+];
                KINDS
            }

            /// The description of this one.
            pub fn kind(&self) -> &'static Kind {
                match self {
                    $(Self::$Name { .. } => &const { $file::KIND },)+
                }
            }

            /// Its settings, in their order.
            fn settings(&self) -> Vec<f64> {
                match *self {
                    $(Self::$Name $({ $($setting),+ })? => vec![$($($setting as f64),+)?],)+
                }
            }

            /// The model of this name, if it has so many settings.
            fn from_row(name: &str, settings: &[f64]) -> Option<Self> {
                $(
                    if let ([$($($setting),+)?], true) = (settings, name == $file::KIND.name) {
                        return Some(Self::$Name $({ $($setting: *$setting as $type),+ })?);
                    }
                )+
                None
            }
        }

        impl<'de> Deserialize<'de> for Noise {
            fn deserialize<D: Deserializer<'de>>(input: D) -> std::result::Result<Self, D::Error> {
                // Braces everywhere: without them serde would accept any setting, and
                // `{"kind": "gaussian", "components": 3}` would silently lose its number.
                #[derive(Deserialize)]
                #[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
                enum Braced {
                    $($Name { $($($setting: $type),+)? },)+
                }
                Ok(match Braced::deserialize(input)? {
                    $(Braced::$Name { $($($setting),+)? } => Self::$Name $({ $($setting),+ })?,)+
                })
            }
        }
    };
}

pub(super) use noises;
