//! A model of the store's deliveries for one channel, and of a sender that delivers in order.
//! `queries` says what was delivered.

mod queries;

use std::time::Duration;

use rules::notification::NotificationPreferences;
use rules::{IncidentId, MonitorStatus, ProviderType, Timestamp};

use super::super::*;
use crate::judge::CloseReason;
use crate::notify::tests::an_event;

/// Noon of a day.
const NOON: Timestamp = Timestamp::from_millis(20_000 * 86_400_000 + 43_200_000);
const PERIOD: Duration = Duration::from_secs(30);

/// A step of a test.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The monitor changes to this status.
    Turn(MonitorStatus),
    /// A user pauses it.
    Pause,
    /// A user resolves its incident.
    Resolve,
    /// A maintenance of this length begins.
    Mute(Duration),
    /// Time passes, and all due messages are delivered.
    Pass(Duration),
    /// The sender attempts due messages with this result.
    Deliver(Fate),
}

/// Result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Arrives,
    Fails,
    Dies,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    number: i64,
    event: Event,
    pub(super) hold_reason: Option<HoldReason>,
    due_at: Timestamp,
    attempts: u32,
    open: bool,
    state: State,
    /// Position in the order of completion.
    done: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Arrived,
    Dead,
    Cancelled,
}

/// A delivered message or dead letter.
pub(super) struct DeliveredEvent(Event);

pub(super) struct Model {
    now: Timestamp,
    status: MonitorStatus,
    incident: Option<IncidentId>,
    incidents: u64,
    muted_until: Option<Timestamp>,
    channel: ChannelState,
    pub(super) is_linked: bool,
    rows: Vec<Row>,
    done: usize,
}

impl Row {
    fn is_held_for_later(&self) -> bool {
        matches!(self.hold_reason, Some(HoldReason::MinDuration | HoldReason::Maintenance))
    }
}

impl Model {
    pub(super) fn new(kind: ProviderType, preferences: NotificationPreferences) -> Self {
        Self {
            now: NOON,
            status: MonitorStatus::Unknown,
            incident: None,
            incidents: 0,
            muted_until: None,
            channel: ChannelState {
                kind,
                preferences,
                is_linked: true,
                window: None,
                open_deliveries: Vec::new(),
            },
            is_linked: true,
            rows: Vec::new(),
            done: 0,
        }
    }

    pub(super) fn all(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(*step);
        }
    }

    pub(super) fn step(&mut self, step: Step) {
        // No two changes occur at the same instant.
        self.now = self.now + Duration::from_millis(1);
        match step {
            Step::Turn(to) => self.turn(to),
            Step::Pause => {
                self.status = MonitorStatus::Unknown;
                let incident = self.incident.take();
                self.happen(AlertChange::Ended { incident, reason: CloseReason::Paused });
            }
            Step::Resolve => {
                if let Some(id) = self.incident.take() {
                    self.happen(AlertChange::Ended {
                        incident: Some(id),
                        reason: CloseReason::Resolved,
                    });
                }
            }
            Step::Mute(time) => self.muted_until = Some(self.now + time),
            Step::Pass(time) => self.pass(time),
            Step::Deliver(fate) => self.deliver(fate),
        }
    }

    /// Makes the judge lose an open incident.
    pub(super) fn remove_incident(&mut self) {
        self.incident = None;
        self.status = MonitorStatus::Unknown;
    }

    fn turn(&mut self, to: MonitorStatus) {
        if to == self.status {
            return;
        }
        let from = std::mem::replace(&mut self.status, to);
        let closed = |id, how| IncidentChange::Closed { id, reason: how };
        let incident = match (to, self.incident) {
            (MonitorStatus::Error, Some(id)) => IncidentChange::Resumed(id),
            (MonitorStatus::Error, None) => {
                self.incidents += 1;
                let id = IncidentId::from_bits(self.incidents);
                self.incident = Some(id);
                IncidentChange::Opened(id)
            }
            (MonitorStatus::Unknown, Some(id)) => IncidentChange::Suspended(id),
            (_, None) => IncidentChange::None,
            (MonitorStatus::Active, Some(id)) => closed(id, CloseReason::Recovered),
            (MonitorStatus::Degraded, Some(id)) => closed(id, CloseReason::Degraded),
        };
        if let IncidentChange::Closed { .. } = incident {
            self.incident = None;
        }
        let why = crate::judge::StatusReason::NoVotes;
        if let Some(change) =
            AlertChange::from_transition(&Transition { from, to, at: self.now, incident, why })
        {
            self.happen(change);
        }
    }

    fn happen(&mut self, change: AlertChange) {
        let event = an_event(EventKind::Error);
        let context = AlertContext {
            now: self.now,
            at: self.now,
            workspace: event.workspace,
            monitor: event.monitor,
            period: PERIOD,
            cause: Cause::default(),
            muted_until: self.muted_until.filter(|until| *until > self.now),
        };
        let channel = self.channel_state();
        let plan = plan_deliveries(change, &context, &channel);
        self.channel.window = plan.window.or(channel.window);
        plan.written.into_iter().for_each(|written| self.write(written));
        for row in &mut self.rows {
            if plan.over.contains(&row.number) {
                row.open = false;
            }
            if plan.cancelled.contains(&row.number) {
                assert_eq!(
                    (row.state, row.attempts),
                    (State::Waiting, 0),
                    "only deliveries without attempts are cancelled"
                );
                (row.open, row.state) = (false, State::Cancelled);
            }
        }
    }

    fn write(&mut self, written: NewDelivery) {
        let NewDelivery { event, due, opens } = written;
        let number = i64::try_from(self.rows.len()).unwrap();
        let (hold_reason, due_at) = (due.hold_reason, due.due_at);
        let (attempts, state, done) = (0, State::Waiting, 0);
        self.rows.push(Row {
            number,
            event,
            hold_reason,
            due_at,
            attempts,
            open: opens,
            state,
            done,
        });
    }

    fn channel_state(&self) -> ChannelState {
        let open = self.rows.iter().filter(|row| row.open);
        let open_deliveries = open.map(|row| {
            let subject = AlertSubject::new(row.event.kind, row.event.incident);
            let since = row.event.began_at;
            let progress = match (row.state, row.hold_reason) {
                (State::Waiting, Some(reason)) => DeliveryProgress::Held(reason, row.due_at),
                (State::Waiting | State::Arrived, _) => DeliveryProgress::AcceptedOrPending,
                (State::Dead | State::Cancelled, _) => DeliveryProgress::Dead,
            };
            OpenDelivery {
                delivery: row.number,
                subject,
                since,
                reminder: row.event.reminder,
                progress,
            }
        });
        ChannelState {
            open_deliveries: open_deliveries.collect(),
            is_linked: self.is_linked,
            ..self.channel.clone()
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            self.deliver(Fate::Arrives);
            let next =
                self.waiting().map(|row| row.due_at).filter(|due_at| *due_at > self.now).min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            self.now = next;
        }
        self.now = end;
        self.deliver(Fate::Arrives);
    }

    /// Attempts due messages in order until none is left.
    fn deliver(&mut self, fate: Fate) {
        loop {
            self.reschedule();
            let head = self.waiting().find(|row| !row.is_held_for_later()).map(|row| row.number);
            let due = |row: &&mut Row| Some(row.number) == head && row.due_at <= self.now;
            let Some(row) = self.rows.iter_mut().find(due) else { return };
            (row.hold_reason, row.attempts) = (None, row.attempts + 1);
            match fate {
                Fate::Arrives => row.state = State::Arrived,
                Fate::Dies => row.state = State::Dead,
                Fate::Fails => {
                    row.due_at = self.now + Duration::from_secs(1);
                    return;
                }
            }
            self.done += 1;
            row.done = self.done;
            row.open &= row.event.reminder == 0;
            let event = row.event.clone();
            let lasts = event.incident.is_some() && event.incident == self.incident;
            let every =
                self.channel.preferences.remind_every.filter(|_| fate == Fate::Arrives && lasts);
            if let Some(reminder) = every.and_then(|every| next_reminder(&event, every, self.now)) {
                self.write(reminder);
            }
        }
    }

    fn reschedule(&mut self) {
        let now = self.now;
        let is_due = |row: &Row| {
            row.state == State::Waiting
                && row.due_at <= now
                && row.hold_reason.is_some_and(|reason| reason != HoldReason::Digest)
        };
        for index in 0..self.rows.len() {
            let row = &self.rows[index];
            let Some(held) = row.hold_reason.filter(|_| is_due(row)) else { continue };
            let (due, window) =
                reschedule_held(&row.event, held, now, self.muted_until, &self.channel_state());
            self.channel.window = window.or(self.channel.window);
            let row = &mut self.rows[index];
            if let Some(due) = due {
                (row.hold_reason, row.due_at) = (due.hold_reason, due.due_at);
            } else {
                (row.state, row.open) = (State::Cancelled, false);
            }
        }
    }
}
