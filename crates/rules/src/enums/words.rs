//! The macro that declares enumerations of names, and the error for an unknown name.

/// Error for an unknown name of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {noun} `{given}`; expected one of {known}")]
pub struct UnknownVariant {
    pub given: String,
    /// Kind of name, such as `region`.
    pub noun: &'static str,
    /// The known names, joined by commas.
    pub known: String,
}

/// Declares an enumeration of names: `ALL`, `WORDS`, `as_str`, `meaning`, `parse`, text and serde
/// forms.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident ($noun:literal) { $($(#[doc = $meaning:literal])+ $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $meaning])+ $variant,)+ }

        impl $name {
            /// All variants, in the specification's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
            /// All names, in the order of [`Self::ALL`].
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// Returns the name as in the specification.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Returns the meaning, as a sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($meaning),+).trim_ascii_start(),)+ }
            }

            /// Parses a name.
            pub fn parse(word: &str) -> Result<Self, $crate::UnknownVariant> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    given => Err($crate::UnknownVariant {
                        given: given.to_owned(),
                        noun: $noun,
                        known: Self::WORDS.join(", "),
                    }),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownVariant;
            fn from_str(word: &str) -> Result<Self, $crate::UnknownVariant> {
                Self::parse(word)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::parse(&word).map_err(serde::de::Error::custom)
            }
        }
    )+};
}
