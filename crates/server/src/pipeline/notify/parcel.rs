//! What goes out as one message: one delivery, or those of a storm together. Pure; in order per monitor:
//! while something of a monitor is on its way, nothing else of it begins.

use std::collections::HashSet;

use domain::notify::{Event, Holds, STORM_EVENTS_MAX, keeps_alerts, storm_key};
use rules::{ChannelId, DeliveryId, MonitorId, ProviderType, Timestamp};
use store::Due;

/// One message that is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parcel {
    /// What it tells, oldest first; never empty.
    pub(super) dues: Vec<Due>,
    storm: Option<Storm>,
}

/// A storm that is told in one message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Storm {
    key: String,
    /// Whether what belongs to it was written down.
    is_fixed: bool,
}

/// What is on its way.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    ids: HashSet<DeliveryId>,
    monitors: HashSet<MonitorId>,
}

impl Parcel {
    /// The same in every try.
    pub(super) fn key(&self) -> &str {
        match (&self.storm, self.dues.as_slice()) {
            (Some(storm), _) => &storm.key,
            (None, [due, ..]) => &due.key,
            (None, []) => unreachable!("a parcel tells something"),
        }
    }

    pub(super) const fn is_storm(&self) -> bool {
        self.storm.is_some()
    }

    /// The key of a storm whose set is to be written down before its first try.
    pub(super) fn fresh_storm(&self) -> Option<&str> {
        self.storm.as_ref().filter(|storm| !storm.is_fixed).map(|storm| storm.key.as_str())
    }

    pub(super) fn ids(&self) -> Vec<DeliveryId> {
        self.dues.iter().map(|due| due.id).collect()
    }

    pub(super) fn events(&self) -> Vec<Event> {
        self.dues.iter().map(|due| due.event.clone()).collect()
    }

    /// When it was tried first.
    pub(super) fn first_try_at(&self) -> Option<Timestamp> {
        self.dues.iter().filter_map(|due| due.first_try_at).min()
    }

    /// How often it was tried.
    pub(super) fn tries(&self) -> u32 {
        self.dues.iter().map(|due| due.tries).max().unwrap_or(0)
    }
}

impl UnderWay {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn add(&mut self, parcel: &Parcel) {
        self.ids.extend(parcel.dues.iter().map(|due| due.id));
        self.monitors.extend(parcel.dues.iter().filter_map(|due| due.monitor));
    }

    pub(super) fn remove(&mut self, parcel: &Parcel) {
        for due in &parcel.dues {
            self.ids.remove(&due.id);
            if let Some(monitor) = &due.monitor {
                self.monitors.remove(monitor);
            }
        }
    }

    fn holds(&self, due: &Due) -> bool {
        self.ids.contains(&due.id) || due.monitor.is_some_and(|it| self.monitors.contains(&it))
    }
}

/// What of `dues`, in their order, can be sent now through `channel`. Kinds that keep alerts are told
/// one by one also where the channel was of another kind when a storm began.
pub(super) fn parcels(
    kind: ProviderType,
    channel: ChannelId,
    dues: Vec<Due>,
    under_way: &UnderWay,
) -> Vec<Parcel> {
    let mut parcels: Vec<Parcel> = Vec::new();
    let mut taken: HashSet<MonitorId> = HashSet::new();
    for due in dues {
        if under_way.holds(&due) {
            continue;
        }
        let group = if keeps_alerts(kind) { None } else { Group::of(&due) };
        let into = group
            .as_ref()
            .and_then(|group| parcels.iter_mut().rev().find(|parcel| group.takes(parcel)));
        if let Some(parcel) = into {
            taken.extend(due.monitor);
            parcel.dues.push(due);
        } else if due.monitor.is_none_or(|monitor| taken.insert(monitor)) {
            parcels.push(Parcel { dues: vec![due], storm: group.map(Group::storm) });
        }
    }
    for parcel in &mut parcels {
        parcel.settle(channel);
    }
    parcels
}

/// The storm that a delivery belongs to.
enum Group {
    /// One that was begun.
    Begun(String),
    /// The one that begins now.
    Fresh,
}

impl Group {
    fn of(due: &Due) -> Option<Self> {
        match (&due.storm, due.holds) {
            (Some(key), _) => Some(Self::Begun(key.clone())),
            (None, Some(Holds::Storm)) => Some(Self::Fresh),
            (None, Some(Holds::Lasting | Holds::Maintenance | Holds::Quiet) | None) => None,
        }
    }

    fn takes(&self, parcel: &Parcel) -> bool {
        match (self, &parcel.storm) {
            (_, None) => false,
            (Self::Begun(key), Some(storm)) => storm.is_fixed && storm.key == *key,
            (Self::Fresh, Some(storm)) => !storm.is_fixed && parcel.dues.len() < STORM_EVENTS_MAX,
        }
    }

    fn storm(self) -> Storm {
        match self {
            Self::Begun(key) => Storm { key, is_fixed: true },
            Self::Fresh => Storm { key: String::new(), is_fixed: false },
        }
    }
}

impl Parcel {
    /// A storm that begins gets its key; one of a single event is none.
    fn settle(&mut self, channel: ChannelId) {
        let events = self.fresh_storm().is_some().then(|| self.events());
        match events {
            Some(events) if events.len() > 1 => {
                self.storm = Some(Storm { key: storm_key(channel, &events), is_fixed: false });
            }
            Some(_) => self.storm = None,
            None => {}
        }
    }
}
