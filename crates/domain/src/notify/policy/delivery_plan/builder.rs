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
        let is_told =
            self.channel.told.iter().any(|told| told.subject == AlertSubject::Incident(incident));
        let hears = filter(&self.channel.preferences, &error, PriorDelivery::NotSent);
        if is_told || !self.channel.is_linked || hears != FilterDecision::Send {
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
        let is_held = |told: &OpenDelivery| {
            told.is_dropped_at_end()
                || matches!(told.progress, DeliveryProgress::Held(HoldReason::QuietHours, _))
        };
        let (held, told): (Vec<_>, Vec<_>) = degradations.into_iter().partition(is_held);
        self.plan.cancelled.extend(held.iter().map(|told| told.delivery));
        let since = told.iter().filter(|told| told.is_notified()).map(|told| told.since).min();
        let end = since.and_then(|since| superseded(self.channel.kind, error, since));
        if let Some(end) = end {
            self.plan.over.extend(told.iter().map(|told| told.delivery));
            self.add_end(end);
        }
    }

    /// Ends an older incident that is still open when the next one opens, and the degradation that
    /// followed it.
    fn end_others(&mut self, incident: IncidentId) {
        let others = self.channel.told.iter().filter_map(|told| match told.subject {
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
        let mut is_told = incident.is_some_and(|incident| self.end_incident(incident, how));
        for tail in self.trailing_degradations() {
            self.close_trailing(&tail);
            is_told |= self.end_trailing(&tail, how);
        }
        self.cancel_held();
        let degradations = self.degradations();
        let heard: Vec<_> =
            degradations.iter().copied().filter(OpenDelivery::is_notified).collect();
        let since = heard.iter().map(|told| told.since).min();
        let needs_end = !is_told || is_stateful(self.channel.kind);
        if let Some(since) = since.filter(|_| needs_end) {
            let end = Event { incident: None, ..self.end(since, how) };
            let (due, _) = self.schedule(end.kind);
            let is_later = |told: &&OpenDelivery| match told.progress {
                DeliveryProgress::Held(HoldReason::QuietHours, due_at) => due_at > due.due_at,
                DeliveryProgress::Held(_, _) | DeliveryProgress::Sent | DeliveryProgress::Dead => {
                    false
                }
            };
            if heard.iter().all(|told| is_later(&told)) {
                // It began and ended while the channel was held.
                self.plan.cancelled.extend(heard.iter().map(|told| told.delivery));
                return;
            }
            self.add_end(end);
        }
        let cancelled = &self.plan.cancelled;
        let over = degradations.iter().filter(|told| !cancelled.contains(&told.delivery));
        let over: Vec<_> = over.map(|told| told.delivery).collect();
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
            |told: &&OpenDelivery| matches!(told.subject, AlertSubject::TrailingDegradation(_));
        self.channel.told.iter().filter(is_tail).copied().collect()
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
        let of_it =
            self.channel.told.iter().filter(|it| it.subject == AlertSubject::Incident(incident));
        let mut since = None;
        for told in of_it {
            if told.is_dropped_at_end() {
                self.plan.cancelled.push(told.delivery);
                continue;
            }
            self.plan.over.push(told.delivery);
            since = since.or(Some(told.since).filter(|_| told.is_notified()));
        }
        since
    }

    /// Handles a degradation: the channel may be notified if it lasts.
    pub(super) fn degraded(&mut self) {
        let event = self.event(EventKind::Degraded);
        let degradations = self.degradations();
        let is_held = degradations.iter().any(OpenDelivery::is_dropped_at_end);
        let is_heard = degradations.iter().any(OpenDelivery::is_notified);
        let opening = if is_heard { PriorDelivery::Sent } else { PriorDelivery::NotSent };
        let hears = filter(&self.channel.preferences, &event, opening);
        let is_followed = !self.trailing_degradations().is_empty();
        if is_held || is_followed || !self.channel.is_linked || hears != FilterDecision::Send {
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
        self.plan.cancelled.extend(held.map(|told| told.delivery));
    }

    fn add_end(&mut self, end: Event) -> bool {
        let is_wished =
            filter(&self.channel.preferences, &end, PriorDelivery::Sent) == FilterDecision::Send;
        if is_wished {
            self.add(end, false);
        }
        is_wished
    }

    fn add(&mut self, event: Event, opens: bool) {
        let (due, window) = self.schedule(event.kind);
        self.plan.window = window.or(self.plan.window);
        self.plan.written.push(NewDelivery { event, due, opens });
    }

    fn schedule(&self, kind: EventKind) -> (DueTime, Option<GroupWindow>) {
        let window = self.plan.window.or(self.channel.window);
        let channel = ChannelState { window, told: Vec::new(), ..self.channel.clone() };
        schedule(kind, self.context.now, self.context.muted_until, &channel)
    }

    fn wants_degraded(&self) -> bool {
        self.channel.preferences.includes(AlertEvent::Degraded)
    }

    fn degradations(&self) -> Vec<OpenDelivery> {
        let told = self.channel.told.iter();
        told.filter(|told| told.subject == AlertSubject::Degradation).copied().collect()
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
