//! IDs: opaque texts with a prefix, stored as 64 bits. The server's context creates them, because
//! it has clock and random generator.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Crockford's base 32 in lower case, without letters that look like digits.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 13 digits of 5 bits hold 64 bits.
const DIGITS: usize = 13;
/// Random low bits distinguish IDs created in the same millisecond.
const CHANCE_BITS: u32 = 23;
/// 2020-01-01, the start of the millisecond count in an ID: 41 bits reach beyond 2089.
const EPOCH_MILLIS: i64 = 1_577_836_800_000;

/// A map by ID, for lookups on the hot path. Outsiders cannot choose IDs, so a fast hash suffices
/// that does not resist collisions.
pub type ById<I, V> = HashMap<I, V, foldhash::fast::RandomState>;

/// Error for a text that is not an ID of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid identifier `{given}`; expected the form `{prefix}…`")]
pub struct InvalidId {
    pub given: String,
    /// The expected prefix.
    pub prefix: &'static str,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The prefix of the ID's text.
            pub const PREFIX: &'static str = $prefix;

            /// Creates an ID from `now` and 23 bits of `chance`; later ones sort after earlier
            /// ones.
            pub fn at(now: crate::Timestamp, chance: u64) -> Self {
                Self(compose(now, chance))
            }

            /// Creates an ID from the result of [`Self::bits`].
            pub const fn from_bits(bits: u64) -> Self {
                Self(bits)
            }

            /// Returns the 64 bits of the ID.
            pub const fn bits(self) -> u64 {
                self.0
            }

            /// Parses the text form.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                text.strip_prefix($prefix)
                    .and_then(decode)
                    .map(Self)
                    .ok_or_else(|| InvalidId { given: text.to_owned(), prefix: $prefix })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($prefix)?;
                f.write_str(&encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::parse(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

ids! {
    /// ID of a workspace, the owner of everything else.
    WorkspaceId = "ws_";
    /// ID of a monitor of any kind.
    MonitorId = "mon_";
    /// ID of an API key; not the key itself.
    KeyId = "key_";
    /// ID of a person who signs in to the dashboard.
    UserId = "usr_";
    /// ID of a session of a user; not the session's secret.
    SessionId = "ses_";
    /// ID of an invitation to a workspace; not its token.
    InvitationId = "inv_";
    /// ID of a passkey of a user; not the credential's own ID.
    PasskeyId = "pk_";
    /// ID of an incident: the time from a monitor's error to its recovery.
    IncidentId = "inc_";
    /// ID of a notification channel.
    ChannelId = "chn_";
    /// ID of a status page.
    PageId = "page_";
    /// ID of a component of a status page.
    ComponentId = "cmp_";
    /// ID of a group of components of a status page.
    GroupId = "grp_";
    /// ID of a delivery: one event for one channel.
    DeliveryId = "dlv_";
    /// ID of a planned maintenance.
    MaintenanceId = "mnt_";
    /// ID of a secret that signs a workspace's webhooks; not the secret itself.
    SigningSecretId = "sgn_";
    /// ID of a subscriber of a status page.
    SubscriberId = "sub_";
    /// ID of a status report.
    ReportId = "rpt_";
    /// ID of a probe in another place; not its token.
    ProbeId = "prb_";
    /// ID of an update of a status report.
    UpdateId = "upd_";
    /// ID of a template of status reports.
    TemplateId = "tpl_";
}

fn compose(now: crate::Timestamp, chance: u64) -> u64 {
    let millis = u64::try_from(now.as_millis().saturating_sub(EPOCH_MILLIS)).unwrap_or(0);
    (millis << CHANCE_BITS) | (chance & ((1 << CHANCE_BITS) - 1))
}

fn encode(bits: u64) -> String {
    (0..DIGITS)
        .rev()
        .map(|digit| char::from(ALPHABET[(bits >> (5 * digit)) as usize & 31]))
        .collect()
}

fn decode(text: &str) -> Option<u64> {
    if text.len() != DIGITS {
        return None;
    }
    text.bytes().try_fold(0_u64, |bits, byte| {
        let digit = ALPHABET.iter().position(|letter| *letter == byte)?;
        // The first of 13 digits has only 4 bits; more would overflow.
        (bits >> 59 == 0).then_some((bits << 5) | digit as u64)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Timestamp;

    proptest! {
        #[test]
        fn id_round_trips_through_text(bits: u64) {
            let id = MonitorId::from_bits(bits);
            prop_assert_eq!(MonitorId::parse(&id.to_string()), Ok(id));
        }

        #[test]
        fn later_ids_sort_after_earlier_ones(millis in 0_i64..1 << 40, a: u64, b: u64) {
            let earlier = MonitorId::at(Timestamp::from_millis(EPOCH_MILLIS + millis), a);
            let later = MonitorId::at(Timestamp::from_millis(EPOCH_MILLIS + millis + 1), b);
            prop_assert!(earlier < later);
            prop_assert!(earlier.to_string() < later.to_string());
        }
    }

    #[test]
    fn id_of_another_kind_is_rejected() {
        for text in [
            "key_0000000000000",
            "mon_",
            "mon_000000000000u",
            "mon_00000000000000",
            "mon_zzzzzzzzzzzzz",
        ] {
            assert!(MonitorId::parse(text).is_err(), "{text}");
        }
    }
}
