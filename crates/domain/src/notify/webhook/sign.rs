//! Signatures of Standard Webhooks: HMAC-SHA256 over id, time and body, with every secret that a
//! receiver may know at the time.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rules::Secret;
use sha2::Sha256;

/// Begins every secret that people are shown.
const PREFIX: &str = "whsec_";

/// A signing secret as people are shown it, and as the libraries of Standard Webhooks read it:
/// `whsec_` and base64. It should have 24 to 64 bytes of chance.
pub fn signing_secret_text(secret: &Secret<Vec<u8>>) -> Secret<String> {
    Secret::new(format!("{PREFIX}{}", BASE64_STANDARD.encode(secret.expose())))
}

/// The signatures with all `secrets`, as the header has them; `None` without a secret.
pub(super) fn signatures(
    secrets: &[Secret<Vec<u8>>],
    id: &str,
    seconds: i64,
    body: &[u8],
) -> Option<String> {
    let sign = |secret: &Secret<Vec<u8>>| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose())
            .expect("HMAC takes keys of every length");
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
    fn the_published_example_is_signed_alike() {
        let secret = secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        assert_eq!(signatures(&[secret], ID, 1_614_265_330, BODY).as_deref(), Some(SIGNED));
    }

    #[test]
    fn a_secret_is_shown_as_libraries_read_it() {
        let text = signing_secret_text(&secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        assert_eq!(text.expose(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    }

    #[test]
    fn while_a_secret_is_replaced_both_sign() {
        let (new, old) = (secret("AAAA"), secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        let signatures = signatures(&[new, old], ID, 1_614_265_330, BODY).unwrap();
        let (first, second) = signatures.split_once(' ').unwrap();
        assert!(first.starts_with("v1,") && first != second);
        assert_eq!(second, SIGNED);
    }

    #[test]
    fn without_a_secret_nothing_is_signed() {
        assert_eq!(signatures(&[], ID, 0, BODY), None);
    }
}
