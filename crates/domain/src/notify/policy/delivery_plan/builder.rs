//! Plans deliveries for each kind of change. A channel that was notified of an opening is notified
//! once of its end; other channels are not.

use std::collections::BTreeSet;

use rules::notification::AlertEvent;
use rules::{IncidentId, Timestamp};

use super::{
    AlertContext, AlertSubject, ChannelState, DeliveryPlan, DeliveryProgress, DueTime, HoldReason,
    NewDelivery, OpenDelivery, schedule,
};
use crate::notify::policy::filter::{
    FilterDecision, PriorDelivery, degraded_due, filter, superseded,
};
use crate::notify::policy::grouping::GroupWindow;
use crate::notify::{CloseReason, Event, EventKind, is_stateful};

/// Builds the plan of one channel for one change.
pub(super) struct PlanBuilder<'a> {
    context: &'a AlertContext,
    channel: &'a ChannelState,
    pub(super) plan: DeliveryPlan,
}

impl<'a> PlanBuilder<'a> {
    pub(super) fn new(context: &'a AlertContext, channel: &'a ChannelState) -> Self {
        Self { context, channel, plan: DeliveryPlan::default() }
    }

    /// Handles an opened incident.
    pub(super) fn incident_opened(&mut self, incident: IncidentId) {
        self.end_others(incident);
        let error = Event { incident: Some(incident), ..self.event(EventKind::Error) };
        let is_notified = self
            .channel
            .open_deliveries
            .iter()
            .any(|it| it.subject == AlertSubject::Incident(incident));
        let decision = filter(&self.channel.preferences, &error, PriorDelivery::NotSent);
        if is_notified || !self.channel.is_linked || decision != FilterDecision::Send {
            return self.cancel_held();
        }
        if self.context.muted_until.is_none_or(|until| until <= self.context.now) {
            self.supersede(&error);
        } else {
            self.cancel_held();
        }
        self.add(error, true);
    }

    /// Replaces earlier or pending messages about a degradation by the error.
    fn supersede(&mut self, error: &Event) {
        let degradations = self.degradations();
        // The error is more important than a held degradation and does not wait for it.
        let is_held = |it: &OpenDelivery| {
            it.is_dropped_at_end()
                || matches!(it.progress, DeliveryProgress::Held(HoldReason::QuietHours, _))
        };
        let (held, sent): (Vec<_>, Vec<_>) = degradations.into_iter().partition(is_held);
        self.plan.cancelled.extend(held.iter().map(|it| it.delivery));
        let since = sent.iter().filter(|it| it.is_notified()).map(|it| it.since).min();
        let end = since.and_then(|since| superseded(self.channel.kind, error, since));
        if let Some(end) = end {
            self.plan.over.extend(sent.iter().map(|it| it.delivery));
            self.add_end(end);
        }
    }

    /// Ends an older incident that is still open when the next one opens, and the degradation that
    /// followed it.
    fn end_others(&mut self, incident: IncidentId) {
        let others = self.channel.open_deliveries.iter().filter_map(|it| match it.subject {
            AlertSubject::Incident(id) if id != incident => Some(id),
            AlertSubject::Incident(_)
            | AlertSubject::TrailingDegradation(_)
            | AlertSubject::Degradation => None,
        });
        for other in others.collect::<BTreeSet<_>>() {
            self.end_incident(other, CloseReason::Recovered);
        }
        for tail in self.trailing_degradations() {
            self.close_trailing(&tail);
            self.end_trailing(&tail, CloseReason::Degraded);
        }
    }

    /// Handles the end of a problem.
    pub(super) fn problem_ended(&mut self, incident: Option<IncidentId>, how: CloseReason) {
        if how == CloseReason::Degraded {
            return self.ended_as_degraded(incident);
        }
        let mut is_notified = incident.is_some_and(|incident| self.end_incident(incident, how));
        for tail in self.trailing_degradations() {
            self.close_trailing(&tail);
            is_notified |= self.end_trailing(&tail, how);
        }
        self.cancel_held();
        let degradations = self.degradations();
        let notified: Vec<_> =
            degradations.iter().copied().filter(OpenDelivery::is_notified).collect();
        let since = notified.iter().map(|it| it.since).min();
        let needs_end = !is_notified || is_stateful(self.channel.kind);
        if let Some(since) = since.filter(|_| needs_end) {
            let end = Event { incident: None, ..self.end(since, how) };
            let (due, _) = self.schedule(end.kind);
            let is_later = |it: &&OpenDelivery| match it.progress {
                DeliveryProgress::Held(HoldReason::QuietHours, due_at) => due_at > due.due_at,
                DeliveryProgress::Held(_, _)
                | DeliveryProgress::AcceptedOrPending
                | DeliveryProgress::Dead => false,
            };
            if notified.iter().all(|it| is_later(&it)) {
                // It began and ended while the channel was held.
                self.plan.cancelled.extend(notified.iter().map(|it| it.delivery));
                return;
            }
            self.add_end(end);
        }
        let cancelled = &self.plan.cancelled;
        let over = degradations.iter().filter(|it| !cancelled.contains(&it.delivery));
        let over: Vec<_> = over.map(|it| it.delivery).collect();
        self.plan.over.extend(over);
    }

    /// Handles an incident that ended as a degradation. A channel that wants degradations is
    /// notified if this one lasts, and once of the end of both; other channels are notified of the
    /// end now.
    fn ended_as_degraded(&mut self, incident: Option<IncidentId>) {
        let goes_on = self.channel.is_linked && self.wants_degraded();
        match incident {
            Some(incident) if !goes_on => {
                self.end_incident(incident, CloseReason::Degraded);
            }
            Some(incident) => match self.close_incident(incident) {
                Some(since) => self.add_trailing_degradation(incident, since),
                None => self.degraded(),
            },
            None => self.degraded(),
        }
    }

    /// Schedules the message that the monitor is still degraded.
    fn add_trailing_degradation(&mut self, incident: IncidentId, since: Timestamp) {
        let due_at = degraded_due(self.context.at, self.context.period);
        let event = Event {
            at: due_at,
            incident: Some(incident),
            began_at: since,
            ..self.event(EventKind::StillDegraded)
        };
        let due = DueTime { due_at, hold_reason: Some(HoldReason::MinDuration) };
        self.plan.written.push(NewDelivery { event, due, opens: true });
    }

    /// Returns the degradations after incidents that have not ended for the channel.
    fn trailing_degradations(&self) -> Vec<OpenDelivery> {
        let is_tail =
            |it: &&OpenDelivery| matches!(it.subject, AlertSubject::TrailingDegradation(_));
        self.channel.open_deliveries.iter().filter(is_tail).copied().collect()
    }

    fn close_trailing(&mut self, tail: &OpenDelivery) {
        let numbers = if tail.is_held() { &mut self.plan.cancelled } else { &mut self.plan.over };
        numbers.push(tail.delivery);
    }

    /// Adds the end of an incident and of the degradation after it. Returns whether the channel
    /// wants it.
    fn end_trailing(&mut self, tail: &OpenDelivery, how: CloseReason) -> bool {
        let AlertSubject::TrailingDegradation(incident) = tail.subject else { return false };
        let end = Event { incident: Some(incident), ..self.end(tail.since, how) };
        self.add_end(end)
    }

    /// Ends an incident; returns whether the channel is notified.
    fn end_incident(&mut self, incident: IncidentId, how: CloseReason) -> bool {
        let Some(since) = self.close_incident(incident) else { return false };
        let end = Event { incident: Some(incident), ..self.end(since, how) };
        self.add_end(end)
    }

    /// Closes the deliveries of an incident. Returns its start if the channel was notified of it.
    fn close_incident(&mut self, incident: IncidentId) -> Option<Timestamp> {
        let of_it = self
            .channel
            .open_deliveries
            .iter()
            .filter(|it| it.subject == AlertSubject::Incident(incident));
        let mut since = None;
        for delivery in of_it {
            if delivery.is_dropped_at_end() {
                self.plan.cancelled.push(delivery.delivery);
                continue;
            }
            self.plan.over.push(delivery.delivery);
            since = since.or(Some(delivery.since).filter(|_| delivery.is_notified()));
        }
        since
    }

    /// Handles a degradation: the channel may be notified if it lasts.
    pub(super) fn degraded(&mut self) {
        let event = self.event(EventKind::Degraded);
        let degradations = self.degradations();
        let is_held = degradations.iter().any(OpenDelivery::is_dropped_at_end);
        let is_notified = degradations.iter().any(OpenDelivery::is_notified);
        let opening = if is_notified { PriorDelivery::Sent } else { PriorDelivery::NotSent };
        let decision = filter(&self.channel.preferences, &event, opening);
        let is_followed = !self.trailing_degradations().is_empty();
        if is_held || is_followed || !self.channel.is_linked || decision != FilterDecision::Send {
            return;
        }
        let due_at = degraded_due(self.context.at, self.context.period);
        let event = Event { at: due_at, ..event };
        let due = DueTime { due_at, hold_reason: Some(HoldReason::MinDuration) };
        self.plan.written.push(NewDelivery { event, due, opens: true });
    }

    /// Cancels held messages about a degradation.
    pub(super) fn cancel_held(&mut self) {
        let held = self.degradations().into_iter().filter(OpenDelivery::is_dropped_at_end);
        self.plan.cancelled.extend(held.map(|it| it.delivery));
    }

    fn add_end(&mut self, end: Event) -> bool {
        let is_wanted =
            filter(&self.channel.preferences, &end, PriorDelivery::Sent) == FilterDecision::Send;
        if is_wanted {
            self.add(end, false);
        }
        is_wanted
    }

    fn add(&mut self, event: Event, opens: bool) {
        let (due, window) = self.schedule(event.kind);
        self.plan.window = window.or(self.plan.window);
        self.plan.written.push(NewDelivery { event, due, opens });
    }

    fn schedule(&self, kind: EventKind) -> (DueTime, Option<GroupWindow>) {
        let window = self.plan.window.or(self.channel.window);
        let channel = ChannelState { window, open_deliveries: Vec::new(), ..self.channel.clone() };
        schedule(kind, self.context.now, self.context.muted_until, &channel)
    }

    fn wants_degraded(&self) -> bool {
        self.channel.preferences.includes(AlertEvent::Degraded)
    }

    fn degradations(&self) -> Vec<OpenDelivery> {
        let open = self.channel.open_deliveries.iter();
        open.filter(|it| it.subject == AlertSubject::Degradation).copied().collect()
    }

    fn end(&self, since: Timestamp, how: CloseReason) -> Event {
        let closed = Some(how);
        Event { began_at: since, closed, ..self.event(EventKind::Recovered) }
    }

    fn event(&self, kind: EventKind) -> Event {
        let context = self.context;
        Event {
            kind,
            at: context.at,
            workspace: context.workspace.clone(),
            monitor: context.monitor.clone(),
            incident: None,
            began_at: context.at,
            closed: None,
            cause: context.cause.clone(),
            reminder: 0,
        }
    }
}
