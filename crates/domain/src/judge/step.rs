//! The steps of the state machine: a result is received, time passes, the monitor is edited,
//! paused, resumed or deleted, the process starts, or a user resolves the incident. Each step
//! changes the state and returns its effects.

use rules::{IncidentId, MonitorStatus, Region, Timestamp};

use super::verdict::{Tie, Verdict, verdict};
use super::votes::{Tally, is_recovery_unconfirmed};
use super::{
    Changed, CloseReason, GracePeriod, IncidentChange, JudgeState, Policy, ProbeSuspicions,
    ProbeTrust, RegionResult, RegionState, StatusReason, Transition, Vote, deferred,
};
use crate::check::CheckResult;

/// External inputs of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepContext<'d> {
    /// The instant to judge, by the server's clock. A delayed pipeline passes the instant at which
    /// the step was due.
    pub now: Timestamp,
    /// Random number for the ID of a new incident.
    pub random: u64,
    /// The suspect probes. Their votes are void if connectivity checks are configured. Call [`tick`]
    /// when this changes.
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
    pub confirmations: Vec<Region>,
    /// The incident that stays open, if the reporting region began to fail with this result.
    pub region_failed_in: Option<IncidentId>,
}

/// Records a result. Ignores results of another revision or a removed region, and skipped or
/// repeated ones. Also ignores results older than the last two, and all results of a paused
/// monitor.
pub fn receive(
    policy: &Policy,
    judge_state: &mut JudgeState,
    result: &CheckResult,
    context: StepContext<'_>,
) -> Effects {
    let revision = result.identity.revision;
    let judged = policy.active && revision == policy.revision && revision == judge_state.revision;
    let region_result =
        RegionResult::new(&result.identity, result.finished_at, result.outcome).filter(|_| judged);
    let region = result.identity.region;
    let index = judge_state.regions.binary_search_by_key(&region, |state| state.region);
    let (Some(region_result), Ok(index)) = (region_result, index) else {
        return unchanged(policy, judge_state, context);
    };
    let (before, open) = (judge_state.regions[index], judge_state.incident);
    if !judge_state.regions[index].record(region_result) {
        return unchanged(policy, judge_state, context);
    }
    let after = judge_state.regions[index];
    let mut effects = settle(policy, judge_state, context, observed_at);
    // Consecutive failures depend on slots, and a restart does not recall enough results to recover
    // both.
    let says_more = before.votes() != after.votes() || region_result.vote != Vote::Fine;
    let is_late = deferred::is_late(region_result.slot, context.now);
    if says_more || is_late || deferred::outlives_results(policy.period) {
        effects.changed = effects.changed.max(Changed::Votes(region_result.slot));
    }
    let is_failing = |state: &RegionState| state.votes().0.map(|vote| vote == Vote::Failing);
    let began_to_fail = is_failing(&before) != Some(true) && is_failing(&after) == Some(true);
    // The first result of a region is no change, so it needs no confirmation.
    if began_to_fail && is_failing(&before).is_some() {
        effects.confirmations = confirmation_regions(policy, judge_state, region, context);
        if !effects.confirmations.is_empty() {
            effects.changed = effects.changed.max(Changed::Memory);
        }
    }
    let has_stayed_open = open == judge_state.incident;
    effects.region_failed_in = open.filter(|_| began_to_fail && has_stayed_open);
    effects
}

/// Handles the passing of time: votes expire, grace periods end, ties become old.
pub fn tick(policy: &Policy, judge_state: &mut JudgeState, context: StepContext<'_>) -> Effects {
    settle(policy, judge_state, context, |_, now| now)
}

/// Handles an edit, pause, resume or process start: `policy` applies from now on.
///
/// The status does not change until all regions have reported again. An edit keeps the open
/// incident. The votes of remaining regions stay valid until replaced or expired; removed regions
/// lose their vote at once. If only a region's probe changes, call [`tick`] with the new policy:
/// this needs no grace period.
pub fn revise(policy: &Policy, judge_state: &mut JudgeState, context: StepContext<'_>) -> Effects {
    judge_state.revision = policy.revision;
    judge_state.align(policy);
    let mut effects = if policy.active {
        judge_state.grace_period =
            Some(GracePeriod { since: context.now, until: policy.grace_period_end(context.now) });
        settle(policy, judge_state, context, |_, now| now)
    } else {
        end(judge_state, CloseReason::Paused, context.now)
    };
    effects.changed = effects.changed.max(Changed::Memory);
    effects
}

/// Handles the deletion of the monitor: its incident closes, and the state is no longer needed.
pub fn delete(judge_state: &mut JudgeState, now: Timestamp) -> Effects {
    end(judge_state, CloseReason::Deleted, now)
}

/// Closes an incident that a user resolved and keeps the status. A later recovery is silent. A new
/// incident opens only after the status has left `error` and returned to it. Has no effect unless
/// the incident is open.
pub fn resolve(
    policy: &Policy,
    judge_state: &mut JudgeState,
    incident: IncidentId,
    context: StepContext<'_>,
) -> Effects {
    if judge_state.incident != Some(incident) {
        return unchanged(policy, judge_state, context);
    }
    judge_state.incident = None;
    let transition = Transition {
        from: judge_state.status,
        to: judge_state.status,
        at: context.now,
        incident: IncidentChange::Closed { id: incident, reason: CloseReason::Resolved },
        why: StatusReason::Resolved,
    };
    let unchanged = unchanged(policy, judge_state, context);
    Effects { changed: Changed::Status, transition: Some(transition), ..unchanged }
}

/// Returns the effects of a step without a decision; scheduled decisions remain.
fn unchanged(policy: &Policy, judge_state: &JudgeState, context: StepContext<'_>) -> Effects {
    let tally = Tally::count(policy, judge_state, context.suspicions, context.now);
    Effects {
        changed: Changed::Nothing,
        transition: None,
        wake_at: wake_at(policy, judge_state, &tally, context.now),
        confirmations: Vec::new(),
        region_failed_in: None,
    }
}

/// Returns when the results behind a verdict were complete: the end of the last check, not the time
/// of judging or storing. Never returns an instant before the current status began.
fn observed_at(judge_state: &JudgeState, now: Timestamp) -> Timestamp {
    let ends = judge_state.regions.iter().filter_map(|state| state.latest);
    let last = ends.map(|region_result| region_result.finished_at).max().unwrap_or(now);
    last.min(now).max(judge_state.since)
}

/// Returns the start of a new status that replaces the current one.
type Since = fn(&JudgeState, Timestamp) -> Timestamp;

/// Computes the verdict from the current state. Calls `since` only if the status changes.
fn settle(
    policy: &Policy,
    judge_state: &mut JudgeState,
    context: StepContext<'_>,
    since: Since,
) -> Effects {
    let now = context.now;
    if !policy.active
        || judge_state
            .grace_period
            .is_some_and(|hold| is_in_grace_period(policy, judge_state, hold, context))
    {
        return unchanged(policy, judge_state, context);
    }
    let tally = Tally::count(policy, judge_state, context.suspicions, now);
    let memory = (judge_state.tie_since, judge_state.slow);
    judge_state.grace_period = None;
    judge_state.slow = tally.is_slow();
    judge_state.tie_since = judge_state
        .tie_since
        .or_else(|| (judge_state.status == MonitorStatus::Error).then_some(now))
        .filter(|_| tally.is_tied());
    let tie = match tie_end(policy, judge_state) {
        None => Tie::Harmless,
        Some(end) if now < end => Tie::Young,
        Some(_) => Tie::Old,
    };
    let found = verdict(&tally, judge_state.status, tie);
    let transition = found
        .filter(|found| {
            found.status != judge_state.status
                && can_change(judge_state, found.status)
                && !waits_for_recovery(policy, judge_state, *found, context)
        })
        .map(|found| change_status(judge_state, found, context, since));
    let changed = match (transition, memory == (judge_state.tie_since, judge_state.slow)) {
        (Some(_), _) => Changed::Status,
        (None, false) => Changed::Memory,
        (None, true) => Changed::Nothing,
    };
    let wake_at = wake_at(policy, judge_state, &tally, now);
    Effects { changed, transition, wake_at, confirmations: Vec::new(), region_failed_in: None }
}

/// Returns whether the status may change to `to`. A recovery needs a new result: removing regions
/// or extending the period must not end an outage.
fn can_change(judge_state: &JudgeState, to: MonitorStatus) -> bool {
    let is_down = judge_state.incident.is_some() || judge_state.status == MonitorStatus::Error;
    let recovers = matches!(to, MonitorStatus::Active | MonitorStatus::Degraded) && is_down;
    !recovers || judge_state.is_renewed()
}

/// Returns whether an outage that would become `degraded` goes on, because the failing regions have
/// not been checked since the others recovered. Regions take turns, so most outages end this way.
/// Each of these regions reports within a period, and decides between `active` and `degraded`.
fn waits_for_recovery(
    policy: &Policy,
    judge_state: &JudgeState,
    found: Verdict,
    context: StepContext<'_>,
) -> bool {
    judge_state.status == MonitorStatus::Error
        && matches!(found.reason, StatusReason::RegionFailing(_))
        && is_recovery_unconfirmed(policy, judge_state, context.suspicions, context.now)
}

/// Changes the status, which must be another one, and the incident accordingly.
fn change_status(
    judge_state: &mut JudgeState,
    to: Verdict,
    context: StepContext<'_>,
    since: Since,
) -> Transition {
    let at = since(judge_state, context.now);
    let from = std::mem::replace(&mut judge_state.status, to.status);
    judge_state.since = at;
    let closed = |how| move |id| IncidentChange::Closed { id, reason: how };
    let incident = match to.status {
        MonitorStatus::Error => match judge_state.incident {
            Some(id) => IncidentChange::Resumed(id),
            None => IncidentChange::Opened(
                *judge_state.incident.insert(IncidentId::at(at, context.random)),
            ),
        },
        MonitorStatus::Unknown => {
            judge_state.incident.map_or(IncidentChange::None, IncidentChange::Suspended)
        }
        MonitorStatus::Active => {
            judge_state.incident.take().map_or(IncidentChange::None, closed(CloseReason::Recovered))
        }
        MonitorStatus::Degraded => {
            judge_state.incident.take().map_or(IncidentChange::None, closed(CloseReason::Degraded))
        }
    };
    Transition { from, to: to.status, at, incident, why: to.reason }
}

/// Clears all votes and closes the incident, because the status of an inactive monitor is unknown.
fn end(judge_state: &mut JudgeState, how: CloseReason, now: Timestamp) -> Effects {
    let from = std::mem::replace(&mut judge_state.status, MonitorStatus::Unknown);
    let incident = judge_state.incident.take().map(|id| IncidentChange::Closed { id, reason: how });
    let turned = from != MonitorStatus::Unknown;
    if turned {
        judge_state.since = now;
    }
    judge_state.grace_period = None;
    judge_state.tie_since = None;
    judge_state.slow = false;
    for state in &mut judge_state.regions {
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
    Effects {
        changed,
        transition,
        wake_at: None,
        confirmations: Vec::new(),
        region_failed_in: None,
    }
}

fn is_in_grace_period(
    policy: &Policy,
    judge_state: &JudgeState,
    hold: GracePeriod,
    context: StepContext<'_>,
) -> bool {
    // Regions of suspect probes are not waited for.
    let is_live = |region| {
        let probe = policy.probe_of(region);
        probe.is_some_and(|probe| context.suspicions.trust(probe) != ProbeTrust::Suspect)
    };
    context.now < hold.until && !judge_state.all_reported(hold, is_live)
}

/// Returns when a tie that began in `error` becomes old.
fn tie_end(policy: &Policy, judge_state: &JudgeState) -> Option<Timestamp> {
    judge_state.tie_since.map(|since| since + 2 * policy.period)
}

fn wake_at(
    policy: &Policy,
    judge_state: &JudgeState,
    tally: &Tally,
    now: Timestamp,
) -> Option<Timestamp> {
    if !policy.active {
        return None;
    }
    if let Some(hold) = judge_state.grace_period {
        return Some(hold.until);
    }
    // An old tie that waits for a new result ends with that result.
    let tie = tie_end(policy, judge_state).filter(|end| *end > now);
    tie.into_iter().chain(tally.next_expiry).min()
}

/// Returns the regions to confirm a failure of `region`: once per monitor and period, by probes
/// that are not suspect. A suspect probe has no vote to confirm.
fn confirmation_regions(
    policy: &Policy,
    judge_state: &mut JudgeState,
    region: Region,
    context: StepContext<'_>,
) -> Vec<Region> {
    let now = context.now;
    let is_sound = |probe| context.suspicions.trust(probe) != ProbeTrust::Suspect;
    let too_early = |asked: Timestamp| now.since(asked) < policy.period && asked <= now;
    let own = policy.probe_of(region).filter(|own| is_sound(*own));
    if judge_state.asked_at.is_some_and(too_early) {
        return Vec::new();
    }
    let others: Vec<Region> = policy
        .regions
        .iter()
        .filter(|serving| own.is_some_and(|own| own != serving.probe) && is_sound(serving.probe))
        .map(|serving| serving.region)
        .collect();
    if !others.is_empty() {
        judge_state.asked_at = Some(now);
    }
    others
}
