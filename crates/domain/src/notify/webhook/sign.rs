//! Signatures of Standard Webhooks: HMAC-SHA256 over ID, time and body, with every valid secret of
//! the workspace.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rules::Secret;
use sha2::Sha256;

/// Prefix of displayed secrets.
const PREFIX: &str = "whsec_";

/// Formats a signing secret as the libraries of Standard Webhooks expect it: `whsec_` and base64.
/// It should have 24 to 64 random bytes.
pub fn signing_secret_text(secret: &Secret<Vec<u8>>) -> Secret<String> {
    Secret::new(format!("{PREFIX}{}", BASE64_STANDARD.encode(secret.expose())))
}

/// Returns the header value with the signatures of all `secrets`, or `None` without a secret.
pub(super) fn signatures(
    secrets: &[Secret<Vec<u8>>],
    id: &str,
    seconds: i64,
    body: &[u8],
) -> Option<String> {
    let sign = |secret: &Secret<Vec<u8>>| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose())
            .expect("HMAC accepts keys of any length");
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
    };
    let signatures: Vec<String> = secrets.iter().map(sign).collect();
    (!signatures.is_empty()).then(|| signatures.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNED: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn secret(text: &str) -> Secret<Vec<u8>> {
        Secret::new(BASE64_STANDARD.decode(text).unwrap())
    }

    // The example of the reference libraries of Standard Webhooks.
    #[test]
    fn published_example_has_the_same_signature() {
        let secret = secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        assert_eq!(signatures(&[secret], ID, 1_614_265_330, BODY).as_deref(), Some(SIGNED));
    }

    #[test]
    fn secret_is_formatted_for_the_libraries() {
        let text = signing_secret_text(&secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        assert_eq!(text.expose(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    }

    #[test]
    fn both_secrets_sign_during_replacement() {
        let (new, old) = (secret("AAAA"), secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        let signatures = signatures(&[new, old], ID, 1_614_265_330, BODY).unwrap();
        let (first, second) = signatures.split_once(' ').unwrap();
        assert!(first.starts_with("v1,") && first != second);
        assert_eq!(second, SIGNED);
    }

    #[test]
    fn no_secret_gives_no_signature() {
        assert_eq!(signatures(&[], ID, 0, BODY), None);
    }
}
