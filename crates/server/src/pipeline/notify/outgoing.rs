//! Grouping of deliveries into messages: one delivery, or a digest of several. Pure. Order is kept
//! per monitor or thread: only one message of each is in progress at a time. Deliveries attempted
//! in one digest stay in it, because the receiver may have accepted it under that key.

use std::collections::HashSet;

use domain::notify::{DIGEST_EVENTS_MAX, Event, HoldReason, PageEvent, digest_of, is_stateful};
use rules::{DeliveryId, ProviderType, Timestamp};
use store::{DueDelivery, OrderingKey};

/// Outgoing message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutgoingMessage {
    /// Deliveries of the message, oldest first; never empty.
    pub(super) deliveries: Vec<DueDelivery>,
    digest: Option<Digest>,
}

/// Digest of several deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Digest {
    key: String,
    /// Whether its membership was recorded.
    is_fixed: bool,
}

/// Membership that is recorded before the first attempt, so that all attempts send the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Membership<'p> {
    /// The deliveries are sent together under this key.
    Together(&'p str),
    /// The delivery is sent alone, though it was eligible for a digest.
    Alone(DeliveryId),
}

/// Messages in progress.
#[derive(Debug, Default)]
pub(super) struct InFlightMessages {
    ids: HashSet<DeliveryId>,
    ordering_keys: HashSet<OrderingKey>,
}

impl OutgoingMessage {
    /// Returns the idempotency key, the same in every attempt.
    pub(super) fn key(&self) -> &str {
        match (&self.digest, self.deliveries.as_slice()) {
            (Some(digest), _) => &digest.key,
            (None, [due, ..]) => &due.key,
            (None, []) => unreachable!("an outgoing message has a delivery"),
        }
    }

    pub(super) const fn is_digest(&self) -> bool {
        self.digest.is_some()
    }

    /// Returns the membership to record before sending. Returns `None` if it was recorded.
    pub(super) fn unrecorded_membership(&self) -> Option<Membership<'_>> {
        match (&self.digest, self.deliveries.as_slice()) {
            (Some(digest), _) => (!digest.is_fixed).then_some(Membership::Together(&digest.key)),
            (None, [due, ..]) => Group::for_delivery(due).map(|_| Membership::Alone(due.id)),
            (None, []) => None,
        }
    }

    pub(super) fn ids(&self) -> Vec<DeliveryId> {
        self.deliveries.iter().map(|due| due.id).collect()
    }

    /// Returns the events for a channel.
    pub(super) fn events(&self) -> Vec<Event> {
        self.deliveries.iter().filter_map(|due| due.content.alert().cloned()).collect()
    }

    /// Returns the events for a subscriber.
    pub(super) fn page_events(&self) -> Vec<PageEvent> {
        self.deliveries.iter().filter_map(|due| due.content.page_event().cloned()).collect()
    }

    /// Returns the time of the first attempt.
    pub(super) fn first_attempt_at(&self) -> Option<Timestamp> {
        self.deliveries.iter().filter_map(|due| due.first_attempt_at).min()
    }

    /// Returns the number of attempts.
    pub(super) fn attempts(&self) -> u32 {
        self.deliveries.iter().map(|due| due.attempt_count).max().unwrap_or(0)
    }
}

impl InFlightMessages {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn add(&mut self, message: &OutgoingMessage) {
        self.ids.extend(message.deliveries.iter().map(|due| due.id));
        self.ordering_keys.extend(message.deliveries.iter().filter_map(ordering_key).cloned());
    }

    pub(super) fn remove(&mut self, message: &OutgoingMessage) {
        for due in &message.deliveries {
            self.ids.remove(&due.id);
            if let Some(followed) = ordering_key(due) {
                self.ordering_keys.remove(followed);
            }
        }
    }

    fn conflicts_with(&self, due: &DueDelivery) -> bool {
        self.ids.contains(&due.id)
            || ordering_key(due).is_some_and(|it| self.ordering_keys.contains(it))
    }
}

/// Returns the ordering key of a delivery, if it has one.
const fn ordering_key(due: &DueDelivery) -> Option<&OrderingKey> {
    match &due.ordering_key {
        OrderingKey::Unordered => None,
        follows @ (OrderingKey::Monitor(_) | OrderingKey::Thread(_)) => Some(follows),
    }
}

/// Returns the messages that can be sent now, in the order of `deliveries`. Kinds that keep alerts get
/// one event a message, even if the channel had another kind when a digest began.
pub(super) fn outgoing_messages(
    kind: ProviderType,
    deliveries: Vec<DueDelivery>,
    in_flight: &InFlightMessages,
) -> Vec<OutgoingMessage> {
    let mut messages: Vec<OutgoingMessage> = Vec::new();
    let mut taken: HashSet<OrderingKey> = HashSet::new();
    let torn = incomplete_digests(&deliveries, in_flight);
    for due in deliveries {
        let is_torn = due.digest_key.as_ref().is_some_and(|digest| torn.contains(digest));
        if in_flight.conflicts_with(&due) || (is_torn && !is_stateful(kind)) {
            continue;
        }
        let group = if is_stateful(kind) { None } else { Group::for_delivery(&due) };
        let into = group
            .as_ref()
            .and_then(|group| messages.iter_mut().rev().find(|message| group.can_add(message)));
        if let Some(message) = into {
            taken.extend(ordering_key(&due).cloned());
            message.deliveries.push(due);
        } else if ordering_key(&due).is_none_or(|followed| taken.insert(followed.clone())) {
            messages.push(OutgoingMessage {
                deliveries: vec![due],
                digest: group.map(Group::into_digest),
            });
        }
    }
    for message in &mut messages {
        message.finish_digest();
    }
    messages
}

/// Returns the digests that cannot be sent whole now, because an earlier message of one of their
/// monitors is in progress or due first. Sending the rest would use up the key, and the receiver
/// would drop what follows as a duplicate.
fn incomplete_digests(deliveries: &[DueDelivery], in_flight: &InFlightMessages) -> HashSet<String> {
    let alone = deliveries.iter().filter(|due| Group::for_delivery(due).is_none());
    let before: HashSet<&OrderingKey> = alone.filter_map(ordering_key).collect();
    let waits = |due: &&DueDelivery| {
        in_flight.conflicts_with(due) || ordering_key(due).is_some_and(|it| before.contains(it))
    };
    deliveries.iter().filter(waits).filter_map(|due| due.digest_key.clone()).collect()
}

/// Digest that a delivery belongs to.
enum Group {
    /// A digest that was attempted before.
    Started(String),
    /// The digest that begins now.
    Fresh,
}

impl Group {
    fn for_delivery(due: &DueDelivery) -> Option<Self> {
        match (&due.digest_key, due.hold_reason) {
            (Some(key), _) => Some(Self::Started(key.clone())),
            (None, Some(HoldReason::Digest)) => Some(Self::Fresh),
            (
                None,
                Some(HoldReason::MinDuration | HoldReason::Maintenance | HoldReason::QuietHours)
                | None,
            ) => None,
        }
    }

    fn can_add(&self, message: &OutgoingMessage) -> bool {
        match (self, &message.digest) {
            (_, None) => false,
            (Self::Started(key), Some(digest)) => digest.is_fixed && digest.key == *key,
            (Self::Fresh, Some(digest)) => {
                !digest.is_fixed && message.deliveries.len() < DIGEST_EVENTS_MAX
            }
        }
    }

    fn into_digest(self) -> Digest {
        match self {
            Self::Started(key) => Digest { key, is_fixed: true },
            Self::Fresh => Digest { key: String::new(), is_fixed: false },
        }
    }
}

impl OutgoingMessage {
    /// Gives a new digest its key. A digest of one event becomes a single message.
    fn finish_digest(&mut self) {
        let is_fresh = self.digest.as_ref().is_some_and(|digest| !digest.is_fixed);
        if is_fresh && self.deliveries.len() > 1 {
            let key = digest_of(&self.deliveries[0].key, self.deliveries.len());
            self.digest = Some(Digest { key, is_fixed: false });
        } else if is_fresh {
            self.digest = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::notify::{Cause, EventKind, MonitorSnapshot, Payload};
    use rules::{ChannelId, MonitorId, MonitorKind, WorkspaceId};

    use super::*;

    const CHANNEL: ChannelId = ChannelId::from_bits(1);
    const AT: Timestamp = Timestamp::from_millis(1_000);

    /// Creates a delivery with this number for this monitor.
    fn due(number: u64, monitor: u64) -> DueDelivery {
        let monitor = MonitorId::from_bits(monitor);
        let event = Event {
            kind: EventKind::Error,
            at: AT,
            workspace: String::new(),
            monitor: MonitorSnapshot {
                id: monitor,
                name: String::new(),
                kind: MonitorKind::Tcp,
                target: String::new(),
                method: None,
            },
            incident: None,
            began_at: AT,
            closed: None,
            cause: Cause::default(),
            reminder: 0,
        };
        DueDelivery {
            id: DeliveryId::from_bits(number),
            workspace: WorkspaceId::from_bits(1),
            recipient: CHANNEL.into(),
            ordering_key: OrderingKey::Monitor(monitor),
            key: format!("key-{number}"),
            content: Payload::Alert(Box::new(event)),
            hold_reason: None,
            digest_key: None,
            due_at: AT,
            first_attempt_at: None,
            attempt_count: 0,
            total_attempts: 0,
        }
    }

    fn loose(number: u64, monitor: u64) -> DueDelivery {
        DueDelivery { hold_reason: Some(HoldReason::Digest), ..due(number, monitor) }
    }

    fn begun(number: u64, monitor: u64, key: &str) -> DueDelivery {
        DueDelivery { digest_key: Some(key.to_owned()), attempt_count: 2, ..due(number, monitor) }
    }

    /// Returns the messages as their keys with the numbers of their deliveries.
    fn format_messages(
        kind: ProviderType,
        deliveries: Vec<DueDelivery>,
        in_flight: &InFlightMessages,
    ) -> Vec<String> {
        let show = |message: &OutgoingMessage| {
            let ids: Vec<String> =
                message.deliveries.iter().map(|due| due.id.bits().to_string()).collect();
            let key = message.key().split('-').take(2).collect::<Vec<_>>().join("-");
            let fix = match message.unrecorded_membership() {
                Some(Membership::Together(_)) => " together",
                Some(Membership::Alone(_)) => " alone",
                None => "",
            };
            format!("{key}: {}{fix}", ids.join(" "))
        };
        outgoing_messages(kind, deliveries, in_flight).iter().map(show).collect()
    }

    #[test]
    fn digest_deliveries_share_one_message() {
        let none = InFlightMessages::default();
        let deliveries = vec![due(1, 1), loose(2, 2), loose(3, 3), begun(4, 4, "digest-9-x")];
        assert_eq!(
            format_messages(ProviderType::Slack, deliveries, &none),
            ["key-1: 1", "digest-2: 2 3 together", "digest-9: 4"]
        );
        assert_eq!(
            format_messages(ProviderType::Slack, vec![loose(2, 2)], &none),
            ["key-2: 2 alone"]
        );
    }

    #[test]
    fn started_digest_is_sent_whole_or_waits() {
        let digest = || vec![begun(4, 4, "digest-4-x"), begun(5, 5, "digest-4-x")];
        let deliveries = || [vec![due(1, 5), due(2, 6)], digest(), vec![loose(7, 7)]].concat();
        assert_eq!(
            format_messages(ProviderType::Slack, deliveries(), &InFlightMessages::default()),
            ["key-1: 1", "key-2: 2", "key-7: 7 alone"],
            "a dead letter of one of its monitors goes before it"
        );
        let mut in_flight = InFlightMessages::default();
        let first = outgoing_messages(ProviderType::Slack, vec![due(1, 5)], &in_flight).remove(0);
        in_flight.add(&first);
        assert_eq!(format_messages(ProviderType::Slack, digest(), &in_flight), [""; 0]);
        in_flight.remove(&first);
        assert_eq!(format_messages(ProviderType::Slack, digest(), &in_flight), ["digest-4: 4 5"]);
    }

    #[test]
    fn stateful_kinds_get_one_event_per_message() {
        let deliveries = vec![loose(1, 1), loose(2, 1), begun(3, 2, "digest-2-x"), loose(4, 3)];
        assert_eq!(
            format_messages(ProviderType::Opsgenie, deliveries, &InFlightMessages::default()),
            ["key-1: 1 alone", "key-3: 3 alone", "key-4: 4 alone"]
        );
    }

    #[test]
    fn monitor_has_one_message_in_flight() {
        let mut in_flight = InFlightMessages::default();
        let first = outgoing_messages(ProviderType::Slack, vec![due(1, 1)], &in_flight).remove(0);
        in_flight.add(&first);
        let deliveries = || vec![due(1, 1), due(2, 1), due(3, 2), due(4, 2)];
        assert_eq!(format_messages(ProviderType::Slack, deliveries(), &in_flight), ["key-3: 3"]);
        in_flight.remove(&first);
        assert_eq!(
            format_messages(ProviderType::Slack, deliveries(), &in_flight),
            ["key-1: 1", "key-3: 3"]
        );
    }

    #[test]
    fn oversized_digest_is_split() {
        let deliveries =
            (1..=DIGEST_EVENTS_MAX as u64 + 3).map(|number| loose(number, number)).collect();
        let messages =
            outgoing_messages(ProviderType::Slack, deliveries, &InFlightMessages::default());
        let lengths: Vec<usize> = messages.iter().map(|message| message.deliveries.len()).collect();
        assert_eq!(lengths, [DIGEST_EVENTS_MAX, 3]);
        assert_ne!(messages[0].key(), messages[1].key());
    }
}
