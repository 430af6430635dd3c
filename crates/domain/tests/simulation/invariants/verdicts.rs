//! Invariants of verdicts: votes, statuses, transitions and incidents.

use aloft_domain::check::Outcome;
use aloft_domain::judge::{
    CloseReason, Effects, IncidentChange, JudgeState, ProbeSuspicions, ProbeTrust, RegionResult,
    Transition, region_status,
};
use rules::{IncidentId, MonitorStatus, Timestamp};

use super::Witness;
use super::count::Count;
use crate::environment::Watched;

impl Witness {
    /// Checks every invariant of verdicts after a step of a monitor.
    pub(crate) fn watch(
        &mut self,
        place: usize,
        watched: &Watched,
        effects: &Effects,
        suspicions: &ProbeSuspicions,
        now: Timestamp,
    ) {
        if self.looks_away {
            return self.watch_incidents_alone(place, effects);
        }
        let count = self.monitors[place].count(&watched.policy, suspicions, now);
        self.watch_transition(place, watched, effects, &count);
        self.watch_status(place, watched, &count, now);
        self.watch_confirmations(place, watched, effects, now);
        for serving in &watched.policy.regions {
            let found = region_status(
                &watched.policy,
                &watched.judge_state,
                serving.region,
                suspicions,
                now,
            );
            let voided = suspicions.trust(serving.probe) != ProbeTrust::Trusted;
            let latest = self.monitors[place].latest(serving.region).filter(|(finished_at, _)| {
                watched.policy.active && now.since(*finished_at) <= watched.policy.vote_validity()
            });
            let expected = match latest.map(|(_, outcome)| outcome) {
                None | Some(Outcome::Skipped) => MonitorStatus::Unknown,
                Some(Outcome::Success) => MonitorStatus::Active,
                Some(Outcome::Degraded) => MonitorStatus::Degraded,
                Some(Outcome::Failure) => MonitorStatus::Error,
            };
            self.check(
                "a region votes with its latest result while that is young enough",
                voided || found == expected,
                || format!("monitor {place} in `{}` is {found}, not {expected}", serving.region),
            );
        }
    }

    /// Checks that a restarted process recovers all the state that a verdict depended on before.
    pub(crate) fn recall(
        &mut self,
        place: usize,
        watched: &Watched,
        known: &JudgeState,
        now: Timestamp,
    ) {
        let whole = |judge_state: &JudgeState| {
            let vote = |result: Option<RegionResult>| result.map(|result| result.vote);
            let votes = judge_state.regions.iter().map(|state| {
                let suspicions = ProbeSuspicions::default();
                let status =
                    region_status(&watched.policy, judge_state, state.region, &suspicions, now);
                (vote(state.latest), vote(state.before), status)
            });
            let JudgeState { status, since, revision, incident, tie_since, slow, asked_at, .. } =
                *judge_state;
            let verdict = (status, since, revision, incident);
            (verdict, tie_since, slow, asked_at, votes.collect::<Vec<_>>())
        };
        let recalled = &watched.judge_state;
        if !self.looks_away {
            self.check("a restart loses no state", whole(known) == whole(recalled), || {
                format!("monitor {place} is recalled as {recalled:?}, not {known:?}")
            });
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
            return self.check(
                "a status changes by a transition",
                was == watched.judge_state.status,
                || format!("monitor {place} was {was} and is {}", watched.judge_state.status),
            );
        };
        let what = || {
            format!(
                "monitor {place} went from {} to {} ({}), of {count:?}",
                transition.from, transition.to, transition.why
            )
        };
        self.check("a transition begins where the last one ended", transition.from == was, what);
        if is_by_hand(&transition) {
            let same = transition.to == was;
            self.check("resolving an incident changes no status", same, what);
        } else {
            self.watch_verdict(watched, &transition, count, what);
        }
        if open.is_some()
            && matches!(transition.to, MonitorStatus::Active | MonitorStatus::Degraded)
        {
            self.check("recovery needs a new result", count.renewed, what);
        }
        self.watch_incident(place, open, &transition, what());
    }

    fn watch_verdict(
        &mut self,
        watched: &Watched,
        transition: &Transition,
        count: &Count,
        what: impl Fn() -> String + Copy,
    ) {
        let tied = count.votes > 0 && 2 * count.failing == count.votes;
        let running = watched.policy.active;
        match transition.to {
            MonitorStatus::Error => {
                let majority = 2 * count.failing > count.votes;
                self.check("no error without a majority of votes failing", majority, what);
                let thin = 2 * (count.regions - count.voting) >= count.regions;
                self.check("few votes need two failures in a row", !thin || count.twice, what);
            }
            MonitorStatus::Degraded => {
                let tie = tied && transition.from == MonitorStatus::Error;
                let slow = 2 * count.slow > count.votes;
                self.check(
                    "degraded has one of its three reasons",
                    tie || count.twice || slow,
                    what,
                );
                let was_down = transition.from == MonitorStatus::Error;
                self.check(
                    "an outage does not become degraded while regions have yet to report",
                    !was_down || tie || slow || !count.unconfirmed,
                    what,
                );
            }
            MonitorStatus::Active => {
                let fine = count.votes > 0 && 2 * count.failing <= count.votes && !count.twice;
                self.check("active has votes, and no region that failed twice", fine, what);
            }
            MonitorStatus::Unknown => {
                self.check(
                    "a monitor is unknown if inactive or without a vote",
                    !running || count.votes == 0,
                    what,
                );
            }
        }
    }

    fn watch_incidents_alone(&mut self, place: usize, effects: &Effects) {
        if let Some(transition) = effects.transition {
            let open = self.monitors[place].open;
            self.watch_incident(place, open, &transition, transition.why);
        }
    }

    fn watch_incident(
        &mut self,
        place: usize,
        open: Option<IncidentId>,
        transition: &Transition,
        what: impl std::fmt::Display,
    ) {
        let seen = &mut self.monitors[place];
        let resolved =
            transition.to == MonitorStatus::Error && (seen.resolved || is_by_hand(transition));
        seen.resolved = resolved;
        seen.status = Some(transition.to);
        let change = transition.incident;
        let holds = match change {
            IncidentChange::None => open.is_none(),
            IncidentChange::Opened(id) => {
                seen.opened += 1;
                !resolved && seen.open.replace(id).is_none()
            }
            IncidentChange::Suspended(id) | IncidentChange::Resumed(id) => open == Some(id),
            IncidentChange::Closed { id, .. } => {
                seen.closed += 1;
                seen.open.take() == Some(id)
            }
        };
        self.check(
            "an incident opens once, goes on through unknown, and closes once",
            holds,
            || format!("{change:?}: {what}"),
        );
    }

    /// Checks that after a grace period the status follows from the votes by the table.
    fn watch_status(&mut self, place: usize, watched: &Watched, count: &Count, now: Timestamp) {
        let (judge_state, policy) = (&watched.judge_state, &watched.policy);
        let status = judge_state.status;
        let what = || format!("monitor {place} is {status}, of {count:?}");
        self.check(
            "status and incident agree",
            status != MonitorStatus::Error
                || judge_state.incident.is_some() != self.monitors[place].resolved,
            what,
        );
        if judge_state.grace_period.is_some() || !policy.active {
            self.monitors[place].tied_since = None;
            return self.check(
                "an inactive monitor is unknown",
                policy.active || status == MonitorStatus::Unknown,
                what,
            );
        }
        let majority = 2 * count.failing > count.votes;
        let thin = 2 * (count.regions - count.voting) >= count.regions;
        let tied = count.votes > 0 && 2 * count.failing == count.votes;
        self.check(
            "the status is unknown without votes",
            count.votes > 0 || status == MonitorStatus::Unknown,
            what,
        );
        self.check(
            "a majority that fails is an error",
            !majority || thin || status == MonitorStatus::Error,
            what,
        );
        let well = count.votes > 0 && !majority && !tied && count.renewed;
        let unconfirmed = count.twice && count.unconfirmed;
        self.check(
            "an error needs a majority, a tie, or failing regions that have yet to report",
            !well || unconfirmed || status != MonitorStatus::Error,
            what,
        );
        self.check(
            "the status is known with votes that do not fail",
            !well || status != MonitorStatus::Unknown,
            what,
        );
        self.check(
            "a region that failed twice is not active",
            !count.twice || status != MonitorStatus::Active,
            what,
        );
        let waits = tied && status == MonitorStatus::Error && count.renewed;
        let since = &mut self.monitors[place].tied_since;
        *since = waits.then(|| since.unwrap_or(now));
        let young = since.is_none_or(|since| now.since(since) < 2 * policy.period);
        self.check("a tie stays error for two periods at most", young, what);
    }
}

/// Returns whether a user resolved the incident.
fn is_by_hand(transition: &Transition) -> bool {
    matches!(transition.incident, IncidentChange::Closed { reason: CloseReason::Resolved, .. })
}
