//! Counts votes independently, from all recorded results.

use std::collections::BTreeMap;

use aloft_domain::check::Outcome;
use aloft_domain::judge::{Policy, ProbeSuspicions, ProbeTrust};
use rules::{Region, Timestamp};

use super::MonitorRecord;

/// Independently counted votes at an instant.
#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) regions: usize,
    pub(super) voting: usize,
    pub(super) votes: usize,
    pub(super) failing: usize,
    /// A region failed twice in a row.
    pub(super) twice: bool,
    /// Some regions recovered, and none failed twice since the first of their slots.
    pub(super) unconfirmed: bool,
    /// Votes with a degraded result among the last two in most of their regions.
    pub(super) slow: usize,
    /// A vote is based on a result of the current revision.
    pub(super) renewed: bool,
}

impl MonitorRecord {
    pub(super) fn count(
        &self,
        policy: &Policy,
        suspicions: &ProbeSuspicions,
        now: Timestamp,
    ) -> Count {
        let mut count = Count { regions: policy.regions.len(), ..Count::default() };
        let mut probes: BTreeMap<u16, (usize, usize, usize)> = BTreeMap::new();
        let (mut recovered_at, mut failed_twice_at): (Option<Timestamp>, Option<Timestamp>) =
            (None, None);
        for serving in &policy.regions {
            let Some(results) = self.recorded.get(&serving.region) else { continue };
            count.renewed |= results.keys().any(|(revision, ..)| *revision == policy.revision);
            let trust = suspicions.trust(serving.probe);
            let mut last = results.iter().rev().take(2).map(|(key, (finished_at, outcome))| {
                let counts = match trust {
                    ProbeTrust::Trusted => true,
                    ProbeTrust::TrustedSince(since) => {
                        *outcome != Outcome::Failure || key.1 >= since
                    }
                    ProbeTrust::Suspect => false,
                };
                counts.then_some((*key, *finished_at, *outcome))
            });
            let (latest, before) = (last.next().flatten(), last.next().flatten());
            let Some((key, finished_at, outcome)) = latest else { continue };
            if now.since(finished_at) > policy.vote_validity() {
                continue;
            }
            let (fails, slow) = (outcome == Outcome::Failure, outcome == Outcome::Degraded);
            let before = before.map(|(key, _, outcome)| (key, outcome));
            count.voting += 1;
            let twice = fails
                && before.is_some_and(|(its, outcome)| {
                    outcome == Outcome::Failure
                        && its.0 == key.0
                        && key.1.since(its.1) <= policy.vote_validity()
                });
            count.twice |= twice;
            if twice {
                failed_twice_at = failed_twice_at.max(Some(key.1));
            }
            if !fails && before.is_some_and(|(_, outcome)| outcome == Outcome::Failure) {
                recovered_at = Some(recovered_at.map_or(key.1, |first| first.min(key.1)));
            }
            let slow = slow || before.is_some_and(|(_, outcome)| outcome == Outcome::Degraded);
            let probe = probes.entry(serving.probe.0).or_default();
            probe.0 += 1;
            probe.1 += usize::from(fails);
            probe.2 += usize::from(slow && !fails);
        }
        count.unconfirmed = recovered_at.is_some() && failed_twice_at < recovered_at;
        count.votes = probes.len();
        count.failing = probes.values().filter(|(regions, fail, _)| 2 * fail > *regions).count();
        count.slow = probes.values().filter(|(regions, _, slow)| 2 * slow > *regions).count();
        count
    }

    pub(super) fn latest(&self, region: Region) -> Option<(Timestamp, Outcome)> {
        self.recorded.get(&region)?.values().next_back().copied()
    }
}
