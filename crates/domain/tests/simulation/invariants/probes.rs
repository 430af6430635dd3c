//! Invariants of probes: confirmation checks stay within their budget, and suspicions end.

use aloft_domain::judge::{Effects, ProbeIndex, SuspicionChange};
use rules::{Timestamp, limits};

use super::Witness;
use crate::environment::{CONFIRMATIONS, Watched};

impl Witness {
    pub(super) fn watch_confirmations(
        &mut self,
        place: usize,
        watched: &Watched,
        effects: &Effects,
        now: Timestamp,
    ) {
        if effects.confirmations.is_empty() {
            return;
        }
        let period = watched.policy.period;
        let asked_at = self.monitors[place].asked_at.replace(now);
        self.check(
            "one round of confirmation per monitor and period",
            asked_at.is_none_or(|at| now.since(at) >= period),
            || format!("monitor {place} asked at {asked_at:?}"),
        );
        let mut probes: Vec<ProbeIndex> =
            watched.policy.regions.iter().map(|serving| serving.probe).collect();
        probes.dedup_by_key(|probe| probe.0);
        self.check("only other probes confirm a failure", probes.len() > 1, || {
            format!("monitor {place} has one")
        });
    }

    /// Records a confirmation check. No span of time may contain more than the burst plus the rate
    /// of that time.
    pub(crate) fn record_confirmation(&mut self, now: Timestamp) {
        self.confirmations.push(now);
        let (rate, burst) = (u128::from(CONFIRMATIONS.0), u128::from(CONFIRMATIONS.1));
        let broken = self.confirmations.iter().rev().zip(1_u128..).find(|(since, run)| {
            run * 1_000 > burst * 1_000 + rate * now.since(**since).as_millis()
        });
        let broken = broken.map(|(since, run)| format!("{run} in {:?}", now.since(*since)));
        self.check("confirmation checks stay within the budget", broken.is_none(), || {
            broken.clone().unwrap_or_default()
        });
    }

    /// Records the start or end of a suspicion. Without connectivity checks it ends sooner.
    pub(crate) fn record_suspicion(
        &mut self,
        change: SuspicionChange,
        has_connectivity_check: bool,
    ) {
        match change {
            SuspicionChange::Suspected { probe, since, .. } => {
                let longest = if has_connectivity_check {
                    limits::SUSPICION_MAX
                } else {
                    limits::SUSPICION_UNCONFIRMED_MAX
                };
                let before = self.suspects_until.insert(probe.0, since + longest);
                self.check("a suspicion begins once", before.is_none(), || format!("{change:?}"));
            }
            SuspicionChange::Recovered { probe, .. } => {
                let before = self.suspects_until.remove(&probe.0);
                self.check("only an active suspicion ends", before.is_some(), || {
                    format!("{change:?}")
                });
            }
        }
    }

    /// Checks that a new process suspects the same probes, and gives it time to check them.
    pub(crate) fn restore_suspicions(&mut self, suspects: &[ProbeIndex], now: Timestamp) {
        let known: Vec<u16> = self.suspects_until.keys().copied().collect();
        let restored: Vec<u16> = suspects.iter().map(|probe| probe.0).collect();
        self.check("a restart keeps the suspicions", known == restored, || {
            format!("{known:?} were suspect, and {restored:?} are")
        });
        for end in self.suspects_until.values_mut() {
            *end = (*end).max(now + limits::SUSPICION_DECIDED_WITHIN);
        }
    }

    /// Advances to `now`; suspicions that end now may do so in this step.
    pub(crate) fn watch_suspicions(&mut self, now: Timestamp) {
        let late = self.suspects_until.iter().find(|(_, end)| **end < now);
        let late = late.map(|(probe, end)| format!("probe {probe} should have by {end}"));
        self.check("a suspicion ends in time", self.looks_away || late.is_none(), || {
            late.clone().unwrap_or_default()
        });
    }
}
