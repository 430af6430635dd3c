//! Queries of the model: its deliveries, and violations of their order.

use std::collections::BTreeSet;

use super::*;
use crate::notify::tests::CHANNEL;
use crate::notify::{delivery_key, is_stateful};

impl DeliveredEvent {
    /// Returns the duration in a recovery message.
    pub(in super::super) fn recovered_after(&self) -> Option<Duration> {
        (self.0.kind == EventKind::Recovered).then(|| self.0.duration())
    }

    pub(in super::super) fn format(&self) -> String {
        let event = &self.0;
        match (event.kind, event.closed, event.reminder) {
            (EventKind::Recovered, None | Some(CloseReason::Recovered), _) => {
                "recovered".to_owned()
            }
            (EventKind::Recovered, Some(CloseReason::Degraded), _) => "over as degraded".to_owned(),
            (EventKind::Recovered, Some(CloseReason::Paused), _) => "over as paused".to_owned(),
            (EventKind::Recovered, Some(CloseReason::Deleted), _) => "over as deleted".to_owned(),
            (EventKind::Recovered, Some(CloseReason::Resolved), _) => "over as resolved".to_owned(),
            (kind, _, 0) => kind.as_str().to_owned(),
            (kind, _, number) => format!("still {} ({number})", kind.as_str()),
        }
    }
}

impl Model {
    /// Returns all delivered messages, then those that would be sent as time passes.
    pub(in super::super) fn delivered(&self) -> Vec<DeliveredEvent> {
        let mut delivered: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| match row.state {
                State::Arrived | State::Dead => true,
                State::Waiting => row.hold_reason.is_none(),
                State::Cancelled => false,
            })
            .collect();
        delivered
            .sort_by_key(|row| if row.state == State::Waiting { usize::MAX } else { row.done });
        delivered.into_iter().map(|row| DeliveredEvent(row.event.clone())).collect()
    }

    pub(in super::super) fn waiting(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.state == State::Waiting)
    }

    pub(in super::super) fn open(&self) -> usize {
        self.rows.iter().filter(|row| row.open).count()
    }

    /// Returns a key that was used twice.
    pub(in super::super) fn twice(&self) -> Option<String> {
        let mut keys = BTreeSet::new();
        let mut all = self.rows.iter().map(|row| delivery_key(CHANNEL, &row.event));
        all.find(|key| !keys.insert(key.clone()))
    }

    pub(in super::super) fn incidents(&self) -> Vec<IncidentId> {
        (1..=self.incidents).map(IncidentId::from_bits).collect()
    }

    pub(in super::super) fn openings(&self, incident: IncidentId) -> usize {
        let is_opening = |row: &&Row| row.event.kind == EventKind::Error && row.event.reminder == 0;
        self.rows_of(incident).filter(is_opening).filter(|row| row.state == State::Arrived).count()
    }

    pub(in super::super) fn ends(&self, incident: IncidentId) -> usize {
        self.rows_of(incident).filter(|row| row.event.kind == EventKind::Recovered).count()
    }

    pub(in super::super) fn arrived(&self, incident: IncidentId) -> bool {
        self.openings(incident) == 1
    }

    /// Returns whether an opening of the incident was sent or attempted.
    pub(in super::super) fn was_written(&self, incident: IncidentId) -> bool {
        let is_opening = |row: &Row| row.event.kind == EventKind::Error && row.event.reminder == 0;
        self.rows_of(incident).any(|row| is_opening(row) && row.state != State::Cancelled)
    }

    /// Returns a pair of messages delivered in the wrong order.
    pub(in super::super) fn out_of_order(&self) -> Option<(i64, i64)> {
        let mut arrived: Vec<_> =
            self.rows.iter().filter(|it| it.state == State::Arrived).collect();
        arrived.sort_by_key(|row| row.done);
        let is_end = |row: &Row| row.event.kind == EventKind::Recovered;
        let mut pairs = arrived.windows(2);
        // A held message may follow a later one, but an end never precedes its opening.
        let wrong = pairs.find(|pair| {
            is_end(pair[0])
                && pair[1].event.incident == pair[0].event.incident
                && pair[1].event.incident.is_some()
        });
        wrong.map(|pair| (pair[0].number, pair[1].number))
    }

    /// Returns whether a degradation was sent, but not its end.
    pub(in super::super) fn is_degradation_left(&self) -> bool {
        let mut arrived: Vec<_> =
            self.rows.iter().filter(|it| it.state == State::Arrived).collect();
        arrived.sort_by_key(|row| row.done);
        let last = arrived.iter().rposition(|row| row.event.kind == EventKind::Degraded);
        let Some(last) = last else { return false };
        let keeps = is_stateful(self.channel.kind);
        let ends = |row: &&Row| {
            row.event.kind == EventKind::Recovered && (row.event.incident.is_none() || !keeps)
        };
        // Its end may be a dead letter.
        let after = self.rows.iter().filter(|row| row.number > arrived[last].number);
        !after.filter(|row| row.state != State::Cancelled).any(|row| ends(&row))
    }

    fn rows_of(&self, incident: IncidentId) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.event.incident == Some(incident))
    }
}
