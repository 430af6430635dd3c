//! Decimal numbers of any size. Terraform calculates with 512 bits and compares exactly. With a
//! binary float in between, `0.1` would differ from itself.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Maximum number of digits. Terraform's own numbers have at most 155.
const MAX_DIGITS: usize = 2_000;
/// Maximum distance of the decimal point from the digits.
const MAX_EXPONENT: i64 = 100_000;

/// An exact decimal number.
///
/// ```
/// use terraform_plugin::Number;
///
/// let tenth: Number = "0.10".parse()?;
/// assert_eq!(tenth, Number::from_f64(0.1)?);
/// assert_eq!(tenth.to_string(), "0.1");
/// assert_eq!(Number::from(42).as_i64(), Some(42));
/// # Ok::<(), terraform_plugin::NotANumber>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(Repr);

/// Canonical representation: `Small` if the number fits, otherwise `Decimal`, which has no zeros at
/// either end and is never zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Decimal { negative: bool, digits: Box<str>, exponent: i64 },
}

/// Text or a float that is not a number that Terraform supports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a decimal number within the bounds")]
pub struct NotANumber(String);

impl Number {
    /// Creates the shortest decimal number that converts back to the same float.
    ///
    /// # Errors
    /// Fails if the float is infinite or not a number.
    pub fn from_f64(float: f64) -> Result<Self, NotANumber> {
        if !float.is_finite() {
            return Err(NotANumber(float.to_string()));
        }
        format!("{float:e}").parse()
    }

    /// Creates the exact decimal number of a float, as floats on the wire require.
    pub(crate) fn from_exact_f64(float: f64) -> Result<Self, NotANumber> {
        if !float.is_finite() {
            return Err(NotANumber(float.to_string()));
        }
        // No float has more digits after the decimal point.
        format!("{float:.1074}").parse()
    }

    /// Returns the number if it is whole and fits.
    pub fn as_i64(&self) -> Option<i64> {
        if let Repr::Small(number) = self.0 { Some(number) } else { None }
    }

    /// Returns the number if it is whole and fits.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Small(number) => u64::try_from(*number).ok(),
            Repr::Decimal { exponent, .. } if *exponent < 0 || *exponent > 20 => None,
            Repr::Decimal { negative: true, .. } => None,
            Repr::Decimal { digits, exponent, .. } => {
                format!("{digits}{}", "0".repeat(usize::try_from(*exponent).ok()?)).parse().ok()
            }
        }
    }

    /// Returns the nearest float.
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Repr::Small(number) => *number as f64,
            Repr::Decimal { .. } => {
                self.to_string().parse().expect("every decimal number parses as a float")
            }
        }
    }

    fn parts(&self) -> (bool, String, i64) {
        match &self.0 {
            Repr::Small(number) => (*number < 0, number.unsigned_abs().to_string(), 0),
            Repr::Decimal { negative, digits, exponent } => {
                (*negative, digits.to_string(), *exponent)
            }
        }
    }

    fn canonical(negative: bool, digits: &str, exponent: i64) -> Option<Self> {
        let digits = digits.trim_start_matches('0');
        let trimmed = digits.trim_end_matches('0');
        let exponent = exponent + (digits.len() - trimmed.len()) as i64;
        if trimmed.is_empty() {
            return Some(Self(Repr::Small(0)));
        }
        if trimmed.len() > MAX_DIGITS || exponent.abs() > MAX_EXPONENT {
            return None;
        }
        if (0..=18).contains(&exponent) {
            let sign = if negative { "-" } else { "" };
            let zeros = "0".repeat(exponent as usize);
            if let Ok(number) = format!("{sign}{trimmed}{zeros}").parse() {
                return Some(Self(Repr::Small(number)));
            }
        }
        Some(Self(Repr::Decimal { negative, digits: trimmed.into(), exponent }))
    }

    fn read(text: &str) -> Option<Self> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], rest[at + 1..].parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let length = whole.len() + fraction.len();
        if length == 0 || length > 2 * MAX_DIGITS || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let digits = format!("{whole}{fraction}");
        Self::canonical(negative, &digits, i64::from(exponent) - fraction.len() as i64)
    }
}

impl FromStr for Number {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        Self::read(text).ok_or_else(|| NotANumber(text.chars().take(64).collect()))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, exponent) = match &self.0 {
            Repr::Small(number) => return number.fmt(f),
            Repr::Decimal { negative, digits, exponent } => {
                f.write_str(if *negative { "-" } else { "" })?;
                (digits, *exponent)
            }
        };
        let point = digits.len() as i64 + exponent;
        if exponent > 400 || point < -400 {
            return write!(f, "{digits}e{exponent}");
        }
        if exponent >= 0 {
            return write!(f, "{digits}{}", "0".repeat(exponent as usize));
        }
        if point <= 0 {
            return write!(f, "0.{}{digits}", "0".repeat(point.unsigned_abs() as usize));
        }
        let (whole, fraction) = digits.split_at(point as usize);
        write!(f, "{whole}.{fraction}")
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0) {
            return a.cmp(b);
        }
        let sign = |number: &Self| match &number.0 {
            Repr::Small(small) => small.signum(),
            Repr::Decimal { negative, .. } => {
                if *negative {
                    -1
                } else {
                    1
                }
            }
        };
        let (mine, theirs) = (sign(self), sign(other));
        if mine != theirs || mine == 0 {
            return mine.cmp(&theirs);
        }
        let magnitude = |number: &Self| {
            let (_, digits, exponent) = number.parts();
            let point = digits.len() as i64 + exponent;
            (point, digits.trim_end_matches('0').to_owned())
        };
        let order = magnitude(self).cmp(&magnitude(other));
        if mine < 0 { order.reverse() } else { order }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self(Repr::Small(number))
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self::canonical(false, &number.to_string(), 0).expect("20 digits are within the bounds")
    }
}

macro_rules! from_small {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Number {
            fn from(number: $kind) -> Self {
                Self(Repr::Small(i64::from(number)))
            }
        }
    )*};
}
from_small!(i32, u32, i16, u16, u8, i8);

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        text.parse().unwrap()
    }

    #[test]
    fn text_round_trips_in_shortest_form() {
        let cases = [
            ("0", "0"),
            ("-0.0", "0"),
            ("007", "7"),
            ("1e3", "1000"),
            ("9223372036854775808", "9223372036854775808"),
            ("-12.50", "-12.5"),
            ("0.001", "0.001"),
            ("1e-7", "0.0000001"),
            ("12e500", "12e500"),
        ];
        for (text, shown) in cases {
            assert_eq!(number(text).to_string(), shown, "{text}");
            assert_eq!(number(&number(text).to_string()), number(text), "{text}");
        }
    }

    #[test]
    fn invalid_numbers_are_rejected() {
        for text in ["", "-", ".", "1e", "0x1", "NaN", "1 ", "1e999999999", "1e200000"] {
            assert!(text.parse::<Number>().is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let rising = ["-1e30", "-10", "-9.5", "0", "0.1", "0.11", "9", "10", "1e19", "1.5e19"];
        for pair in rising.windows(2) {
            assert!(number(pair[0]) < number(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn wire_floats_are_exact_and_others_shortest() {
        assert_eq!(Number::from_f64(0.1).unwrap(), number("0.1"));
        assert_ne!(Number::from_exact_f64(0.1).unwrap(), number("0.1"));
        assert_eq!(Number::from_exact_f64(0.5).unwrap(), number("0.5"));
        assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
        assert!((number("1e300").as_f64() - 1e300).abs() < f64::EPSILON * 1e300);
    }
}
