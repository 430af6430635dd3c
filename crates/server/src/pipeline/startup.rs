//! Startup of the pipeline: loads the active monitors, their judge states and last results, and
//! finds the slots that were missed meanwhile.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use domain::cadence::{Downtime, FirstRun, Missed, missed_while_down};
use domain::check::{HeartbeatState, Trigger};
use domain::judge::{JudgeState, Policy, RECALL_PERIOD, Vote};
use rules::monitor::Monitor;
use rules::{MonitorId, Region, Timestamp};
use store::{BootMonitor, BootResult, Store, StoreError};
use tracing::{info, warn};

use super::cadence::{Cadence, TimetableEntry};
use super::judge::{Judge, JudgedMonitor};
use super::{Pipeline, PipelineError};

/// Time from the end of a check until its result is stored, with some reserve.
const STORED_WITHIN: Duration = Duration::from_secs(30);
/// Slots that were due this long before the start are run late instead of missed, for a restart or
/// another server that takes over: longer than an orderly stop takes.
const RESUMED_WITHIN: Duration = Duration::from_secs(30);
const MILLISECOND: Duration = Duration::from_millis(1);

/// Stored state of the last minutes of the previous process.
struct Before {
    /// Last slot with a stored outcome; `None` on a new database.
    worked_until: Option<Timestamp>,
    results: HashMap<MonitorId, Vec<BootResult>>,
    /// Scheduled slots with a result.
    ran: HashSet<(MonitorId, Region, Timestamp)>,
    missed: HashMap<MonitorId, Vec<Missed>>,
}

/// Loads every active monitor from the store.
pub(super) async fn load_monitors(
    pipeline: &Pipeline,
    judge: &mut Judge,
    cadence: &mut Cadence,
) -> Result<(), PipelineError> {
    pipeline.set_all_weights().await?;
    let mut before = Before::read(&pipeline.store).await?;
    pipeline.calls.start(pipeline.ctx.now());
    before.worked_until.into_iter().for_each(|slot| judge.set_last_slot(slot));
    let mut stored = pipeline.store.monitors().all_for_boot();
    let (mut count, mut unsettled) = (0_usize, Vec::new());
    while let Some(batch) = stored.next_batch().await? {
        for BootMonitor { monitor, judge_state, heartbeat } in batch {
            if !monitor.settings.active {
                continue;
            }
            let loaded = LoadedMonitor::new(pipeline, &mut before, &monitor, judge_state);
            if let (Ok(loaded), false) = (&loaded, monitor.settings.check.is_probed()) {
                // A damaged row may be lost.
                let waiting = || HeartbeatState::waiting(pipeline.ctx.now());
                let heartbeat = heartbeat.unwrap_or_else(waiting);
                let was_late = loaded.was_late(&heartbeat);
                pipeline.calls.load(loaded.entry.plan.clone(), heartbeat, was_late);
            }
            match loaded {
                Ok(loaded) if loaded.needs_older(&before) => unsettled.push(loaded),
                Ok(loaded) => loaded.run(pipeline, judge, cadence, &before),
                Err(PipelineError::Store(why)) => return Err(why.into()),
                Err(why) => {
                    warn!(
                        monitor.id = %monitor.id,
                        "failed to load monitor `{}` ({}): {why}", monitor.settings.name, monitor.id
                    );
                    continue;
                }
            }
            count += 1;
        }
    }
    match before.read_older(&pipeline.store, &unsettled).await {
        // An unreadable result must not keep the server from starting.
        Err(why @ StoreError::Corrupt { .. }) => warn!("failed to read older results: {why}"),
        read => read?,
    }
    for loaded in unsettled {
        loaded.run(pipeline, judge, cadence, &before);
    }
    judge.restore_suspicions(pipeline.store.probe_suspicions().all().await?);
    info!(monitors = count, "loaded {count} active monitors");
    Ok(())
}

/// A monitor that was read from the store, and does not run yet.
struct LoadedMonitor {
    judged: JudgedMonitor,
    entry: TimetableEntry,
    /// Its last results.
    results: Vec<BootResult>,
    /// Revision of its settings.
    revision: u32,
    /// Time from which each of its slots is checked; `None` on a new database.
    looked_at_since: Option<Timestamp>,
}

impl LoadedMonitor {
    fn new(
        pipeline: &Pipeline,
        before: &mut Before,
        monitor: &Monitor,
        judge_state: Option<JudgeState>,
    ) -> Result<Self, PipelineError> {
        let (mut judged, entry) = pipeline.prepare(monitor, judge_state)?;
        let results = before.results.remove(&monitor.id).unwrap_or_default();
        for result in results.iter().filter(|result| result.votes) {
            judged.state.recall(&result.identity, result.finished_at, result.outcome);
        }
        let since = |worked_until| checked_since(worked_until, &judged.policy, monitor);
        let looked_at_since = before.worked_until.map(since);
        Ok(Self { judged, entry, results, revision: monitor.revision, looked_at_since })
    }

    /// Returns whether its last result says that a heartbeat is late, and none has come since.
    fn was_late(&self, heartbeat: &HeartbeatState) -> bool {
        let waits_since = heartbeat.waits_since();
        let mut last = self.judged.state.regions.iter().filter_map(|state| state.latest);
        last.any(|last| last.vote == Vote::Failing && last.finished_at > waits_since)
    }

    /// Returns whether a slot has no known outcome among those that were read of all monitors.
    fn needs_older(&self, before: &Before) -> bool {
        let read_since = before.read_since();
        read_since.is_some_and(|until| !self.missed(before, until, until).is_empty())
    }

    /// Returns the slots until `worked_until` without an outcome, and those from then to `now`.
    fn missed(&self, before: &Before, worked_until: Timestamp, now: Timestamp) -> Vec<Missed> {
        let (Some(looked_at_since), Some(read_since)) = (self.looked_at_since, before.read_since())
        else {
            return Vec::new();
        };
        let monitor = self.judged.monitor;
        let time = Downtime { looked_at_since, worked_until, now };
        let is_known = |region, slot| {
            before.has_outcome(monitor, region, slot)
                || (slot <= read_since && is_before_known_result(&self.judged.state, region, slot))
        };
        missed_while_down(monitor, self.entry.period, self.entry.regions, time, is_known)
    }

    /// Records what was missed, and starts the monitor.
    fn run(
        mut self,
        pipeline: &Pipeline,
        judge: &mut Judge,
        cadence: &mut Cadence,
        before: &Before,
    ) {
        let now = pipeline.ctx.now();
        // If no result of the revision is known, the process ended before its initial check.
        let state = &self.judged.state;
        let is_known = state.revision == self.revision && state.is_renewed();
        let (first, resumed_at) = if is_known {
            (FirstRun::Regular, before.resumed_at(now))
        } else {
            (FirstRun::AtOnce, now)
        };
        if let Some(worked_until) = before.worked_until {
            judge.record_missed(self.missed(before, worked_until, resumed_at));
        }
        self.judged.state.set_back(now);
        judge.load(self.judged, &self.results);
        // The same time as for the missed slots leaves no gap between the two.
        let runnable = cadence.put(self.entry, first, resumed_at);
        debug_assert!(runnable.is_empty(), "no check waits before the first one is due");
    }
}

/// Returns the time from which each slot of a monitor is checked. Older slots had ended, or began
/// before its latest edit. A check waits for a permit or a probe until its next slot at most.
fn checked_since(worked_until: Timestamp, policy: &Policy, monitor: &Monitor) -> Timestamp {
    let in_flight = policy.period + policy.longest + STORED_WITHIN;
    (worked_until - in_flight).max(monitor.updated_at)
}

/// Returns whether a scheduled result of this slot or a later one is known for the region. Then
/// this slot was run, skipped or missed before, and that is stored. Manual and confirmation checks
/// do not count.
fn is_before_known_result(judge_state: &JudgeState, region: Region, slot: Timestamp) -> bool {
    let state = judge_state.region(region);
    let results = state.into_iter().flat_map(|state| [state.latest, state.before]).flatten();
    results.filter(|result| result.trigger == Trigger::Scheduled).any(|result| slot <= result.slot)
}

impl Before {
    async fn read(store: &Store) -> Result<Self, StoreError> {
        let mut before = Self {
            worked_until: store.results().latest_slot().await?,
            results: HashMap::new(),
            ran: HashSet::new(),
            missed: HashMap::new(),
        };
        let Some(worked_until) = before.worked_until else { return Ok(before) };
        let since = worked_until - RECALL_PERIOD;
        for result in store.results().since_for_boot(since).await? {
            let identity = result.identity;
            if identity.trigger == Trigger::Scheduled {
                before.ran.insert((identity.monitor, identity.region, identity.slot));
            }
            before.results.entry(identity.monitor).or_default().push(result);
        }
        for missed in store.missed().since_for_boot(since).await? {
            before.worked_until = before.worked_until.max(Some(missed.last_slot));
            before.missed.entry(missed.monitor).or_default().push(missed);
        }
        Ok(before)
    }

    /// Returns the time until which slots count as missed. Later ones are run. None of them has an outcome.
    fn resumed_at(&self, now: Timestamp) -> Timestamp {
        self.worked_until.map_or(now, |it| it.max(now - RESUMED_WITHIN).min(now))
    }

    /// Returns the time since which the outcomes of all monitors were read; `None` on a new database.
    fn read_since(&self) -> Option<Timestamp> {
        self.worked_until.map(|it| it - RECALL_PERIOD)
    }

    /// Reads the older outcomes of these monitors, of all with the same statements.
    async fn read_older(
        &mut self,
        store: &Store,
        monitors: &[LoadedMonitor],
    ) -> Result<(), StoreError> {
        let since = |it: &LoadedMonitor| Some((it.judged.monitor, it.looked_at_since?));
        let since: HashMap<MonitorId, Timestamp> = monitors.iter().filter_map(since).collect();
        let Some(earliest) = since.values().min().copied() else { return Ok(()) };
        self.ran.extend(store.results().older_for_boot(&since).await?);
        for missed in store.missed().since_for_boot(earliest - MILLISECOND).await? {
            if since.contains_key(&missed.monitor) {
                self.missed.entry(missed.monitor).or_default().push(missed);
            }
        }
        Ok(())
    }

    /// Returns whether the outcome of a slot is stored.
    fn has_outcome(&self, monitor: MonitorId, region: Region, slot: Timestamp) -> bool {
        let missed = self.missed.get(&monitor).into_iter().flatten();
        self.ran.contains(&(monitor, region, slot))
            || missed.into_iter().any(|missed| {
                missed.region == region && missed.first_slot <= slot && slot <= missed.last_slot
            })
    }
}

#[cfg(test)]
mod tests {
    use domain::judge::{ProbeIndex, RegionResult, ServedRegion};
    use rules::monitor::{Check, MonitorSettings, TcpCheck};
    use rules::{Periodicity, WorkspaceId};

    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
    const MINUTE: Duration = Duration::from_mins(1);

    fn a_monitor(updated_at: Timestamp) -> Monitor {
        let settings = MonitorSettings {
            timeout_ms: 120_000,
            retry: 10,
            active: true,
            regions: vec![Region::FlyAms],
            ..MonitorSettings::new(
                "database",
                Periodicity::OneHour,
                Check::Tcp(TcpCheck::new("localhost:5432")),
            )
        };
        let (id, workspace) = (MonitorId::from_bits(1), WorkspaceId::from_bits(1));
        Monitor { id, workspace, revision: 1, settings, created_at: START, updated_at }
    }

    fn policy(monitor: &Monitor) -> Policy {
        let serving = ServedRegion { region: Region::FlyAms, probe: ProbeIndex::EMBEDDED };
        Policy::new(&monitor.settings, monitor.revision, vec![serving])
    }

    #[test]
    fn slow_check_extends_the_checked_period() {
        // design: §5 "a slot nobody ran as missed: never silently lost"
        let monitor = a_monitor(START);
        let policy = policy(&monitor);
        let (period, longest) = (policy.period, policy.longest);
        assert!(longest > 20 * MINUTE, "eleven attempts of two minutes: {longest:?}");
        let worked_until = START + 180 * MINUTE;
        let waits = worked_until - period - longest;
        assert_eq!(checked_since(worked_until, &policy, &monitor), waits - STORED_WITHIN);
        let edited = a_monitor(worked_until - MINUTE);
        assert_eq!(checked_since(worked_until, &policy, &edited), edited.updated_at);
    }

    #[test]
    fn slots_before_a_scheduled_result_are_known() {
        let mut judge_state = JudgeState::new(&policy(&a_monitor(START)), START);
        let is_past = |judge_state: &JudgeState, slot| {
            is_before_known_result(judge_state, Region::FlyAms, slot)
        };
        assert!(!is_past(&judge_state, START));
        let region_result = |slot, trigger| RegionResult {
            slot,
            finished_at: slot,
            revision: 1,
            trigger,
            vote: Vote::Fine,
        };
        judge_state.regions[0].latest = Some(region_result(START + 2 * MINUTE, Trigger::Manual));
        assert!(!is_past(&judge_state, START), "somebody asked, which says nothing of the slots");
        judge_state.regions[0].before = Some(region_result(START + MINUTE, Trigger::Scheduled));
        assert!(is_past(&judge_state, START + MINUTE));
        assert!(!is_past(&judge_state, START + 2 * MINUTE));
        assert!(!is_before_known_result(&judge_state, Region::FlySin, START));
    }
}
