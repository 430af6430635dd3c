//! Variable-length integers: groups of seven bits, low ones first; the eighth bit marks that more
//! follow. Signed numbers are zigzag-encoded, so that small negative ones are short, too.

use super::Unreadable;

const MORE: u8 = 0x80;
const GROUP_BITS: u32 = 7;

/// Appends a number: one byte below 128, two below 16,384, ten at most.
pub fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= u64::from(MORE) {
        bytes.push(number as u8 | MORE);
        number >>= GROUP_BITS;
    }
    bytes.push(number as u8);
}

/// Appends a signed number.
pub fn push_signed(bytes: &mut Vec<u8>, number: i64) {
    push(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

/// Decodes a number and advances `bytes` past it.
pub fn pull(bytes: &mut &[u8]) -> Result<u64, Unreadable> {
    let mut number = 0_u64;
    for place in 0.. {
        let byte = byte(bytes)?;
        let group = u64::from(byte & !MORE);
        let shift = GROUP_BITS * place;
        if shift > 63 || (shift == 63 && group > 1) {
            return Err(Unreadable("a number is too large"));
        }
        number |= group << shift;
        if byte & MORE == 0 {
            break;
        }
    }
    Ok(number)
}

/// Decodes a signed number and advances `bytes` past it.
pub fn pull_signed(bytes: &mut &[u8]) -> Result<i64, Unreadable> {
    let folded = pull(bytes)?;
    Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
}

/// Decodes a number that must fit a narrower type.
pub fn pull_narrow<T: TryFrom<u64>>(bytes: &mut &[u8]) -> Result<T, Unreadable> {
    T::try_from(pull(bytes)?).map_err(|_| Unreadable("a number is too large"))
}

/// Takes the first byte.
pub fn byte(bytes: &mut &[u8]) -> Result<u8, Unreadable> {
    let (first, rest) = bytes.split_first().ok_or(Unreadable("unexpected end of data"))?;
    *bytes = rest;
    Ok(*first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_round_trip(number: u64, signed: i64) {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            push_signed(&mut bytes, signed);
            let mut rest = &bytes[..];
            prop_assert_eq!(pull(&mut rest), Ok(number));
            prop_assert_eq!(pull_signed(&mut rest), Ok(signed));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn decoding_any_bytes_never_panics(bytes: Vec<u8>) {
            let mut rest = &bytes[..];
            while pull(&mut rest).is_ok() {}
        }
    }

    #[test]
    fn small_numbers_take_one_byte() {
        for number in [-64, -1, 0, 63] {
            let mut bytes = Vec::new();
            push_signed(&mut bytes, number);
            assert_eq!(bytes.len(), 1, "{number}");
        }
    }
}
