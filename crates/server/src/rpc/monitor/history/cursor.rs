//! IDs of logs and page tokens. Both encode the position of a result among those of its monitor as
//! an opaque text.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::check::Trigger;
use rules::{Region, Timestamp, limits};
use store::LogCursor;

const PREFIX: &str = "log_";

/// Returns the ID of the log at this position.
pub(super) fn encode_id(cursor: &LogCursor) -> String {
    format!("{PREFIX}{}", encode_token(cursor))
}

/// Parses the ID of a log.
pub(super) fn decode_id(id: &str) -> Option<LogCursor> {
    decode_token(id.strip_prefix(PREFIX)?)
}

/// Returns the token of a page that begins after this position.
pub(super) fn encode_token(cursor: &LogCursor) -> String {
    let LogCursor { slot, region, trigger, revision } = cursor;
    let text = format!("{}/{region}/{}/{revision}", slot.as_millis(), trigger.as_str());
    URL_SAFE_NO_PAD.encode(text)
}

/// Parses a token of [`encode_token`].
pub(super) fn decode_token(token: &str) -> Option<LogCursor> {
    if token.len() > limits::PAGE_TOKEN_BYTES_MAX {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let mut parts = str::from_utf8(&bytes).ok()?.split('/');
    let mut next = || parts.next();
    let cursor = LogCursor {
        slot: Timestamp::from_millis(next()?.parse().ok()?),
        region: Region::parse(next()?).ok()?,
        trigger: {
            let word = next()?;
            Trigger::ALL.into_iter().find(|trigger| trigger.as_str() == word)?
        },
        revision: next()?.parse().ok()?,
    };
    parts.next().is_none().then_some(cursor)
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn cursor_round_trips_and_forged_one_fails() {
        let cursor = LogCursor {
            slot: Timestamp::from_millis(1_800_000_000_123),
            region: Region::KoyebSin,
            trigger: Trigger::Confirmation,
            revision: 7,
        };
        assert_eq!(decode_token(&encode_token(&cursor)), Some(cursor));
        assert_eq!(decode_id(&encode_id(&cursor)), Some(cursor));
        for made_up in ["", "!", "log_", "MS8y", &encode_token(&cursor)[1..], &"A".repeat(300)] {
            assert_eq!(decode_token(made_up), None, "{made_up}");
        }
    }
}
