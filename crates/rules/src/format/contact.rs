//! Formats of slugs, email addresses and telephone numbers.

use super::{DomainName, FormatError};

/// A plus sign and at most 15 digits (E.164).
pub(crate) const PHONE_CHARS_MAX: u32 = 16;
/// Maximum length of an email address before the `@`, in octets (RFC 5321 §4.5.3.1.1).
const LOCAL_PART_MAX: usize = 64;

pub(crate) fn slug(text: &str) -> Result<(), FormatError> {
    let word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    if text.split('-').all(word) {
        return Ok(());
    }
    Err("must be words of a–z and 0–9 joined by single hyphens, such as my-page".into())
}

pub(crate) fn email(text: &str) -> Result<(), FormatError> {
    let refused = || Err("must be an email address, such as ops@example.com".into());
    let Some((local, domain)) = text.rsplit_once('@') else { return refused() };
    let plain = |character: char| {
        !character.is_whitespace()
            && !character.is_control()
            && !r#"@",;:<>()[]\"#.contains(character)
    };
    let dots_fine = !local.starts_with('.') && !local.ends_with('.') && !local.contains("..");
    let local_fine = (1..=LOCAL_PART_MAX).contains(&local.len()) && dots_fine;
    // Email addresses have no trailing dot after the domain (RFC 5321 §4.1.2).
    let domain_fine = !domain.ends_with('.') && DomainName::parse(domain).is_ok();
    if local_fine && local.chars().all(plain) && domain_fine {
        return Ok(());
    }
    refused()
}

pub(crate) fn phone(text: &str) -> Result<(), FormatError> {
    let digits = text.strip_prefix('+').unwrap_or_default();
    let fine = (2..PHONE_CHARS_MAX as usize).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0');
    if fine {
        return Ok(());
    }
    Err("must be a telephone number in international form, such as +4915112345678".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_words_joined_by_single_hyphens() {
        for fine in ["a", "status", "my-page", "2024-x"] {
            assert_eq!(slug(fine), Ok(()), "{fine}");
        }
        for bad in ["", "-a", "a-", "a--b", "A", "a b", "ä", "a_b"] {
            assert!(slug(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn email_address_requires_local_part_and_domain() {
        for fine in ["ops@example.com", "a.b+c@x.io", "jörg@bücher.example"] {
            assert_eq!(email(fine), Ok(()), "{fine}");
        }
        for bad in [
            "",
            "@x.io",
            "a@",
            "a b@x.io",
            ".a@x.io",
            "a..b@x.io",
            "a@b@x.io",
            "a@x..io",
            "a@x.io.",
        ] {
            assert!(email(bad).is_err(), "{bad}");
        }
        assert!(email(&format!("{}@x.io", "a".repeat(64))).is_ok());
        assert!(email(&format!("{}@x.io", "a".repeat(65))).is_err());
    }

    #[test]
    fn telephone_numbers_are_international() {
        for fine in ["+12", "+4915112345678", "+123456789012345"] {
            assert_eq!(phone(fine), Ok(()), "{fine}");
        }
        for bad in ["", "+", "+1", "0151", "+0151", "+49 151", "+1234567890123456"] {
            assert!(phone(bad).is_err(), "{bad}");
        }
    }
}
