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
use crate::notify::{Event, EventKind, StoredCloseReason, is_stateful};

/// Builds the plan of one channel for one change.
pub(super) struct Teller<'a> {
    scene: &'a AlertContext,
    hearer: &'a ChannelState,
    pub(super) telling: DeliveryPlan,
}

impl<'a> Teller<'a> {
    pub(super) fn new(scene: &'a AlertContext, hearer: &'a ChannelState) -> Self {
        Self { scene, hearer, telling: DeliveryPlan::default() }
    }

    /// Handles an opened incident.
    pub(super) fn down(&mut self, incident: IncidentId) {
        self.end_others(incident);
        let error = Event { incident: Some(incident), ..self.event(EventKind::Error) };
        let is_told =
            self.hearer.told.iter().any(|told| told.matter == AlertSubject::Incident(incident));
        let hears = filter(&self.hearer.wishes, &error, PriorDelivery::NotHeard);
        if is_told || !self.hearer.is_linked || hears != FilterDecision::Yes {
            return self.forget_held();
        }
        if self.scene.muted_until.is_none_or(|until| until <= self.scene.now) {
            self.supersede(&error);
        } else {
            self.forget_held();
        }
        self.write(error, true);
    }

    /// Replaces earlier or pending messages about a degradation by the error.
    fn supersede(&mut self, error: &Event) {
        let degradations = self.degradations();
        // The error is more important than a held degradation and does not wait for it.
        let is_held = |told: &OpenDelivery| {
            told.is_void_when_over()
                || matches!(told.stands, DeliveryProgress::Held(HoldReason::QuietHours, _))
        };
        let (held, told): (Vec<_>, Vec<_>) = degradations.into_iter().partition(is_held);
        self.telling.cancelled.extend(held.iter().map(|told| told.delivery));
        let since = told.iter().filter(|told| told.is_heard()).map(|told| told.since).min();
        let end = since.and_then(|since| superseded(self.hearer.kind, error, since));
        if let Some(end) = end {
            self.telling.over.extend(told.iter().map(|told| told.delivery));
            self.tell_end(end);
        }
    }

    /// Ends an older incident that is still open when the next one opens, and the degradation that
    /// followed it.
    fn end_others(&mut self, incident: IncidentId) {
        let others = self.hearer.told.iter().filter_map(|told| match told.matter {
            AlertSubject::Incident(id) if id != incident => Some(id),
            AlertSubject::Incident(_) | AlertSubject::Tail(_) | AlertSubject::Degradation => None,
        });
        for other in others.collect::<BTreeSet<_>>() {
            self.incident_over(other, StoredCloseReason::Recovered);
        }
        for tail in self.tails() {
            self.close_tail(&tail);
            self.end_tail(&tail, StoredCloseReason::Degraded);
        }
    }

    /// Handles the end of a problem.
    pub(super) fn over(&mut self, incident: Option<IncidentId>, how: StoredCloseReason) {
        if how == StoredCloseReason::Degraded {
            return self.over_as_degraded(incident);
        }
        let mut is_told = incident.is_some_and(|incident| self.incident_over(incident, how));
        for tail in self.tails() {
            self.close_tail(&tail);
            is_told |= self.end_tail(&tail, how);
        }
        self.forget_held();
        let degradations = self.degradations();
        let heard: Vec<_> = degradations.iter().copied().filter(OpenDelivery::is_heard).collect();
        let since = heard.iter().map(|told| told.since).min();
        let needs_end = !is_told || is_stateful(self.hearer.kind);
        if let Some(since) = since.filter(|_| needs_end) {
            let end = Event { incident: None, ..self.end(since, how) };
            let (placed, _) = self.place(end.kind);
            let is_later = |told: &&OpenDelivery| match told.stands {
                DeliveryProgress::Held(HoldReason::QuietHours, due_at) => due_at > placed.due_at,
                DeliveryProgress::Held(_, _) | DeliveryProgress::Sent | DeliveryProgress::Lost => {
                    false
                }
            };
            if heard.iter().all(|told| is_later(&told)) {
                // It began and ended while the channel was held.
                self.telling.cancelled.extend(heard.iter().map(|told| told.delivery));
                return;
            }
            self.tell_end(end);
        }
        let cancelled = &self.telling.cancelled;
        let over = degradations.iter().filter(|told| !cancelled.contains(&told.delivery));
        let over: Vec<_> = over.map(|told| told.delivery).collect();
        self.telling.over.extend(over);
    }

    /// Handles an incident that ended as a degradation. A channel that wants degradations is
    /// notified if this one lasts, and once of the end of both; other channels are notified of the
    /// end now.
    fn over_as_degraded(&mut self, incident: Option<IncidentId>) {
        let goes_on = self.hearer.is_linked && self.wants_degraded();
        match incident {
            Some(incident) if !goes_on => {
                self.incident_over(incident, StoredCloseReason::Degraded);
            }
            Some(incident) => match self.close_incident(incident) {
                Some(since) => self.begin_tail(incident, since),
                None => self.degraded(),
            },
            None => self.degraded(),
        }
    }

    /// Schedules the message that the monitor is still degraded.
    fn begin_tail(&mut self, incident: IncidentId, since: Timestamp) {
        let due_at = degraded_due(self.scene.at, self.scene.period);
        let event = Event {
            at: due_at,
            incident: Some(incident),
            began_at: since,
            ..self.event(EventKind::StillDegraded)
        };
        let place = DueTime { due_at, holds: Some(HoldReason::MinDuration) };
        self.telling.written.push(NewDelivery { event, place, opens: true });
    }

    /// Returns the degradations after incidents that have not ended for the channel.
    fn tails(&self) -> Vec<OpenDelivery> {
        let is_tail = |told: &&OpenDelivery| matches!(told.matter, AlertSubject::Tail(_));
        self.hearer.told.iter().filter(is_tail).copied().collect()
    }

    fn close_tail(&mut self, tail: &OpenDelivery) {
        let numbers =
            if tail.is_held() { &mut self.telling.cancelled } else { &mut self.telling.over };
        numbers.push(tail.delivery);
    }

    /// Adds the end of an incident and of the degradation after it. Returns whether the channel
    /// wants it.
    fn end_tail(&mut self, tail: &OpenDelivery, how: StoredCloseReason) -> bool {
        let AlertSubject::Tail(incident) = tail.matter else { return false };
        let end = Event { incident: Some(incident), ..self.end(tail.since, how) };
        self.tell_end(end)
    }

    /// Ends an incident; returns whether the channel is notified.
    fn incident_over(&mut self, incident: IncidentId, how: StoredCloseReason) -> bool {
        let Some(since) = self.close_incident(incident) else { return false };
        let end = Event { incident: Some(incident), ..self.end(since, how) };
        self.tell_end(end)
    }

    /// Closes the deliveries of an incident. Returns its start if the channel was notified of it.
    fn close_incident(&mut self, incident: IncidentId) -> Option<Timestamp> {
        let of_it =
            self.hearer.told.iter().filter(|it| it.matter == AlertSubject::Incident(incident));
        let mut since = None;
        for told in of_it {
            if told.is_void_when_over() {
                self.telling.cancelled.push(told.delivery);
                continue;
            }
            self.telling.over.push(told.delivery);
            since = since.or(Some(told.since).filter(|_| told.is_heard()));
        }
        since
    }

    /// Handles a degradation: the channel may be notified if it lasts.
    pub(super) fn degraded(&mut self) {
        let event = self.event(EventKind::Degraded);
        let degradations = self.degradations();
        let is_held = degradations.iter().any(OpenDelivery::is_void_when_over);
        let is_heard = degradations.iter().any(OpenDelivery::is_heard);
        let opening = if is_heard { PriorDelivery::Heard } else { PriorDelivery::NotHeard };
        let hears = filter(&self.hearer.wishes, &event, opening);
        let is_followed = !self.tails().is_empty();
        if is_held || is_followed || !self.hearer.is_linked || hears != FilterDecision::Yes {
            return;
        }
        let due_at = degraded_due(self.scene.at, self.scene.period);
        let event = Event { at: due_at, ..event };
        let place = DueTime { due_at, holds: Some(HoldReason::MinDuration) };
        self.telling.written.push(NewDelivery { event, place, opens: true });
    }

    /// Cancels held messages about a degradation.
    pub(super) fn forget_held(&mut self) {
        let held = self.degradations().into_iter().filter(OpenDelivery::is_void_when_over);
        self.telling.cancelled.extend(held.map(|told| told.delivery));
    }

    fn tell_end(&mut self, end: Event) -> bool {
        let is_wished =
            filter(&self.hearer.wishes, &end, PriorDelivery::Heard) == FilterDecision::Yes;
        if is_wished {
            self.write(end, false);
        }
        is_wished
    }

    fn write(&mut self, event: Event, opens: bool) {
        let (place, window) = self.place(event.kind);
        self.telling.window = window.or(self.telling.window);
        self.telling.written.push(NewDelivery { event, place, opens });
    }

    fn place(&self, kind: EventKind) -> (DueTime, Option<GroupWindow>) {
        let window = self.telling.window.or(self.hearer.window);
        let hearer = ChannelState { window, told: Vec::new(), ..self.hearer.clone() };
        schedule(kind, self.scene.now, self.scene.muted_until, &hearer)
    }

    fn wants_degraded(&self) -> bool {
        self.hearer.wishes.want(AlertEvent::Degraded)
    }

    fn degradations(&self) -> Vec<OpenDelivery> {
        let told = self.hearer.told.iter();
        told.filter(|told| told.matter == AlertSubject::Degradation).copied().collect()
    }

    fn end(&self, since: Timestamp, how: StoredCloseReason) -> Event {
        let closed = Some(how);
        Event { began_at: since, closed, ..self.event(EventKind::Recovered) }
    }

    fn event(&self, kind: EventKind) -> Event {
        let scene = self.scene;
        Event {
            kind,
            at: scene.at,
            workspace: scene.workspace.clone(),
            monitor: scene.monitor.clone(),
            incident: None,
            began_at: scene.at,
            closed: None,
            grounds: scene.grounds.clone(),
            reminder: 0,
        }
    }
}
