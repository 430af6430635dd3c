//! Short-lived state that the server signs and a browser or an email carries, such as the step between
//! password and second factor. It is stored nowhere, and is valid for one purpose and some minutes.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rules::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// Reason that a state is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RefusedState {
    /// It was changed, is for another purpose, or another server signed it.
    #[error("it is forged")]
    Forged,
    #[error("it has expired")]
    Expired,
}

/// Signs with the server's session key.
pub(crate) struct Signer<'k> {
    pub(crate) key: &'k [u8; 32],
    pub(crate) now: Timestamp,
}

/// Signed content.
#[derive(Deserialize, Serialize)]
struct Content<T> {
    expires_at: i64,
    value: T,
}

impl Signer<'_> {
    /// Signs a value for a purpose. It is valid for `lifetime`. Its carrier can read it.
    pub(crate) fn sign<T: Serialize>(
        &self,
        purpose: &'static str,
        value: T,
        lifetime: Duration,
    ) -> String {
        let content = Content { expires_at: (self.now + lifetime).as_millis(), value };
        let content = serde_json::to_vec(&content).expect("state has text keys");
        let signature = self.mac(purpose, &content).finalize().into_bytes();
        format!("{}.{}", URL_SAFE_NO_PAD.encode(content), URL_SAFE_NO_PAD.encode(signature))
    }

    /// Returns the value of a state for this purpose.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        purpose: &'static str,
        state: &str,
    ) -> Result<T, RefusedState> {
        let (content, signature) = state.split_once('.').ok_or(RefusedState::Forged)?;
        let decode = |text| URL_SAFE_NO_PAD.decode(text).map_err(|_| RefusedState::Forged);
        let (content, signature) = (decode(content)?, decode(signature)?);
        let verified = self.mac(purpose, &content).verify_slice(&signature);
        verified.map_err(|_| RefusedState::Forged)?;
        let content: Content<T> =
            serde_json::from_slice(&content).map_err(|_| RefusedState::Forged)?;
        if Timestamp::from_millis(content.expires_at) <= self.now {
            return Err(RefusedState::Expired);
        }
        Ok(content.value)
    }

    /// Returns 32 bytes that only this server can derive from an input.
    pub(crate) fn derive(&self, purpose: &'static str, input: &[u8]) -> [u8; 32] {
        self.mac(purpose, input).finalize().into_bytes().into()
    }

    fn mac(&self, purpose: &'static str, content: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key).expect("any key will do");
        mac.update(b"aloft state\0");
        mac.update(purpose.as_bytes());
        mac.update(b"\0");
        mac.update(content);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn signer(millis: i64) -> Signer<'static> {
        Signer { key: &[7; 32], now: Timestamp::from_millis(millis) }
    }

    #[test]
    fn state_is_valid_for_its_time_and_purpose() {
        let state = signer(0).sign("step", "ada", MINUTE);
        assert_eq!(signer(59_999).read("step", &state), Ok("ada".to_owned()));
        assert_eq!(signer(60_000).read::<String>("step", &state), Err(RefusedState::Expired));
        assert_eq!(signer(0).read::<String>("other", &state), Err(RefusedState::Forged));
    }

    #[test]
    fn changed_state_is_forged() {
        let state = signer(0).sign("step", "ada", MINUTE);
        let (content, signature) = state.split_once('.').unwrap();
        let other = signer(0).sign("step", "eve", MINUTE);
        let (other, _) = other.split_once('.').unwrap();
        let foreign = Signer { key: &[8; 32], ..signer(0) }.sign("step", "ada", MINUTE);
        for changed in [
            format!("{other}.{signature}"),
            content.to_owned(),
            format!("{content}."),
            String::new(),
            "ä.ö".to_owned(),
            foreign,
        ] {
            let read = signer(0).read::<String>("step", &changed);
            assert_eq!(read, Err(RefusedState::Forged), "{changed}");
        }
    }

    #[test]
    fn derived_bytes_depend_on_purpose_and_input() {
        let all = [("a", "x"), ("a", "y"), ("b", "x")]
            .map(|(purpose, input)| signer(0).derive(purpose, input.as_bytes()));
        assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2]);
        assert_eq!(all[0], signer(9).derive("a", b"x"));
    }
}
