//! Codes of authenticator apps (RFC 6238: SHA-1, six digits, 30 seconds), their secrets as QR codes,
//! and the recovery codes that replace an app. The store refuses a step that was used before.

use data_encoding::BASE32_NOPAD;
use fast_qr::QRBuilder;
use hmac::{Hmac, KeyInit as _, Mac as _};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rules::{Secret, Timestamp};
use sha1::Sha1;
use std::fmt::Write as _;
use store::RecoveryCode;

/// Length of a secret in bytes, as RFC 4226 recommends.
const SECRET_BYTES: usize = 20;
/// Time in which a code is valid.
const STEP_MILLIS: i64 = 30_000;
/// Steps before and after the current one whose codes are accepted too: clocks differ.
const STEPS_AROUND: i64 = 1;
const CODES: u32 = 1_000_000;
/// Number of recovery codes.
pub(crate) const RECOVERY_CODES: usize = 10;
/// Length of a recovery code in bytes: 80 bits, so that it cannot be guessed.
const RECOVERY_BYTES: usize = 10;
/// Modules of white around a QR code (ISO/IEC 18004).
const QUIET_ZONE: usize = 4;

/// Returns a new secret from random bytes.
pub(crate) fn secret(random: &[u8; 32]) -> Secret<Vec<u8>> {
    Secret::new(random[..SECRET_BYTES].to_vec())
}

/// Returns the secret as people type it.
pub(crate) fn text(secret: &Secret<Vec<u8>>) -> String {
    BASE32_NOPAD.encode(secret.expose())
}

/// Parses the text form of a secret.
pub(crate) fn parse(text: &str) -> Option<Secret<Vec<u8>>> {
    let bytes = BASE32_NOPAD.decode(text.as_bytes()).ok()?;
    (bytes.len() == SECRET_BYTES).then(|| Secret::new(bytes))
}

/// Returns the step whose code this is, at `now`.
pub(crate) fn step_of_code(secret: &Secret<Vec<u8>>, code: &str, now: Timestamp) -> Option<i64> {
    let digits: String = code.chars().filter(|it| !it.is_whitespace()).collect();
    if digits.len() != 6 || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let given: u32 = digits.parse().ok()?;
    let current = now.as_millis().div_euclid(STEP_MILLIS);
    let steps = current - STEPS_AROUND..=current + STEPS_AROUND;
    steps.filter(|step| code_of_step(secret, *step) == given).max()
}

/// Computes the code of a step.
fn code_of_step(secret: &Secret<Vec<u8>>, step: i64) -> u32 {
    let mut mac = Hmac::<Sha1>::new_from_slice(secret.expose()).expect("any key will do");
    mac.update(&step.to_be_bytes());
    let hash = mac.finalize().into_bytes();
    // The last four bits say where the code begins (RFC 4226, §5.3).
    let start = usize::from(hash[hash.len() - 1] & 0xf);
    let four = [hash[start] & 0x7f, hash[start + 1], hash[start + 2], hash[start + 3]];
    u32::from_be_bytes(four) % CODES
}

/// Returns the QR code of a secret for the account with this address, as SVG.
pub(crate) fn qr_code(secret: &Secret<Vec<u8>>, email: &str) -> Option<String> {
    let account = utf8_percent_encode(email, NON_ALPHANUMERIC);
    let url = format!("otpauth://totp/Aloft:{account}?secret={}&issuer=Aloft", text(secret));
    let code = QRBuilder::new(url).build().ok()?;
    let mut path = String::new();
    for y in 0..code.size {
        for (x, _) in code[y].iter().enumerate().filter(|(_, module)| module.value()) {
            let (left, top) = (x + QUIET_ZONE, y + QUIET_ZONE);
            write!(path, "M{left} {top}h1v1h-1z").expect("writing to a String does not fail");
        }
    }
    let side = code.size + 2 * QUIET_ZONE;
    Some(format!(
        "<svg class=\"qr\" viewBox=\"0 0 {side} {side}\" role=\"img\" aria-label=\"QR code for your \
         authenticator app\"><rect width=\"{side}\" height=\"{side}\" fill=\"#fff\"/>\
         <path d=\"{path}\" fill=\"#000\"/></svg>"
    ))
}

/// Returns a new recovery code, as people write it down: four groups of four characters.
pub(crate) fn recovery_code(random: &[u8; 32]) -> String {
    let text = BASE32_NOPAD.encode(&random[..RECOVERY_BYTES]).to_ascii_lowercase();
    let groups: Vec<&str> =
        (0..text.len()).step_by(4).map(|start| &text[start..start + 4]).collect();
    groups.join("-")
}

/// Returns a recovery code without what people add when they type it.
pub(crate) fn normalize_recovery_code(given: &str) -> RecoveryCode {
    let letters = given.chars().filter(char::is_ascii_alphanumeric);
    Secret::new(letters.map(|it| it.to_ascii_lowercase()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 6238, appendix B, shortened to six digits.
    #[test]
    fn codes_are_those_of_the_specification() {
        let secret = Secret::new(b"12345678901234567890".to_vec());
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            let now = Timestamp::from_millis(seconds * 1_000);
            assert_eq!(step_of_code(&secret, code, now), Some(seconds / 30), "{seconds}");
        }
    }

    #[test]
    fn only_neighbouring_steps_are_accepted() {
        let secret = Secret::new(b"12345678901234567890".to_vec());
        let step = |seconds: i64| {
            step_of_code(&secret, " 287 082", Timestamp::from_millis(seconds * 1_000))
        };
        for (seconds, expected) in
            [(0, Some(1)), (30, Some(1)), (59, Some(1)), (89, Some(1)), (90, None), (-1, None)]
        {
            assert_eq!(step(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn texts_without_six_digits_are_no_code() {
        let secret = Secret::new(b"12345678901234567890".to_vec());
        let now = Timestamp::from_millis(59_000);
        for given in ["", "28708", "2870822", "+28708", "28708a", "２８７０８２"] {
            assert_eq!(step_of_code(&secret, given, now), None, "{given}");
        }
    }

    #[test]
    fn secret_survives_its_text_form() {
        let made = secret(&[9; 32]);
        assert_eq!(parse(&text(&made)), Some(made));
        assert_eq!(parse("MZXW6"), None);
        assert_eq!(parse("not base 32"), None);
    }

    #[test]
    fn qr_code_is_an_image_with_a_name() {
        let svg = qr_code(&secret(&[1; 32]), "ada@example.com").unwrap();
        assert!(svg.starts_with("<svg class=\"qr\" viewBox=\"0 0 ") && svg.contains("aria-label"));
        assert!(svg.matches("h1v1h-1z").count() > 300, "{svg}");
    }

    #[test]
    fn recovery_code_is_readable_and_normalized() {
        let code = recovery_code(&[0xa7; 32]);
        assert_eq!(code, "u6t2-pj5h-u6t2-pj5h");
        let typed = normalize_recovery_code(" U6T2 pj5h-u6t2 PJ5H ");
        assert_eq!(typed, normalize_recovery_code(&code));
    }
}
