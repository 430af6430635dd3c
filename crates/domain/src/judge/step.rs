//! The steps of the state machine: a result is received, time passes, the monitor is edited,
//! paused, resumed or deleted, the process starts, or a user resolves the incident. Each step
//! changes the state and returns its effects.

use rules::{IncidentId, MonitorStatus, Region, Timestamp};

use super::verdict::{Tie, Verdict, verdict};
use super::votes::Tally;
use super::{
    CloseReason, GracePeriod, IncidentChange, JudgeState, Policy, ProbeSuspicions, ProbeTrust,
    RegionResult, RegionState, StatusReason, Transition, Vote, deferred,
};
use crate::check::CheckResult;

/// External inputs of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepContext<'d> {
    /// The instant to judge, by the core's clock. A delayed pipeline passes the instant at which
    /// the step was due.
    pub now: Timestamp,
    /// Random number for the ID of a new incident.
    pub chance: u64,
    /// The suspect probes, whose votes are void. Call [`tick`] when this changes.
    pub suspicions: &'d ProbeSuspicions,
}

/// Effects of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    pub changed: Changed,
    /// The change of status, if any.
    pub transition: Option<Transition>,
    /// Time at which [`tick`] has to be called if no result is received before; replaces the time
    /// from earlier steps. An early or extra tick does no harm.
    pub wake_at: Option<Timestamp>,
    /// Confirmation checks: the regions to check at once, all served by other probes than the
    /// failing region. The pipeline skips those with a check in flight.
    pub ask: Vec<Region>,
    /// The incident that stays open, if the reporting region began to fail with this result.
    pub region_failed_in: Option<IncidentId>,
}

/// Extent of a change of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changed {
    /// At most instants: the state need not be stored.
    Nothing,
    /// Votes or their instants. The result of this slot contains them, too: see
    /// [`super::Unwritten`].
    Votes(Timestamp),
    /// Data that later verdicts depend on: the state is stored at once.
    Memory,
    /// Status or incident; see [`Effects::transition`].
    Status,
}

/// Records a result. Ignores results of another revision or a removed region, and skipped or
/// repeated ones. Also ignores results older than the last two, and all results of a paused
/// monitor.
pub fn receive(
    policy: &Policy,
    history: &mut JudgeState,
    result: &CheckResult,
    moment: StepContext<'_>,
) -> Effects {
    let revision = result.identity.revision;
    let judged = policy.active && revision == policy.revision && revision == history.revision;
    let heard =
        RegionResult::new(&result.identity, result.finished_at, result.outcome).filter(|_| judged);
    let region = result.identity.region;
    let place = history.regions.binary_search_by_key(&region, |state| state.region);
    let (Some(heard), Ok(place)) = (heard, place) else {
        return unchanged(policy, history, moment);
    };
    let (before, open) = (history.regions[place], history.incident);
    if !history.regions[place].record(heard) {
        return unchanged(policy, history, moment);
    }
    let after = history.regions[place];
    let mut effects = settle(policy, history, moment, observed_at);
    // Consecutive failures depend on slots, and a restart does not recall enough results to recover
    // both.
    let says_more = before.votes() != after.votes() || heard.ballot != Vote::Fine;
    let is_late = deferred::is_late(heard.slot, moment.now);
    if says_more || is_late || deferred::outlives_results(policy.period) {
        effects.changed = effects.changed.max(Changed::Votes(heard.slot));
    }
    if is_newly_failing(&before, &after) {
        effects.ask = confirmation_regions(policy, history, region, moment);
        if !effects.ask.is_empty() {
            effects.changed = effects.changed.max(Changed::Memory);
        }
    }
    let joins = before.votes().0 != Some(Vote::Failing)
        && after.votes().0 == Some(Vote::Failing)
        && open == history.incident;
    effects.region_failed_in = open.filter(|_| joins);
    effects
}

/// Handles the passing of time: votes expire, grace periods end, ties become old.
pub fn tick(policy: &Policy, history: &mut JudgeState, moment: StepContext<'_>) -> Effects {
    settle(policy, history, moment, |_, now| now)
}

/// Handles an edit, pause, resume, change of probe or process start: `policy` applies from now on.
///
/// The status does not change until all regions have reported again. An edit keeps the open
/// incident. The votes of remaining regions stay valid until replaced or expired; removed regions
/// lose their vote at once. If only a region's probe changes, call [`tick`] with the new policy:
/// this needs no grace period.
pub fn revise(policy: &Policy, history: &mut JudgeState, moment: StepContext<'_>) -> Effects {
    history.revision = policy.revision;
    history.align(policy);
    let mut effects = if policy.active {
        history.hold =
            Some(GracePeriod { since: moment.now, until: policy.grace_period_end(moment.now) });
        settle(policy, history, moment, |_, now| now)
    } else {
        end(history, CloseReason::Paused, moment.now)
    };
    effects.changed = effects.changed.max(Changed::Memory);
    effects
}

/// Handles the deletion of the monitor: its incident closes, and the state is no longer needed.
pub fn delete(history: &mut JudgeState, now: Timestamp) -> Effects {
    end(history, CloseReason::Deleted, now)
}

/// Closes an incident that a user resolved and keeps the status. A later recovery is silent. A new
/// incident opens only after the status has left `error` and returned to it. Has no effect unless
/// the incident is open.
pub fn resolve(
    policy: &Policy,
    history: &mut JudgeState,
    incident: IncidentId,
    moment: StepContext<'_>,
) -> Effects {
    if history.incident != Some(incident) {
        return unchanged(policy, history, moment);
    }
    history.incident = None;
    let transition = Transition {
        from: history.status,
        to: history.status,
        at: moment.now,
        incident: IncidentChange::Closed { id: incident, reason: CloseReason::Resolved },
        why: StatusReason::Resolved,
    };
    let unchanged = unchanged(policy, history, moment);
    Effects { changed: Changed::Status, transition: Some(transition), ..unchanged }
}

/// Returns the effects of a step without a decision; scheduled decisions remain.
fn unchanged(policy: &Policy, history: &JudgeState, moment: StepContext<'_>) -> Effects {
    let tally = Tally::count(policy, history, moment.suspicions, moment.now);
    Effects {
        changed: Changed::Nothing,
        transition: None,
        wake_at: wake_at(policy, history, &tally, moment.now),
        ask: Vec::new(),
        region_failed_in: None,
    }
}

/// Returns when the results behind a verdict were complete: the end of the last check, not the time
/// of judging or storing. Never returns an instant before the current status began.
fn observed_at(history: &JudgeState, now: Timestamp) -> Timestamp {
    let ends = history.regions.iter().filter_map(|state| state.latest);
    let last = ends.map(|heard| heard.finished_at).max().unwrap_or(now);
    last.min(now).max(history.since)
}

/// Returns the start of a new status that replaces the current one.
type Since = fn(&JudgeState, Timestamp) -> Timestamp;

/// Computes the verdict from the current state. Calls `since` only if the status changes.
fn settle(
    policy: &Policy,
    history: &mut JudgeState,
    moment: StepContext<'_>,
    since: Since,
) -> Effects {
    let now = moment.now;
    if !policy.active
        || history.hold.is_some_and(|hold| is_in_grace_period(policy, history, hold, moment))
    {
        return unchanged(policy, history, moment);
    }
    let tally = Tally::count(policy, history, moment.suspicions, now);
    let memory = (history.tie_since, history.slow);
    history.hold = None;
    history.slow = tally.is_slow();
    history.tie_since = history
        .tie_since
        .or_else(|| (history.status == MonitorStatus::Error).then_some(now))
        .filter(|_| tally.is_tied());
    let tie = match tie_end(policy, history) {
        None => Tie::Harmless,
        Some(end) if now < end => Tie::Young,
        Some(_) => Tie::Old,
    };
    let found = verdict(&tally, history.status, tie);
    let transition = found
        .filter(|found| can_change(history, found.status))
        .and_then(|found| change_status(history, found, moment, since));
    let changed = match (transition, memory == (history.tie_since, history.slow)) {
        (Some(_), _) => Changed::Status,
        (None, false) => Changed::Memory,
        (None, true) => Changed::Nothing,
    };
    let wake_at = wake_at(policy, history, &tally, now);
    Effects { changed, transition, wake_at, ask: Vec::new(), region_failed_in: None }
}

/// Returns whether the status may change to `to`. A recovery needs a new result: removing regions
/// or extending the period must not end an outage.
fn can_change(history: &JudgeState, to: MonitorStatus) -> bool {
    let is_down = history.incident.is_some() || history.status == MonitorStatus::Error;
    let recovers = matches!(to, MonitorStatus::Active | MonitorStatus::Degraded) && is_down;
    !recovers || history.is_renewed()
}

/// Changes the status, and the incident accordingly.
fn change_status(
    history: &mut JudgeState,
    to: Verdict,
    moment: StepContext<'_>,
    since: Since,
) -> Option<Transition> {
    if history.status == to.status {
        return None;
    }
    let at = since(history, moment.now);
    let from = std::mem::replace(&mut history.status, to.status);
    history.since = at;
    let closed = |how| move |id| IncidentChange::Closed { id, reason: how };
    let incident = match to.status {
        MonitorStatus::Error => match history.incident {
            Some(id) => IncidentChange::Resumed(id),
            None => {
                IncidentChange::Opened(*history.incident.insert(IncidentId::at(at, moment.chance)))
            }
        },
        MonitorStatus::Unknown => {
            history.incident.map_or(IncidentChange::None, IncidentChange::Suspended)
        }
        MonitorStatus::Active => {
            history.incident.take().map_or(IncidentChange::None, closed(CloseReason::Recovered))
        }
        MonitorStatus::Degraded => {
            history.incident.take().map_or(IncidentChange::None, closed(CloseReason::Degraded))
        }
    };
    Some(Transition { from, to: to.status, at, incident, why: to.reason })
}

/// Clears all votes and closes the incident, because the status of an inactive monitor is unknown.
fn end(history: &mut JudgeState, how: CloseReason, now: Timestamp) -> Effects {
    let from = std::mem::replace(&mut history.status, MonitorStatus::Unknown);
    let incident = history.incident.take().map(|id| IncidentChange::Closed { id, reason: how });
    let turned = from != MonitorStatus::Unknown;
    if turned {
        history.since = now;
    }
    history.hold = None;
    history.tie_since = None;
    history.slow = false;
    for state in &mut history.regions {
        *state = RegionState::new(state.region);
    }
    let transition = (turned || incident.is_some()).then(|| Transition {
        from,
        to: MonitorStatus::Unknown,
        at: now,
        incident: incident.unwrap_or(IncidentChange::None),
        why: if how == CloseReason::Deleted { StatusReason::Deleted } else { StatusReason::Paused },
    });
    let changed = if transition.is_some() { Changed::Status } else { Changed::Nothing };
    Effects { changed, transition, wake_at: None, ask: Vec::new(), region_failed_in: None }
}

fn is_in_grace_period(
    policy: &Policy,
    history: &JudgeState,
    hold: GracePeriod,
    moment: StepContext<'_>,
) -> bool {
    // Regions of suspect probes are not waited for.
    let is_live = |region| {
        let probe = policy.probe_of(region);
        probe.is_some_and(|probe| moment.suspicions.trust(probe) != ProbeTrust::Suspect)
    };
    moment.now < hold.until && !history.all_reported(hold, is_live)
}

/// Returns when a tie that began in `error` becomes old.
fn tie_end(policy: &Policy, history: &JudgeState) -> Option<Timestamp> {
    history.tie_since.map(|since| since + 2 * policy.period)
}

fn wake_at(
    policy: &Policy,
    history: &JudgeState,
    tally: &Tally,
    now: Timestamp,
) -> Option<Timestamp> {
    if !policy.active {
        return None;
    }
    if let Some(hold) = history.hold {
        return Some(hold.until);
    }
    // An old tie that waits for a new result ends with that result.
    let tie = tie_end(policy, history).filter(|end| *end > now);
    tie.into_iter().chain(tally.next_expiry).min()
}

/// Returns whether a region began to fail with this result.
fn is_newly_failing(before: &RegionState, after: &RegionState) -> bool {
    let was_failing = |state: &RegionState| state.votes().0.map(|ballot| ballot == Vote::Failing);
    was_failing(before) == Some(false) && was_failing(after) == Some(true)
}

/// Returns the regions to confirm a failure of `region`: once per monitor and period, by probes
/// that are not suspect. A suspect probe has no vote to confirm.
fn confirmation_regions(
    policy: &Policy,
    history: &mut JudgeState,
    region: Region,
    moment: StepContext<'_>,
) -> Vec<Region> {
    let now = moment.now;
    let is_sound = |probe| moment.suspicions.trust(probe) != ProbeTrust::Suspect;
    let too_early = |asked: Timestamp| now.since(asked) < policy.period && asked <= now;
    let own = policy.probe_of(region).filter(|own| is_sound(*own));
    if history.asked_at.is_some_and(too_early) {
        return Vec::new();
    }
    let others: Vec<Region> = policy
        .regions
        .iter()
        .filter(|serving| own.is_some_and(|own| own != serving.probe) && is_sound(serving.probe))
        .map(|serving| serving.region)
        .collect();
    if !others.is_empty() {
        history.asked_at = Some(now);
    }
    others
}
