//! The check of a monitor: a variant per kind, as settings and as written by a caller. All are
//! expansions of [`check_kinds`](crate::check_kinds).

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::blocks::{
    Header, HeaderAssertion, JsonAssertion, RecordAssertion, StatusCodeAssertion, TextAssertion,
};
use super::client_key::ClientKey;
use crate::argument::{FieldValue, Settings, draft_of};
use crate::mask::replace;
use crate::{IpVersion, Method, MonitorKind, Validator, tables};

/// Declares [`Check`] and [`CheckDraft`], and the settings of each kind with their draft.
macro_rules! checks {
    ($($(#[doc = $meaning:literal])+ $variant:ident $name:literal $table:ident $arguments:ident
        $(#[$doc:meta])+ $settings:ident $draft:ident $message:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)+
        })+) => {
        $(
            $(#[$doc])+
            #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
            pub struct $settings { $($(#[$field_doc])* pub $field: $type,)+ }

            draft_of! { $settings, $draft { $($field: $type,)+ } }

            impl<'de> Deserialize<'de> for $settings {
                /// Reads stored settings. An argument that was added later has the table's default.
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    #[derive(Deserialize)]
                    struct Stored { $($field: Option<$type>,)+ }

                    let stored = Stored::deserialize(deserializer)?;
                    let mut validator = Validator::new(&tables::$table);
                    Ok(Self { $($field: match stored.$field {
                        Some(value) => value,
                        None => missing(&mut validator, stringify!($field))?,
                    },)+ })
                }
            }
        )+

        /// The check of a monitor, by kind.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Check {
            $($(#[doc = $meaning])+ $variant($settings),)+
        }

        /// The arguments of one kind of monitor, as written.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::large_enum_variant, reason = "most monitors are HTTP")]
        pub enum CheckDraft {
            $($(#[doc = $meaning])+ $variant($draft),)+
        }

        impl Check {
            /// Returns the kind of the check.
            pub const fn kind(&self) -> MonitorKind {
                match self { $(Self::$variant(_) => MonitorKind::$variant,)+ }
            }
        }

        impl CheckDraft {
            /// Returns the kind of the check.
            pub const fn kind(&self) -> MonitorKind {
                match self { $(Self::$variant(_) => MonitorKind::$variant,)+ }
            }

            /// Validates the arguments of the kind.
            pub(super) fn read(self, validator: &mut Validator) -> Option<Check> {
                self.check_rules(validator);
                match self {
                    $(Self::$variant(draft) => {
                        <$settings>::read(validator, draft).map(Check::$variant)
                    })+
                }
            }

            /// Copies the fields that are `named` from `other`, a draft of the same kind.
            pub(super) fn apply_named(&mut self, other: Self, named: impl Fn(&str) -> bool) {
                match (self, other) {
                    $((Self::$variant(mine), Self::$variant(other)) => {
                        $(replace(&mut mine.$field, other.$field, named(stringify!($field)));)+
                    })+
                    _ => unreachable!("`apply_mask` checked that the kinds are equal"),
                }
            }
        }

        impl From<&Check> for CheckDraft {
            /// Creates the draft that reads as this check.
            fn from(check: &Check) -> Self {
                match check { $(Check::$variant(settings) => Self::$variant(settings.draft()),)+ }
            }
        }
    };
}

crate::check_kinds!(checks);

/// Returns the table's default of an argument that stored settings lack.
fn missing<V: FieldValue<Draft: Default>, E: Error>(
    validator: &mut Validator,
    name: &'static str,
) -> Result<V, E> {
    V::read(validator, name, V::Draft::default()).ok_or_else(|| E::missing_field(name))
}

impl CheckDraft {
    /// Checks the rules between arguments of the kind.
    fn check_rules(&self, validator: &mut Validator) {
        match self {
            Self::Http(http) => validator.check_rules(
                |_| None,
                |field| match field {
                    "client_certificate" => http.client_certificate.is_some(),
                    "client_key" => http.client_key.is_some(),
                    _ => false,
                },
            ),
            Self::Tcp(_) | Self::Dns(_) | Self::Heartbeat(_) => {}
        }
    }
}

impl HttpCheck {
    /// Creates a check of this URL with the defaults of the table. The URL is not validated.
    pub fn new(url: impl Into<String>) -> Self {
        let draft = HttpDraft { url: Some("http://localhost/".to_owned()), ..HttpDraft::default() };
        let mut validator = Validator::new(&tables::HTTP_MONITOR);
        let check = Self::read(&mut validator, draft);
        Self { url: url.into(), ..check.expect("only `url` has no default") }
    }
}

impl TcpCheck {
    /// Creates a check of this target with the defaults of the table. The target is not validated.
    pub fn new(uri: impl Into<String>) -> Self {
        let draft = TcpDraft { uri: Some("localhost:1".to_owned()), ..TcpDraft::default() };
        let mut validator = Validator::new(&tables::TCP_MONITOR);
        let check = Self::read(&mut validator, draft);
        Self { uri: uri.into(), ..check.expect("only `uri` has no default") }
    }
}

impl HeartbeatCheck {
    /// Creates a check of calls in this interval, in seconds, with the default of the table for the rest.
    /// The interval is not validated.
    pub fn new(interval: u32) -> Self {
        let draft = HeartbeatDraft { interval: Some(60), ..HeartbeatDraft::default() };
        let mut validator = Validator::new(&tables::HEARTBEAT_MONITOR);
        let check = Self::read(&mut validator, draft);
        Self { interval, ..check.expect("only `interval` has no default") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_check_gets_defaults_of_later_arguments() {
        let stored = r#"{"http":{"url":"https://example.com/","body":"ping"}}"#;
        let check = HttpCheck { body: "ping".to_owned(), ..HttpCheck::new("https://example.com/") };
        assert_eq!(serde_json::from_str::<Check>(stored).unwrap(), Check::Http(check));
        let error = serde_json::from_str::<Check>(r#"{"http":{"body":"ping"}}"#).unwrap_err();
        assert!(error.to_string().starts_with("missing field `url`"), "{error}");
    }
}
