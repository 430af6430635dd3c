//! What design §5 promises, held against the world after every step by counting anew: the witness
//! keeps all results that were heard, and knows nothing of what the judge remembers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use aloft_domain::cadence::{Missed, Regions, Slots};
use aloft_domain::check::{CheckResult, Outcome, Trigger};
use aloft_domain::judge::{
    Doubts, Effects, IncidentChange, Policy, ProbeSlot, Standing, region_status,
};
use rules::{IncidentId, MonitorId, MonitorStatus, Region, Timestamp, limits};

use crate::world::{OPINIONS, Watched};

/// What became of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Run,
    Skipped,
    Missed,
}

/// A slot of a revision in a region.
pub(crate) type Place = (u32, Region, Timestamp);

/// What orders the results of a region: revision, slot and trigger.
pub(crate) type Key = (u32, Timestamp, Trigger);
/// When a result ended, and what it came to.
pub(crate) type Said = (Timestamp, Outcome);

#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// The first promise that was broken.
    pub(crate) broken: Option<String>,
    monitors: Vec<Seen>,
    /// Second opinions of this process, and when it began.
    opinions: Vec<Timestamp>,
    process_since: Timestamp,
}

/// What was seen of a monitor.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    heard: BTreeMap<Region, BTreeMap<Key, Said>>,
    fates: BTreeMap<Place, Fate>,
    expected: BTreeSet<Place>,
    open: Option<IncidentId>,
    status: Option<MonitorStatus>,
    asked_at: Option<Timestamp>,
    tied_since: Option<Timestamp>,
    pub(crate) opened: u32,
    pub(crate) closed: u32,
}

/// The votes at an instant, counted anew.
#[derive(Debug, Default)]
struct Count {
    regions: usize,
    voting: usize,
    votes: usize,
    failing: usize,
    /// A region failed two times in a row.
    twice: bool,
    /// Votes most of whose regions were slow in one of their last two results.
    slow: usize,
    /// A vote rests on a result of the present revision.
    renewed: bool,
}

impl Seen {
    fn count(&self, policy: &Policy, doubts: &Doubts, now: Timestamp) -> Count {
        let mut count = Count { regions: policy.regions.len(), ..Count::default() };
        let mut probes: BTreeMap<u16, (usize, usize, usize)> = BTreeMap::new();
        for serving in &policy.regions {
            let Some(heard) = self.heard.get(&serving.region) else { continue };
            count.renewed |= heard.keys().any(|(revision, ..)| *revision == policy.revision);
            let standing = doubts.standing(serving.probe);
            let mut last = heard.iter().rev().take(2).map(|(key, (finished_at, outcome))| {
                let counts = match standing {
                    Standing::Sound => true,
                    Standing::SoundSince(since) => *outcome != Outcome::Failure || key.1 >= since,
                    Standing::Void => false,
                };
                counts.then_some((*key, *finished_at, *outcome))
            });
            let (latest, before) = (last.next().flatten(), last.next().flatten());
            let Some((key, finished_at, outcome)) = latest else { continue };
            if now.since(finished_at) > policy.window() {
                continue;
            }
            let (fails, slow) = (outcome == Outcome::Failure, outcome == Outcome::Degraded);
            let before = before.map(|(key, _, outcome)| (key, outcome));
            count.voting += 1;
            count.twice |= fails
                && before.is_some_and(|(its, outcome)| {
                    outcome == Outcome::Failure
                        && its.0 == key.0
                        && key.1.since(its.1) <= policy.window()
                });
            let slow = slow || before.is_some_and(|(_, outcome)| outcome == Outcome::Degraded);
            let probe = probes.entry(serving.probe.0).or_default();
            probe.0 += 1;
            probe.1 += usize::from(fails);
            probe.2 += usize::from(slow && !fails);
        }
        count.votes = probes.len();
        count.failing = probes.values().filter(|(regions, fail, _)| 2 * fail > *regions).count();
        count.slow = probes.values().filter(|(regions, _, slow)| 2 * slow > *regions).count();
        count
    }

    fn latest(&self, region: Region) -> Option<(Timestamp, Outcome)> {
        self.heard.get(&region)?.values().next_back().copied()
    }
}

impl Witness {
    pub(crate) fn seen(&self, place: usize) -> &Seen {
        &self.monitors[place]
    }

    pub(crate) fn fail(&mut self, promise: &str, what: impl std::fmt::Display) {
        self.broken.get_or_insert_with(|| format!("“{promise}” is broken: {what}"));
    }

    fn hold(&mut self, promise: &str, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(promise, what());
        }
    }

    pub(crate) fn add(&mut self, _now: Timestamp) {
        self.monitors.push(Seen::default());
    }

    pub(crate) fn new_process(&mut self, now: Timestamp) {
        self.opinions.clear();
        self.process_since = now;
    }

    /// An edit takes regions away at once; a pause forgets all.
    pub(crate) fn align(&mut self, place: usize, policy: &Policy) {
        let has = |region: &Region| policy.regions.iter().any(|serving| serving.region == *region);
        self.monitors[place].heard.retain(|region, _| policy.active && has(region));
    }

    pub(crate) fn forget(&mut self, place: usize) {
        self.monitors[place].heard.clear();
    }

    /// A result of the present revision arrives; the second of an identity changes nothing.
    pub(crate) fn hear(&mut self, place: usize, result: &CheckResult) {
        let identity = &result.identity;
        let key = (identity.revision, identity.slot, identity.trigger);
        let heard = self.monitors[place].heard.entry(identity.region).or_default();
        heard.entry(key).or_insert((result.finished_at, result.outcome));
    }

    /// Holds every promise about verdicts after a step of a monitor.
    pub(crate) fn watch(
        &mut self,
        place: usize,
        watched: &Watched,
        effects: &Effects,
        doubts: &Doubts,
        now: Timestamp,
    ) {
        let count = self.monitors[place].count(&watched.policy, doubts, now);
        self.watch_transition(place, watched, effects, &count);
        self.watch_status(place, watched, &count, now);
        self.watch_opinions(place, watched, effects, now);
        for serving in &watched.policy.regions {
            let found =
                region_status(&watched.policy, &watched.history, serving.region, doubts, now);
            let voided = doubts.standing(serving.probe) != Standing::Sound;
            let latest = self.monitors[place].latest(serving.region).filter(|(finished_at, _)| {
                watched.policy.active && now.since(*finished_at) <= watched.policy.window()
            });
            let expected = match latest.map(|(_, outcome)| outcome) {
                None | Some(Outcome::Skipped) => MonitorStatus::Unknown,
                Some(Outcome::Success) => MonitorStatus::Active,
                Some(Outcome::Degraded) => MonitorStatus::Degraded,
                Some(Outcome::Failure) => MonitorStatus::Error,
            };
            self.hold(
                "a region votes with its latest result while that is young enough",
                voided || found == expected,
                || format!("monitor {place} in `{}` is {found}, not {expected}", serving.region),
            );
        }
    }

    fn watch_transition(
        &mut self,
        place: usize,
        watched: &Watched,
        effects: &Effects,
        count: &Count,
    ) {
        let (was, open) = (self.monitors[place].status, self.monitors[place].open);
        let was = was.unwrap_or(MonitorStatus::Unknown);
        let Some(transition) = effects.transition else {
            return self.hold(
                "a status changes by a transition",
                was == watched.history.status,
                || format!("monitor {place} was {was} and is {}", watched.history.status),
            );
        };
        let what = || {
            format!(
                "monitor {place} went from {} to {} ({}), of {count:?}",
                transition.from, transition.to, transition.why
            )
        };
        let tied = count.votes > 0 && 2 * count.failing == count.votes;
        self.hold("a transition begins where the last one ended", transition.from == was, what);
        let running = watched.policy.active;
        match transition.to {
            MonitorStatus::Error => {
                let majority = 2 * count.failing > count.votes;
                self.hold("no error without a majority of votes failing", majority, what);
                let thin = 2 * (count.regions - count.voting) >= count.regions;
                self.hold(
                    "few voices are believed when they repeat it",
                    !thin || count.twice,
                    what,
                );
            }
            MonitorStatus::Degraded => {
                let tie = tied && was == MonitorStatus::Error;
                let slow = 2 * count.slow > count.votes;
                self.hold(
                    "degraded has one of its three reasons",
                    tie || count.twice || slow,
                    what,
                );
            }
            MonitorStatus::Active => {
                let fine = count.votes > 0 && 2 * count.failing <= count.votes && !count.twice;
                self.hold("active has votes, and no region that failed twice", fine, what);
            }
            MonitorStatus::Unknown => {
                self.hold(
                    "unknown is who has no vote, or is inactive",
                    !running || count.votes == 0,
                    what,
                );
            }
        }
        if open.is_some()
            && matches!(transition.to, MonitorStatus::Active | MonitorStatus::Degraded)
        {
            self.hold("recovery needs a new result", count.renewed, what);
        }
        self.watch_incident(place, open, transition.incident, what());
        self.monitors[place].status = Some(transition.to);
    }

    fn watch_incident(
        &mut self,
        place: usize,
        open: Option<IncidentId>,
        change: IncidentChange,
        what: impl std::fmt::Display,
    ) {
        let seen = &mut self.monitors[place];
        let holds = match change {
            IncidentChange::None => open.is_none(),
            IncidentChange::Opened(id) => {
                seen.opened += 1;
                seen.open.replace(id).is_none()
            }
            IncidentChange::Suspended(id) | IncidentChange::Resumed(id) => open == Some(id),
            IncidentChange::Closed { id, .. } => {
                seen.closed += 1;
                seen.open.take() == Some(id)
            }
        };
        self.hold(
            "an incident opens once, goes on through unknown, and closes once",
            holds,
            || format!("{change:?}: {what}"),
        );
    }

    /// Once no hold lasts, the status is what the table makes of the votes.
    fn watch_status(&mut self, place: usize, watched: &Watched, count: &Count, now: Timestamp) {
        let (history, policy) = (&watched.history, &watched.policy);
        let status = history.status;
        let what = || format!("monitor {place} is {status}, of {count:?}");
        self.hold(
            "a status says what the incident says",
            status != MonitorStatus::Error || history.incident.is_some(),
            what,
        );
        if history.hold.is_some() || !policy.active {
            self.monitors[place].tied_since = None;
            return self.hold(
                "an inactive monitor is unknown",
                policy.active || status == MonitorStatus::Unknown,
                what,
            );
        }
        let majority = 2 * count.failing > count.votes;
        let thin = 2 * (count.regions - count.voting) >= count.regions;
        let tied = count.votes > 0 && 2 * count.failing == count.votes;
        self.hold(
            "without votes nothing is known",
            count.votes > 0 || status == MonitorStatus::Unknown,
            what,
        );
        self.hold(
            "a majority that fails is an error",
            !majority || thin || status == MonitorStatus::Error,
            what,
        );
        let well = count.votes > 0 && !majority && !tied && count.renewed;
        self.hold(
            "without a majority or a tie no error stands",
            !well || status != MonitorStatus::Error,
            what,
        );
        self.hold(
            "with votes that do not fail something is known",
            !well || status != MonitorStatus::Unknown,
            what,
        );
        self.hold(
            "a region that failed twice is not active",
            !count.twice || status != MonitorStatus::Active,
            what,
        );
        let waits = tied && status == MonitorStatus::Error && count.renewed;
        let since = &mut self.monitors[place].tied_since;
        *since = waits.then(|| since.unwrap_or(now));
        let young = since.is_none_or(|since| now.since(since) < 2 * policy.period);
        self.hold("a tie stays error for two periods at most", young, what);
    }

    fn watch_opinions(
        &mut self,
        place: usize,
        watched: &Watched,
        effects: &Effects,
        now: Timestamp,
    ) {
        if effects.ask.is_empty() {
            return;
        }
        let period = watched.policy.period;
        let asked_at = self.monitors[place].asked_at.replace(now);
        self.hold(
            "one round of opinions per monitor and period",
            asked_at.is_none_or(|at| now.since(at) >= period),
            || format!("monitor {place} asked at {asked_at:?}"),
        );
        let mut probes: Vec<ProbeSlot> =
            watched.policy.regions.iter().map(|serving| serving.probe).collect();
        probes.dedup_by_key(|probe| probe.0);
        self.hold("only other probes are asked", probes.len() > 1, || {
            format!("monitor {place} has one")
        });
    }

    /// A second opinion is run.
    pub(crate) fn opinion(&mut self, now: Timestamp) {
        self.opinions.push(now);
        let passed = now.since(self.process_since).as_secs() + 1;
        let most = u64::from(OPINIONS.1) + u64::from(OPINIONS.0) * passed;
        let run = self.opinions.len() as u64;
        self.hold("opinions stay within the budget", run <= most, || {
            format!("{run} in {passed} s")
        });
    }

    /// Doubts end in time.
    pub(crate) fn watch_doubt(&mut self, voided_for: Duration) {
        self.hold("a doubt ends in time", voided_for <= limits::SELF_DOUBT_MAX, || {
            format!("{voided_for:?}")
        });
    }

    pub(crate) fn decide(&mut self, place: usize, slot: Place, fate: Fate) {
        let before = self.monitors[place].fates.insert(slot, fate);
        self.hold("a slot is run, skipped or missed once", before.is_none(), || {
            format!("monitor {place} {slot:?} was {before:?} and is {fate:?}")
        });
    }

    pub(crate) fn miss(
        &mut self,
        place: usize,
        id: MonitorId,
        policy: &Policy,
        regions: Regions,
        missed: Missed,
    ) {
        let slots = Slots::of(id, policy.period, regions, missed.region);
        let (mut slot, mut count) = (missed.first_slot, 0);
        while slot <= missed.last_slot {
            self.decide(place, (policy.revision, missed.region, slot), Fate::Missed);
            count += 1;
            slot = slots.after(slot);
        }
        self.hold("missed slots are counted", count == missed.count, || {
            format!("{missed:?} are {count}")
        });
    }

    /// The process ended: what it ran lately and did not store is decided by the next one.
    pub(crate) fn undecide(
        &mut self,
        place: usize,
        revision: u32,
        since: Timestamp,
        stored: impl Fn(Region, Timestamp) -> bool,
    ) {
        self.monitors[place].fates.retain(|(of, region, slot), fate| {
            *fate == Fate::Missed || *of != revision || *slot <= since || stored(*region, *slot)
        });
    }

    pub(crate) fn is_decided(
        &self,
        place: usize,
        revision: u32,
        region: Region,
        slot: Timestamp,
    ) -> bool {
        self.monitors[place].fates.contains_key(&(revision, region, slot))
    }

    /// A revision ran from `since` to `until`: these were its slots.
    pub(crate) fn expect(
        &mut self,
        place: usize,
        id: MonitorId,
        policy: &Policy,
        regions: Regions,
        since: Timestamp,
        until: Timestamp,
    ) {
        for region in regions.iter() {
            let slots = Slots::of(id, policy.period, regions, region);
            let mut slot = since;
            while slot <= until {
                self.monitors[place].expected.insert((policy.revision, region, slot));
                slot = slots.after(slot);
            }
        }
    }

    /// At the end no slot is lost, and none was invented.
    pub(crate) fn watch_slots(&mut self) {
        for place in 0..self.monitors.len() {
            let seen = &self.monitors[place];
            let lost = seen.expected.iter().find(|slot| !seen.fates.contains_key(*slot)).copied();
            let invented = seen.fates.keys().find(|slot| !seen.expected.contains(*slot)).copied();
            self.hold("no slot is lost", lost.is_none(), || format!("monitor {place}: {lost:?}"));
            self.hold("no slot is invented", invented.is_none(), || {
                format!("monitor {place}: {invented:?}")
            });
        }
    }

    /// The results of a region's present revision: slot, trigger, end and outcome.
    pub(crate) fn heard(&self, place: usize, region: Region) -> Vec<(Key, Said)> {
        let heard = self.monitors[place].heard.get(&region).into_iter().flatten();
        heard.map(|(key, result)| (*key, *result)).collect()
    }
}
