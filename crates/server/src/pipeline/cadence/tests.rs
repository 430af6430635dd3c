//! Unit tests of cadence: removal under overload, shares of permits, and kept details.

use domain::check::HeartbeatState;
use rules::monitor::{Monitor, UNPROBED_REGION};

use super::*;
use crate::lane;
use crate::pipeline::check::tests::{a_monitor, a_plan};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn entry(monitor: u64) -> TimetableEntry {
    let period = std::time::Duration::from_secs(30);
    let regions = Region::PUBLIC.iter().copied().collect();
    TimetableEntry { plan: a_plan(monitor), period, regions }
}

// A lane without a receiver is the worst overload.
#[tokio::test]
async fn monitor_removal_during_overload_records_missed_slots() {
    let (jobs, _nobody_takes) = lane::jobs(1);
    let (inputs, mut input_receiver) = lane::inputs();
    let metrics = Metrics::new();
    let ctx = Context::manual(NOW).0;
    let lanes = (jobs, Arc::new(CheckPermits::new(8, metrics.clone())), Arc::default());
    let mut cadence = Cadence::new(
        ctx,
        metrics.clone(),
        lanes,
        (inputs, ReceivedCalls::default()),
        Arc::default(),
    );
    for monitor in 0..100 {
        cadence.put(entry(monitor), FirstRun::AtOnce, NOW);
    }
    let (schedule_commands, given) = mpsc::channel(1);
    let running = tokio::spawn(cadence.run(given));
    let mut missed = 0;
    for monitor in (0..100).map(MonitorId::from_bits) {
        let (done, handled) = oneshot::channel();
        schedule_commands.send(ScheduleCommand::Remove { monitor, done }).await.unwrap();
        handled.await.unwrap();
        while let Ok(JudgeInput::Missed(slots)) = input_receiver.try_recv() {
            assert_eq!((slots.monitor, slots.first_slot, slots.count), (monitor, NOW, 1));
            missed += 1;
        }
    }
    let jobs_of_one_lane = 1_024;
    assert_eq!(missed, 2_800 - jobs_of_one_lane);
    assert_eq!(metrics.missed_slots.get(), missed);
    running.abort();
}

#[test]
fn detailed_success_is_kept_every_ten_minutes() {
    let (monitor, other) = (MonitorId::from_bits(1), MonitorId::from_bits(2));
    let mut kept_together = 0;
    for period in rules::Periodicity::ALL {
        let period = period.period().as_millis() as i64;
        let phase = 12_345 % period;
        let kept = |monitor| -> Vec<i64> {
            (0..3_600_000 / period)
                .map(|index| phase + index * period)
                .filter(|slot| {
                    let (slot, next) = (*slot, slot + period);
                    let at = Timestamp::from_millis;
                    is_detailed_slot(monitor, at(slot), at(next))
                })
                .collect()
        };
        assert_eq!(kept(monitor).len() as i64, (3_600_000 / period).min(6), "{period} ms");
        let others = kept(other);
        let together = period == 30_000 && kept(monitor).iter().any(|at| others.contains(at));
        kept_together += usize::from(together);
    }
    assert_eq!(kept_together, 0, "monitors take turns");
}

// decision 0046: 8 of 64 permits are for workspaces below their share, or 4 while there is only one.
#[tokio::test]
async fn departing_workspace_lets_waiting_jobs_run() {
    let (jobs, mut lanes) = lane::jobs(1);
    let (inputs, _input_receiver) = lane::inputs();
    let metrics = Metrics::new();
    let permits = Arc::new(CheckPermits::new(64, metrics.clone()));
    let parts = (jobs, permits.clone(), Arc::default());
    let ctx = Context::manual(NOW).0;
    let mut cadence =
        Cadence::new(ctx, metrics, parts, (inputs, ReceivedCalls::default()), Arc::default());
    let modest = TimetableEntry { plan: plan_of(2, WorkspaceId::from_bits(2)), ..entry(2) };
    cadence.put(entry(1), FirstRun::Regular, NOW);
    cadence.put(modest, FirstRun::Regular, NOW);
    let admitted = (0..70).filter_map(|_| permits.admit(a_queued_job())).count();
    assert_eq!(admitted, 52, "4 more are for workspaces that run no check");

    cadence.remove(MonitorId::from_bits(2)).await;
    let sent: Vec<QueuedJob> = std::iter::from_fn(|| lanes[0].try_recv().ok()).collect();
    assert_eq!((sent.len(), permits.waiting()), (4, 14));
    for job in sent {
        assert!(permits.admit(job).is_some(), "a job from the queue keeps its permit");
    }
    assert!(permits.admit(a_queued_job()).is_none(), "the rest is for other workspaces");
}

fn plan_of(monitor: u64, workspace: WorkspaceId) -> Arc<CheckPlan> {
    Arc::new(CheckPlan::new(&Monitor { workspace, ..a_monitor(monitor) }).unwrap())
}

/// A check of the workspace of `a_plan`.
fn a_queued_job() -> QueuedJob {
    QueuedJob {
        job: Job::manual(a_plan(1), Region::FlyAms, NOW),
        handle: None,
        reply: None,
        is_draft: false,
        revision_flag: RevisionFlag::default(),
        has_permit: false,
        in_flight: Arc::<InFlight>::default().begin(),
    }
}

// decision 0054: skipped checks and those that keep their details anyway are not in the budget.
#[tokio::test]
async fn budget_pays_only_for_checks_that_need_it() {
    let (jobs, mut lanes) = lane::jobs(1);
    let (inputs, mut input_receiver) = lane::inputs();
    let metrics = Metrics::new();
    let parts = (jobs, Arc::new(CheckPermits::new(64, metrics.clone())), Arc::default());
    let ctx = Context::manual(NOW).0;
    let mut cadence =
        Cadence::new(ctx, metrics, parts, (inputs, ReceivedCalls::default()), Arc::default());
    cadence.put(entry(1), FirstRun::AtOnce, NOW);
    cadence.last_poll = NOW;
    let due = cadence.schedule.pop_due(NOW).unwrap();
    let period = due.next_slot.as_millis() - due.slot.as_millis();
    let slots: Vec<DueSlot> = (0..40)
        .map(|index| {
            let slot = Timestamp::from_millis(due.slot.as_millis() + index * period);
            let next_slot = Timestamp::from_millis(slot.as_millis() + period);
            DueSlot { slot, next_slot, ..due }
        })
        .collect();
    let keeps = |due: &&DueSlot| is_detailed_slot(due.monitor, due.slot, due.next_slot);
    let with_details = *slots.iter().find(keeps).unwrap();
    let without = *slots.iter().find(|due| !keeps(due)).unwrap();
    let mut kept = async |due: DueSlot| {
        cadence.dispatch(due).await;
        let _ = input_receiver.try_recv();
        lanes[0].try_recv().ok().map(|sent| sent.job.keep_evidence)
    };

    for _ in 0..rules::limits::DETAILED_CHECKS_PER_SECOND {
        assert_eq!(kept(DueSlot { action: SlotAction::Skip, ..without }).await, None);
        assert_eq!(kept(with_details).await, Some(true));
    }
    for _ in 0..rules::limits::DETAILED_CHECKS_PER_SECOND {
        assert_eq!(kept(without).await, Some(true));
    }
    assert_eq!(kept(without).await, Some(false));
    assert_eq!(kept(with_details).await, Some(true));
}

#[tokio::test]
async fn heartbeat_monitor_is_evaluated_without_a_probe() {
    let (jobs, mut lanes) = lane::jobs(1);
    let (inputs, mut input_receiver) = lane::inputs();
    let metrics = Metrics::new();
    let parts = (jobs, Arc::new(CheckPermits::new(64, metrics.clone())), Arc::default());
    let (plan, received) = (calls::tests::a_plan(), ReceivedCalls::default());
    received.start(NOW);
    received.load(plan.clone(), HeartbeatState::waiting(NOW), false);
    let ctx = Context::manual(NOW).0;
    let mut cadence = Cadence::new(ctx, metrics, parts, (inputs, received), Arc::default());
    let regions = [UNPROBED_REGION].into_iter().collect();
    cadence.put(TimetableEntry { plan, regions, ..entry(1) }, FirstRun::AtOnce, NOW);
    cadence.last_poll = NOW;
    let due = cadence.schedule.pop_due(NOW).unwrap();
    cadence.dispatch(due).await;
    assert!(lanes[0].try_recv().is_err(), "no job is sent");
    let input = input_receiver.try_recv().unwrap();
    let JudgeInput::Result(result, _) = input else { panic!("{input:?}") };
    assert_eq!((result.identity.monitor, result.attempts), (MonitorId::from_bits(1), 0));
}
