//! The five phases of a result in a few bytes: one bit for each that happened, then its
//! microseconds in groups of seven bits, low ones first.

use domain::check::Phases;

use crate::StoreError;

/// Five of at most five bytes, and the bits.
const PACKED_MAX: usize = 1 + 5 * 5;
const MORE: u8 = 0x80;
const GROUP_BITS: u32 = 7;

/// The phases packed; nothing where none happened.
pub(super) fn phases(phases: &Phases) -> Option<Vec<u8>> {
    let all =
        [phases.dns_us, phases.connect_us, phases.tls_us, phases.first_byte_us, phases.transfer_us];
    if all.iter().all(Option::is_none) {
        return None;
    }
    let mut packed = Vec::with_capacity(PACKED_MAX);
    packed.push(0);
    for (bit, phase) in all.into_iter().enumerate() {
        if let Some(microseconds) = phase {
            packed[0] |= 1 << bit;
            push(&mut packed, microseconds);
        }
    }
    Some(packed)
}

/// The phases that [`phases`] packed.
pub(super) fn read_phases(packed: Option<&[u8]>) -> Result<Phases, StoreError> {
    let Some((present, mut rest)) = packed.and_then(<[u8]>::split_first) else {
        return Ok(Phases::default());
    };
    let mut take = |bit: u8| -> Result<Option<u32>, StoreError> {
        if present & (1 << bit) == 0 {
            return Ok(None);
        }
        let (microseconds, later) = pull(rest)
            .ok_or_else(|| StoreError::corrupt("results.phases", "a phase ends too early"))?;
        rest = later;
        Ok(Some(microseconds))
    };
    Ok(Phases {
        dns_us: take(0)?,
        connect_us: take(1)?,
        tls_us: take(2)?,
        first_byte_us: take(3)?,
        transfer_us: take(4)?,
    })
}

fn push(packed: &mut Vec<u8>, mut number: u32) {
    while number >= u32::from(MORE) {
        packed.push(number as u8 | MORE);
        number >>= GROUP_BITS;
    }
    packed.push(number as u8);
}

fn pull(packed: &[u8]) -> Option<(u32, &[u8])> {
    let mut number = 0_u32;
    for (place, byte) in packed.iter().enumerate() {
        let group = u32::from(byte & !MORE);
        number |= group.checked_shl(GROUP_BITS * place as u32)?;
        if byte & MORE == 0 {
            return Some((number, &packed[place + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_phases_read_back(
            dns_us: Option<u32>, connect_us: Option<u32>, tls_us: Option<u32>,
            first_byte_us: Option<u32>, transfer_us: Option<u32>,
        ) {
            let given = Phases { dns_us, connect_us, tls_us, first_byte_us, transfer_us };
            let packed = phases(&given);
            prop_assert!(packed.as_ref().is_none_or(|packed| packed.len() <= PACKED_MAX));
            prop_assert_eq!(read_phases(packed.as_deref()).unwrap(), given);
        }

        #[test]
        fn no_bytes_make_reading_panic(bytes: Vec<u8>) {
            let _ = read_phases(Some(&bytes));
        }
    }

    #[test]
    fn phases_that_are_cut_short_are_refused() {
        assert!(read_phases(Some(&[1, 0x80])).is_err());
        assert!(read_phases(Some(&[3, 5])).is_err());
    }
}
