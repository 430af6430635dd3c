//! Format of a block: the results of one monitor in ten minutes, in about 20 bytes each. They are
//! in the order of their keys. Values that follow from the previous result, or from other values,
//! are omitted.
//!
//! A result consists of:
//! - two bytes: outcome (2 bits), trigger (2), equality (1), region (5), phases that are present
//!   (5).
//! - the milliseconds since the previous slot.
//! - revision, status, attempts and probe, unless equality says that they are those of the previous
//!   result.
//! - the phases.
//! - the latency minus the sum of the phases.
//! - the time from slot to completion minus the latency.

use domain::check::Phases;
use domain::history::{Unreadable, varint};

use crate::StoreError;
use crate::stored_result::{StoredResult, each_phase, pull_phases};

const TRIGGER_SHIFT: u32 = 2;
const SAME: u16 = 1 << 4;
const REGION_SHIFT: u32 = 5;
const PHASES_SHIFT: u32 = 10;
const TWO_BITS: u16 = 0b11;
const FIVE_BITS: u16 = 0b1_1111;

/// Packs results that are sorted by key and begin at `start` or later.
pub(super) fn pack(rows: &[StoredResult], start: i64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(24 * rows.len());
    varint::push(&mut bytes, rows.len() as u64);
    let mut slot = start;
    let mut before: Option<&StoredResult> = None;
    for row in rows {
        let same = before.is_some_and(|before| meta(before) == meta(row));
        let all = each_phase(&row.phases);
        let present = all
            .iter()
            .enumerate()
            .fold(0_u16, |bits, (bit, phase)| bits | (u16::from(phase.is_some()) << bit));
        let head = u16::from(row.outcome)
            | (u16::from(row.trigger) << TRIGGER_SHIFT)
            | (if same { SAME } else { 0 })
            | (u16::from(row.region) << REGION_SHIFT)
            | (present << PHASES_SHIFT);
        bytes.extend_from_slice(&head.to_le_bytes());
        varint::push_signed(&mut bytes, row.slot - slot);
        if !same {
            varint::push(&mut bytes, u64::from(row.revision));
            varint::push(&mut bytes, row.status.map_or(0, |status| u64::from(status) + 1));
            bytes.push(row.attempts);
            varint::push(&mut bytes, u64::from(row.probe));
        }
        for phase in all.into_iter().flatten() {
            varint::push(&mut bytes, u64::from(phase));
        }
        varint::push_signed(&mut bytes, i64::from(row.latency_us) - total_time(&row.phases));
        varint::push_signed(&mut bytes, row.finished_after - i64::from(row.latency_us / 1_000));
        slot = row.slot;
        before = Some(row);
    }
    bytes
}

/// Unpacks the results that [`pack`] packed.
pub(crate) fn unpack(bytes: &[u8], start: i64) -> Result<Vec<StoredResult>, StoreError> {
    read(bytes, start).map_err(|why| StoreError::corrupt("a block of results", why.to_string()))
}

/// Merges results. Returns all of them sorted by key, and those of `new` that `old` does not
/// contain.
pub(super) fn merge(
    old: Vec<StoredResult>,
    mut new: Vec<StoredResult>,
) -> (Vec<StoredResult>, Vec<StoredResult>) {
    // The sort is stable: of two results with one key, the one stored first stays.
    new.sort_by_key(StoredResult::key);
    new.dedup_by_key(|row| row.key());
    if old.is_empty() {
        return (new.clone(), new);
    }
    new.retain(|row| old.binary_search_by_key(&row.key(), StoredResult::key).is_err());
    let mut all = old;
    all.extend_from_slice(&new);
    all.sort_unstable_by_key(StoredResult::key);
    (all, new)
}

fn read(mut bytes: &[u8], start: i64) -> Result<Vec<StoredResult>, Unreadable> {
    let bytes = &mut bytes;
    let count: usize = varint::pull_narrow(bytes)?;
    let mut rows: Vec<StoredResult> = Vec::with_capacity(count.min(bytes.len()));
    for _ in 0..count {
        let row = read_one(bytes, start, rows.last())?;
        rows.push(row);
    }
    Ok(rows)
}

fn read_one(
    bytes: &mut &[u8],
    start: i64,
    before: Option<&StoredResult>,
) -> Result<StoredResult, Unreadable> {
    let head = u16::from_le_bytes([varint::byte(bytes)?, varint::byte(bytes)?]);
    let slot_before = before.map_or(start, |before| before.slot);
    let slot = slot_before.saturating_add(varint::pull_signed(bytes)?);
    let (revision, status, attempts, probe) = if head & SAME == 0 {
        let revision = varint::pull_narrow(bytes)?;
        let status: u64 = varint::pull(bytes)?;
        let status = match status {
            0 => None,
            status => Some(u16::try_from(status - 1).map_err(|_| Unreadable("invalid status"))?),
        };
        (revision, status, varint::byte(bytes)?, varint::pull_narrow(bytes)?)
    } else {
        meta(before.ok_or(Unreadable("the first result refers to a previous one"))?)
    };
    let phases = pull_phases(bytes, ((head >> PHASES_SHIFT) & FIVE_BITS) as u8)?;
    let latency = varint::pull_signed(bytes)?.saturating_add(total_time(&phases));
    let latency_us = u32::try_from(latency).map_err(|_| Unreadable("a latency is too large"))?;
    let finished_after = varint::pull_signed(bytes)?.saturating_add(i64::from(latency_us / 1_000));
    Ok(StoredResult {
        slot,
        finished_after,
        revision,
        latency_us,
        probe,
        status,
        region: ((head >> REGION_SHIFT) & FIVE_BITS) as u8,
        trigger: ((head >> TRIGGER_SHIFT) & TWO_BITS) as u8,
        outcome: (head & TWO_BITS) as u8,
        attempts,
        votes: true,
        phases,
    })
}

/// Returns the values that rarely differ from the previous result.
const fn meta(row: &StoredResult) -> (u32, Option<u16>, u8, u32) {
    (row.revision, row.status, row.attempts, row.probe)
}

fn total_time(phases: &Phases) -> i64 {
    each_phase(phases).into_iter().flatten().map(i64::from).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn phases() -> impl Strategy<Value = Phases> {
        let one = || proptest::option::of(any::<u32>());
        (one(), one(), one(), one(), one()).prop_map(
            |(dns_us, connect_us, tls_us, first_byte_us, transfer_us)| Phases {
                dns_us,
                connect_us,
                tls_us,
                first_byte_us,
                transfer_us,
            },
        )
    }

    fn stored_result() -> impl Strategy<Value = StoredResult> {
        let times = (0_i64..600_000, -1_000_i64..10_000_000, any::<u32>());
        let meta = (1_u32..3, proptest::option::of(100_u16..600), 0_u8..12, 1_u32..3);
        let codes = (0_u8..28, 0_u8..3, 0_u8..4);
        (times, meta, codes, phases()).prop_map(
            |((slot, finished_after, latency_us), meta, (region, trigger, outcome), phases)| {
                StoredResult {
                    slot,
                    finished_after,
                    revision: meta.0,
                    latency_us,
                    probe: meta.3,
                    status: meta.1,
                    region,
                    trigger,
                    outcome,
                    attempts: meta.2,
                    votes: true,
                    phases,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn packed_block_reads_back_equal(rows in proptest::collection::vec(stored_result(), 0..40)) {
            let (rows, added) = merge(Vec::new(), rows);
            prop_assert_eq!(&rows, &added);
            prop_assert_eq!(unpack(&pack(&rows, 0), 0).unwrap(), rows);
        }

        #[test]
        fn merging_again_adds_nothing(
            a in proptest::collection::vec(stored_result(), 0..40),
            b in proptest::collection::vec(stored_result(), 0..40),
        ) {
            let (first, _) = merge(Vec::new(), a.clone());
            let (both, added) = merge(first.clone(), b.clone());
            prop_assert_eq!(both.len(), first.len() + added.len());
            prop_assert!(both.windows(2).all(|pair| pair[0].key() < pair[1].key()));
            let (again, added) = merge(both.clone(), [a, b].concat());
            prop_assert_eq!((again, added), (both, Vec::new()));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = unpack(&bytes, 0);
        }
    }
}
