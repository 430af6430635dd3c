//! What the pipeline finds when a process starts: the monitors that are active, what the judge knew
//! of them, their last results, and the slots that nobody ran meanwhile.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use domain::cadence::{Downtime, First, Missed, missed_while_down};
use domain::check::Trigger;
use domain::judge::History;
use rules::monitor::Monitor;
use rules::{MonitorId, Region, Timestamp};
use store::{BootMonitor, BootResult, Store, StoreError};
use tracing::{info, warn};

use super::cadence::Cadence;
use super::judge::Judge;
use super::{Pipeline, PipelineError};

/// Slots this much before the last stored one may have been under way when the process before
/// ended: as long as an attempt may take, and something for what came around it.
const UNDER_WAY: Duration = Duration::from_secs(150);

/// What is stored of the last minutes of the process before.
struct Before {
    /// The last slot of which something is stored; `None` on a new database.
    worked_until: Option<Timestamp>,
    results: HashMap<MonitorId, Vec<BootResult>>,
    ran: HashSet<(MonitorId, Region, Timestamp)>,
    missed: HashMap<MonitorId, Vec<Missed>>,
}

/// Takes up every active monitor that is stored.
pub(super) async fn take_up(
    pipeline: &Pipeline,
    judge: &mut Judge,
    cadence: &mut Cadence,
) -> Result<(), PipelineError> {
    let before = Before::read(&pipeline.store).await?;
    let mut stored = pipeline.store.monitors().all_for_boot();
    let mut count = 0_usize;
    loop {
        let batch = stored.next_batch().await?;
        if batch.is_empty() {
            break;
        }
        for BootMonitor { monitor, history } in batch {
            if !monitor.settings.active {
                continue;
            }
            match take_up_one(pipeline, judge, cadence, &before, &monitor, history) {
                Ok(()) => count += 1,
                Err(why) => warn!(monitor.id = %monitor.id, "left out: {why}"),
            }
        }
    }
    info!(monitors = count, "took up {count} active monitors");
    Ok(())
}

fn take_up_one(
    pipeline: &Pipeline,
    judge: &mut Judge,
    cadence: &mut Cadence,
    before: &Before,
    monitor: &Monitor,
    history: Option<History>,
) -> Result<(), PipelineError> {
    let (mut watched, entry) = pipeline.prepare(monitor, history)?;
    for result in before.results.get(&monitor.id).into_iter().flatten() {
        watched.history.recall(&result.identity, result.finished_at, result.outcome);
    }
    if let Some(worked_until) = before.worked_until {
        let time = Downtime {
            looked_at_since: (worked_until - UNDER_WAY).max(monitor.updated_at),
            worked_until,
            now: pipeline.ctx.now(),
        };
        let is_known = |region, slot| before.knows(monitor.id, region, slot);
        judge.note_missed(missed_while_down(
            monitor.id,
            entry.period,
            entry.regions,
            time,
            is_known,
        ));
    }
    judge.take_up(watched);
    cadence.put(entry, First::Regular);
    Ok(())
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
        let since = worked_until - UNDER_WAY;
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

    /// Whether it is stored what became of a slot.
    fn knows(&self, monitor: MonitorId, region: Region, slot: Timestamp) -> bool {
        let missed = self.missed.get(&monitor).into_iter().flatten();
        self.ran.contains(&(monitor, region, slot))
            || missed.into_iter().any(|missed| {
                missed.region == region && missed.first_slot <= slot && slot <= missed.last_slot
            })
    }
}
