//! The steps of the state machine: a result comes in, time passes, the monitor is edited, paused,
//! resumed or deleted, the process starts, a person resolves the incident. Each changes the history and
//! says what follows.

use rules::{IncidentId, MonitorStatus, Region, Timestamp};

use super::verdict::{Tie, Verdict, verdict};
use super::votes::Tally;
use super::{
    Ballot, ClosedAs, Doubts, Heard, History, Hold, IncidentChange, Policy, RegionState, Standing,
    Transition, Why, unwritten,
};
use crate::check::CheckResult;

/// What enters a step from outside.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'d> {
    /// The instant that is judged, by the core's clock. A pipeline that was held up judges as of the
    /// instant at which it would have been asked.
    pub now: Timestamp,
    /// Chance for the identifier of an incident that may open.
    pub chance: u64,
    /// Which probes doubt themselves: their votes are void. Whenever that changes, [`tick`].
    pub doubts: &'d Doubts,
}

/// What follows from a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    /// How much of the history changed.
    pub changed: Changed,
    /// The change of status, where there is one.
    pub transition: Option<Transition>,
    /// When [`tick`] has something to decide if nothing is received before; it takes the place of
    /// what earlier steps said. An early or superfluous tick does no harm.
    pub wake_at: Option<Timestamp>,
    /// Second opinion: the regions to ask at once, all served by other probes than the one that
    /// turned. The pipeline leaves those out where a check is in flight.
    pub ask: Vec<Region>,
    /// The incident that was open before and still is, where the region that reported began to fail
    /// with this result.
    pub joined: Option<IncidentId>,
}

/// How much of the history changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changed {
    /// At most instants: the store need not write the history for it.
    Nothing,
    /// How a region votes, or since when, as its result of this slot says too: see [`super::Unwritten`].
    Votes(Timestamp),
    /// Something that a verdict to come depends on: the history is stored at once.
    Memory,
    /// The status or the incident; see [`Effects::transition`].
    Status,
}

/// A result comes in. Results of another revision or of a region that the monitor left, skipped
/// ones, repeated ones, ones older than the last two, and all of a paused monitor change nothing.
pub fn receive(
    policy: &Policy,
    history: &mut History,
    result: &CheckResult,
    moment: Moment<'_>,
) -> Effects {
    let revision = result.identity.revision;
    let judged = policy.active && revision == policy.revision && revision == history.revision;
    let heard = Heard::of(&result.identity, result.finished_at, result.outcome).filter(|_| judged);
    let region = result.identity.region;
    let place = history.regions.binary_search_by_key(&region, |state| state.region);
    let (Some(heard), Ok(place)) = (heard, place) else {
        return unchanged(policy, history, moment);
    };
    let (before, open) = (history.regions[place], history.incident);
    if !history.regions[place].hear(heard) {
        return unchanged(policy, history, moment);
    }
    let after = history.regions[place];
    let mut effects = settle(policy, history, moment, observed_at);
    // Whether failures are in a row depends on their slots, and what a process that starts recalls
    // of the last minutes need not reach back to both.
    let says_more = before.ballots() != after.ballots() || heard.ballot != Ballot::Fine;
    let is_late = unwritten::is_late(heard.slot, moment.now);
    if says_more || is_late || unwritten::outlives_results(policy.period) {
        effects.changed = effects.changed.max(Changed::Votes(heard.slot));
    }
    if turned(&before, &after) {
        effects.ask = second_opinion(policy, history, region, moment);
        if !effects.ask.is_empty() {
            effects.changed = effects.changed.max(Changed::Memory);
        }
    }
    let joins = before.ballots().0 != Some(Ballot::Failing)
        && after.ballots().0 == Some(Ballot::Failing)
        && open == history.incident;
    effects.joined = open.filter(|_| joins);
    effects
}

/// Time has passed: votes expire, holds end, a tie has lasted.
pub fn tick(policy: &Policy, history: &mut History, moment: Moment<'_>) -> Effects {
    settle(policy, history, moment, |_, now| now)
}

/// The monitor was edited, paused or resumed, another probe serves a region, or the process has
/// started: `policy` is what holds from now on.
///
/// The status holds until all regions have reported again. An edit keeps the open incident, and
/// the votes of regions that stay, until they are replaced or too old; regions taken away leave at
/// once. Where a region only changes its probe, use [`tick`] with the new policy: nothing holds.
pub fn revise(policy: &Policy, history: &mut History, moment: Moment<'_>) -> Effects {
    history.revision = policy.revision;
    history.align(policy);
    let mut effects = if policy.active {
        history.hold = Some(Hold { since: moment.now, until: policy.hold_end(moment.now) });
        settle(policy, history, moment, |_, now| now)
    } else {
        end(history, ClosedAs::Paused, moment.now)
    };
    effects.changed = effects.changed.max(Changed::Memory);
    effects
}

/// The monitor is deleted: its incident closes. The history is of no use after.
pub fn delete(history: &mut History, now: Timestamp) -> Effects {
    end(history, ClosedAs::Deleted, now)
}

/// A person says that an incident is over, whatever the checks say: it closes, and the status stays
/// what it is. A later recovery is silent, and another incident opens once the status has left
/// `error` and comes back. One that is not open changes nothing.
pub fn resolve(
    policy: &Policy,
    history: &mut History,
    incident: IncidentId,
    moment: Moment<'_>,
) -> Effects {
    if history.incident != Some(incident) {
        return unchanged(policy, history, moment);
    }
    history.incident = None;
    let transition = Transition {
        from: history.status,
        to: history.status,
        at: moment.now,
        incident: IncidentChange::Closed { id: incident, how: ClosedAs::Resolved },
        why: Why::Resolved,
    };
    let unchanged = unchanged(policy, history, moment);
    Effects { changed: Changed::Status, transition: Some(transition), ..unchanged }
}

/// Nothing is decided; what was to be decided later still is.
fn unchanged(policy: &Policy, history: &History, moment: Moment<'_>) -> Effects {
    let tally = Tally::of(policy, history, moment.doubts, moment.now);
    Effects {
        changed: Changed::Nothing,
        transition: None,
        wake_at: wake_at(policy, history, &tally, moment.now),
        ask: Vec::new(),
        joined: None,
    }
}

/// Returns when the results that a verdict rests on were all there: the end of the last check, not the
/// time at which it is judged or stored. Never before the status that it changes.
fn observed_at(history: &History, now: Timestamp) -> Timestamp {
    let ends = history.regions.iter().filter_map(|state| state.latest);
    let last = ends.map(|heard| heard.finished_at).max().unwrap_or(now);
    last.min(now).max(history.since)
}

/// Tells since when a status holds that changes at this instant.
type Since = fn(&History, Timestamp) -> Timestamp;

/// Makes a verdict of what is remembered. `since` is asked only if the status changes.
fn settle(policy: &Policy, history: &mut History, moment: Moment<'_>, since: Since) -> Effects {
    let now = moment.now;
    if !policy.active || history.hold.is_some_and(|hold| holds(policy, history, hold, moment)) {
        return unchanged(policy, history, moment);
    }
    let tally = Tally::of(policy, history, moment.doubts, now);
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
        .filter(|found| may_turn(history, found.status))
        .and_then(|found| turn(history, found, moment, since));
    let changed = match (transition, memory == (history.tie_since, history.slow)) {
        (Some(_), _) => Changed::Status,
        (None, false) => Changed::Memory,
        (None, true) => Changed::Nothing,
    };
    let wake_at = wake_at(policy, history, &tally, now);
    Effects { changed, transition, wake_at, ask: Vec::new(), joined: None }
}

/// Recovery needs a new result: regions that an edit takes away, and votes that a longer period
/// brings back, are no reason to be well again.
fn may_turn(history: &History, to: MonitorStatus) -> bool {
    let is_down = history.incident.is_some() || history.status == MonitorStatus::Error;
    let recovers = matches!(to, MonitorStatus::Active | MonitorStatus::Degraded) && is_down;
    !recovers || history.is_renewed()
}

/// Changes the status, and the incident with it.
fn turn(
    history: &mut History,
    to: Verdict,
    moment: Moment<'_>,
    since: Since,
) -> Option<Transition> {
    if history.status == to.status {
        return None;
    }
    let at = since(history, moment.now);
    let from = std::mem::replace(&mut history.status, to.status);
    history.since = at;
    let closed = |how| move |id| IncidentChange::Closed { id, how };
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
            history.incident.take().map_or(IncidentChange::None, closed(ClosedAs::Recovered))
        }
        MonitorStatus::Degraded => {
            history.incident.take().map_or(IncidentChange::None, closed(ClosedAs::Degraded))
        }
    };
    Some(Transition { from, to: to.status, at, incident, why: to.why })
}

/// Forgets all votes and closes the incident: nothing is known of a monitor that does not run.
fn end(history: &mut History, how: ClosedAs, now: Timestamp) -> Effects {
    let from = std::mem::replace(&mut history.status, MonitorStatus::Unknown);
    let incident = history.incident.take().map(|id| IncidentChange::Closed { id, how });
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
        why: if how == ClosedAs::Deleted { Why::Deleted } else { Why::Paused },
    });
    let changed = if transition.is_some() { Changed::Status } else { Changed::Nothing };
    Effects { changed, transition, wake_at: None, ask: Vec::new(), joined: None }
}

fn holds(policy: &Policy, history: &History, hold: Hold, moment: Moment<'_>) -> bool {
    // Regions whose probe doubts itself are not waited for.
    let is_live = |region| {
        let probe = policy.probe_of(region);
        probe.is_some_and(|probe| moment.doubts.standing(probe) != Standing::Void)
    };
    moment.now < hold.until && !history.all_reported(hold, is_live)
}

/// When a tie that began in `error` has lasted long enough.
fn tie_end(policy: &Policy, history: &History) -> Option<Timestamp> {
    history.tie_since.map(|since| since + 2 * policy.period)
}

fn wake_at(policy: &Policy, history: &History, tally: &Tally, now: Timestamp) -> Option<Timestamp> {
    if !policy.active {
        return None;
    }
    if let Some(hold) = history.hold {
        return Some(hold.until);
    }
    // A tie that has ended and still waits for a new result ends with that.
    let tie = tie_end(policy, history).filter(|end| *end > now);
    tie.into_iter().chain(tally.next_expiry).min()
}

/// Whether a region turned from fine to failing with this result.
fn turned(before: &RegionState, after: &RegionState) -> bool {
    let was_failing =
        |state: &RegionState| state.ballots().0.map(|ballot| ballot == Ballot::Failing);
    was_failing(before) == Some(false) && was_failing(after) == Some(true)
}

/// Whom to ask when `region` turned: one round per monitor and period, of probes that do not doubt
/// themselves. A probe that does has no vote that could need one.
fn second_opinion(
    policy: &Policy,
    history: &mut History,
    region: Region,
    moment: Moment<'_>,
) -> Vec<Region> {
    let now = moment.now;
    let is_sound = |probe| moment.doubts.standing(probe) != Standing::Void;
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
