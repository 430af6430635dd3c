//! Body of a row of `recent_results`: results of one bucket that were committed together, one after
//! the other. All integers are big-endian. A result consists of:
//! - eight bytes each: slot, milliseconds from slot to completion
//! - four bytes each: monitor, revision, latency, probe
//! - two bytes: status (0 is none)
//! - one byte each: region, trigger, outcome, attempts, and flags: the lowest five bits are the phases
//!   that are present, the highest one is set if the result has no vote
//! - the phases in microseconds (`domain::history::varint`)
//!
//! The format is simple because a migration of each engine writes it too
//! (`0014_recent_results.sql`). Data that is kept longer is packed tighter (`history::block`).

use domain::history::{Unreadable, varint};

use super::ResultRow;
use crate::stored_result::{StoredResult, each_phase, pull_phases};
use crate::{StoreError, codes};

/// Flag of a result without a vote.
const WITHOUT_VOTE: u8 = 1 << 7;
/// Bytes of a result before its phases.
const HEAD: usize = 38;
/// Bytes of a typical result, including the phases of a request.
const USUAL: usize = HEAD + 12;

/// Encodes the body of these results.
pub(super) fn encode(rows: &[ResultRow<'_>]) -> Vec<u8> {
    let mut body = Vec::with_capacity(USUAL * rows.len());
    for row in rows {
        push(&mut body, row);
    }
    body
}

/// Returns the results of a body with the row IDs of their monitors, in stored order.
pub(crate) fn results(
    mut body: &[u8],
) -> impl Iterator<Item = Result<(i64, StoredResult), StoreError>> + '_ {
    std::iter::from_fn(move || {
        if body.is_empty() {
            return None;
        }
        let result = pull(&mut body).map_err(|why| {
            body = &[];
            StoreError::corrupt("recent_results.body", why.to_string())
        });
        Some(result)
    })
}

fn push(body: &mut Vec<u8>, row: &ResultRow<'_>) {
    let (result, identity) = (row.result, &row.result.identity);
    let slot = identity.slot.as_millis();
    for number in [slot, result.finished_at.as_millis() - slot] {
        body.extend_from_slice(&number.to_be_bytes());
    }
    // Keys of the history have as many bits for a monitor (`buckets`).
    for number in [row.monitor as u32, identity.revision, result.latency_us, row.probe as u32] {
        body.extend_from_slice(&number.to_be_bytes());
    }
    body.extend_from_slice(&result.status.unwrap_or_default().to_be_bytes());
    body.extend_from_slice(&[
        codes::region_code(identity.region) as u8,
        codes::trigger_code(identity.trigger) as u8,
        codes::outcome_code(result.outcome) as u8,
        result.attempts,
    ]);
    let flags = body.len();
    body.push(if row.votes { 0 } else { WITHOUT_VOTE });
    for (bit, phase) in each_phase(&result.phases).into_iter().enumerate() {
        if let Some(microseconds) = phase {
            body[flags] |= 1 << bit;
            varint::push(body, u64::from(microseconds));
        }
    }
}

fn pull(body: &mut &[u8]) -> Result<(i64, StoredResult), Unreadable> {
    let (head, phases) =
        body.split_first_chunk::<HEAD>().ok_or(Unreadable("a result ends too early"))?;
    let mut head = head.as_slice();
    let [slot, finished_after] = [(); 2].map(|()| i64::from_be_bytes(next(&mut head)));
    let [monitor, revision, latency_us, probe] =
        [(); 4].map(|()| u32::from_be_bytes(next(&mut head)));
    let status = u16::from_be_bytes(next(&mut head));
    let [region, trigger, outcome, attempts] = next(&mut head);
    *body = phases;
    let are_known = codes::region(i64::from(region)).is_ok()
        && codes::trigger(i64::from(trigger)).is_ok()
        && codes::outcome(i64::from(outcome)).is_ok();
    if !are_known {
        return Err(Unreadable("a result has an unknown region, trigger or outcome"));
    }
    let flags = varint::byte(body)?;
    let result = StoredResult {
        slot,
        finished_after,
        revision,
        latency_us,
        probe,
        status: (status > 0).then_some(status),
        region,
        trigger,
        outcome,
        attempts,
        votes: flags & WITHOUT_VOTE == 0,
        phases: pull_phases(body, flags)?,
    };
    Ok((i64::from(monitor), result))
}

/// Returns the next bytes of a head.
fn next<const N: usize>(head: &mut &[u8]) -> [u8; N] {
    let (first, rest) = head.split_first_chunk().expect("a head has a fixed length");
    *head = rest;
    *first
}

#[cfg(test)]
mod tests {
    use domain::check::{CheckResult, Outcome, Phases, ProbeName, ResultKey, Trigger};
    use proptest::prelude::*;
    use rules::{MonitorId, Region, Timestamp};

    use super::*;

    fn phases() -> impl Strategy<Value = Phases> {
        any::<[Option<u32>; 5]>().prop_map(
            |[dns_us, connect_us, tls_us, first_byte_us, transfer_us]| Phases {
                dns_us,
                connect_us,
                tls_us,
                first_byte_us,
                transfer_us,
            },
        )
    }

    fn a_result() -> impl Strategy<Value = CheckResult> {
        let words = (
            prop::sample::select(Region::ALL),
            prop::sample::select(&[Trigger::Scheduled, Trigger::Confirmation, Trigger::Manual][..]),
            prop::sample::select(&[Outcome::Success, Outcome::Failure, Outcome::Skipped][..]),
        );
        let times = (0..1_i64 << 42, -1_000..1_000_000_i64);
        let numbers = (any::<u32>(), any::<u32>(), any::<Option<std::num::NonZeroU16>>());
        (words, times, numbers, any::<u8>(), phases()).prop_map(
            |(words, (slot, after), (revision, latency_us, status), attempts, phases)| {
                CheckResult {
                    identity: ResultKey {
                        monitor: MonitorId::from_bits(1),
                        revision,
                        region: words.0,
                        slot: Timestamp::from_millis(slot),
                        trigger: words.1,
                    },
                    finished_at: Timestamp::from_millis(slot + after),
                    outcome: words.2,
                    latency_us,
                    phases,
                    status: status.map(Into::into),
                    attempts,
                    probe: ProbeName("here".into()),
                    evidence: None,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn encoded_body_reads_back_equal(given in prop::collection::vec((any::<u32>(), any::<u32>(), a_result(), any::<bool>()), 0..9)) {
            let rows: Vec<ResultRow<'_>> = given
                .iter()
                .map(|(monitor, probe, result, votes)| ResultRow {
                    monitor: i64::from(*monitor),
                    probe: i64::from(*probe),
                    result,
                    votes: *votes,
                })
                .collect();
            let body = encode(&rows);
            let read: Vec<(i64, StoredResult)> = results(&body).map(Result::unwrap).collect();
            prop_assert_eq!(read.len(), rows.len());
            let probes = given
                .iter()
                .map(|(_, probe, result, _)| (*probe, result.probe.clone()))
                .collect();
            for ((number, stored), row) in read.iter().zip(&rows) {
                prop_assert_eq!((*number, stored.votes), (row.monitor, row.votes));
                let result = stored.result(row.result.identity.monitor, &probes).unwrap();
                prop_assert_eq!(format!("{result:?}"), format!("{:?}", row.result));
            }
        }

        #[test]
        fn arbitrary_bytes_neither_panic_nor_loop(bytes: Vec<u8>) {
            prop_assert!(results(&bytes).count() <= bytes.len());
        }
    }

    #[test]
    fn truncated_body_fails_at_its_end() {
        let read: Vec<_> = results(&[0; HEAD + 1 + HEAD]).collect();
        assert_eq!(read.len(), 2);
        assert!(read[0].is_ok() && read[1].is_err());
        let mut unfinished = [0; HEAD + 2];
        unfinished[HEAD..].copy_from_slice(&[1, 0x80]);
        assert!(results(&unfinished).all(|result| result.is_err()));
    }
}
