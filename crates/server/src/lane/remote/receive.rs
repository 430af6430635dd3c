//! Takes reports of probes: verifies each result against its ticket, gives it to the judge, and waits until
//! it is stored.

use std::time::Duration;

use domain::cadence::{Missed, MissedReason};
use domain::check::{CheckResult, Outcome, Trigger};
use domain::judge::ProbeIndex;
use remote::{InvalidTicket, Reported, Ticket, wire};
use rules::{Timestamp, counted};
use tokio::sync::oneshot;
use tracing::warn;

use super::probe_state::{Assigned, ReportHead};
use super::{LaneStopped, RemoteLane};
use crate::lane::JudgeInput;
use crate::lane::probes::ProbePlace;

/// Why a result is refused.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Ticket(#[from] InvalidTicket),
    #[error("the check was assigned to another probe")]
    OtherProbe,
}

impl RemoteLane {
    /// Takes the results of a report, or results that come without its head. Returns when they are stored,
    /// with the refused ones: their index and the reason.
    pub(crate) async fn receive(
        &self,
        index: ProbeIndex,
        head: Option<&ReportHead>,
        results: Vec<wire::JobResult>,
    ) -> Result<Vec<(usize, String)>, LaneStopped> {
        let now = self.0.ctx.now();
        let name = self.0.probes.name(index);
        let (mut refusals, mut inputs, mut stored) = (Vec::new(), Vec::new(), Vec::new());
        let mut replies = Vec::new();
        let mut lag = None;
        for (number, result) in results.into_iter().enumerate() {
            let mut refuse = |why: String| {
                self.0.metrics.probes.results_refused.inc();
                warn!(probe.name = %name.0, "a result of probe `{}` is refused: {why}", name.0);
                refusals.push((number, why));
            };
            let ticket = match self.read_ticket(index, &result) {
                Ok(ticket) => ticket,
                Err(why) => {
                    refuse(why.to_string());
                    continue;
                }
            };
            let assigned = self.take_assigned(index, ticket.nonce);
            let reported = match remote::decode_result(&result, &ticket, name.clone(), now) {
                Ok(reported) => reported,
                Err(why) => {
                    refuse(why.to_string());
                    Reported::Missed(MissedReason::Fault)
                }
            };
            match reported {
                Reported::Missed(reason) => {
                    let slot = assigned.and_then(|_| missed_slot(&ticket, reason));
                    self.count_missed(&slot);
                    self.count_expired(slot.as_ref());
                    inputs.extend(slot.map(JudgeInput::Missed));
                }
                Reported::Ran { mut result, is_cut } => {
                    result.finished_at = result.finished_at.min(now);
                    lag = lag.max(Some(now.since(result.finished_at)));
                    self.count(&ticket, &result, is_cut);
                    let reply = assigned.as_ref().is_some_and(|it| it.reply.is_some());
                    let is_late =
                        assigned.is_none() && ticket.identity.trigger == Trigger::Scheduled;
                    // The stream ended before the report, or this server started since. The probe may
                    // have been cut off while it checked, so its own network may be at fault.
                    let is_judged = result.outcome != Outcome::Failure
                        || assigned.as_ref().is_some_and(|it| it.session.is_some());
                    let reply_to = assigned.and_then(|mut it| it.reply.take());
                    if ticket.is_draft {
                        // The caller may no longer wait.
                        let _ = reply_to.map(|to| to.send(result));
                    } else if reply {
                        let (sender, receiver) = oneshot::channel();
                        inputs.push(JudgeInput::Result(result, Some(sender)));
                        replies.extend(reply_to.map(|to| (receiver, to)));
                    } else {
                        let (sender, receiver) = oneshot::channel();
                        inputs.push(JudgeInput::Reported {
                            result,
                            is_late,
                            is_judged,
                            stored: sender,
                        });
                        stored.push(receiver);
                    }
                }
            }
        }
        self.heard(index, head, lag, now);
        self.store_all(inputs, stored, replies).await?;
        Ok(refusals)
    }

    /// Gives inputs to the judge, and waits until they are stored.
    async fn store_all(
        &self,
        inputs: Vec<JudgeInput>,
        stored: Vec<oneshot::Receiver<()>>,
        replies: Vec<(oneshot::Receiver<CheckResult>, oneshot::Sender<CheckResult>)>,
    ) -> Result<(), LaneStopped> {
        let Some(judge) = self.state().inputs.clone() else { return Err(LaneStopped) };
        for input in inputs {
            judge.send(input).await.map_err(|_| LaneStopped)?;
        }
        drop(judge);
        for receiver in stored {
            receiver.await.map_err(|_| LaneStopped)?;
        }
        for (receiver, reply) in replies {
            // The caller may no longer wait.
            let _ = reply.send(receiver.await.map_err(|_| LaneStopped)?);
        }
        Ok(())
    }

    fn read_ticket(&self, index: ProbeIndex, result: &wire::JobResult) -> Result<Ticket, Refusal> {
        let ticket = self.0.key.read(&result.ticket)?;
        let is_own = matches!(self.0.probes.place(index), ProbePlace::Elsewhere(id) if id.bits() == ticket.probe);
        if !is_own {
            return Err(Refusal::OtherProbe);
        }
        Ok(ticket)
    }

    /// Takes the job of a result, so that its next slot may run.
    fn take_assigned(&self, index: ProbeIndex, nonce: u64) -> Option<Assigned> {
        let mut state = self.state();
        let mut assigned = state.probes.get_mut(&index)?.take_assigned(nonce)?;
        drop(state);
        self.finish(&mut assigned);
        Some(assigned)
    }

    /// Gives up a job that could not be sent. Its slot is missed.
    pub(crate) async fn give_up_unsent(&self, index: ProbeIndex, ticket: &[u8]) {
        let Ok(ticket) = self.0.key.read(ticket) else { return };
        let assigned = self.take_assigned(index, ticket.nonce);
        let missed = assigned.and_then(|mut it| it.missed.take());
        self.count_missed(&missed);
        self.send(missed.map(JudgeInput::Missed)).await;
    }

    pub(super) fn finish(&self, assigned: &mut Assigned) {
        if let Some(handle) = assigned.handle.take() {
            self.0.finished.record(handle, assigned.region);
        }
    }

    fn count(&self, ticket: &Ticket, result: &CheckResult, is_cut: bool) {
        self.0.metrics.checks(ticket.kind, result.outcome).inc();
        let took = result.finished_at.since(ticket.identity.slot);
        self.0.metrics.check_seconds.observe(took.as_secs_f64());
        self.0.metrics.bodies_cut.inc_by(u64::from(is_cut));
    }

    /// Counts a slot for which the probe had no permit in time, or no memory.
    fn count_expired(&self, missed: Option<&Missed>) {
        let is_shared = missed.is_some_and(|it| !it.region.is_private());
        if is_shared && missed.is_some_and(|it| it.reason == MissedReason::Overloaded) {
            self.0.metrics.expired_slots.inc();
        }
    }

    /// Records a sign of life, or only the lag of results.
    fn heard(
        &self,
        index: ProbeIndex,
        head: Option<&ReportHead>,
        lag: Option<Duration>,
        now: Timestamp,
    ) {
        let regions = self.0.probes.public_regions(index);
        let mut state = self.state();
        let Some(probe) = state.probes.get_mut(&index) else { return };
        let before = match head {
            Some(head) => probe.heard(head, lag, now),
            None => probe.record_lag(lag),
        };
        let status = probe.status();
        drop(state);
        let dropped = head.map_or(0, |it| it.dropped);
        if dropped > 0 {
            let name = self.0.probes.name(index);
            warn!(
                probe.name = %name.0,
                "probe `{}` dropped {}, because its disk or its limits were full",
                name.0, counted(dropped, "result")
            );
            self.0.metrics.probes.results_dropped.inc_by(u64::from(dropped));
        }
        self.0.metrics.probes.set_status(&regions, &before, &status);
    }
}

fn missed_slot(ticket: &Ticket, reason: MissedReason) -> Option<Missed> {
    let identity = ticket.identity;
    let slot = Missed::slot(identity.monitor, identity.region, identity.slot, reason);
    (identity.trigger == Trigger::Scheduled).then_some(slot)
}
