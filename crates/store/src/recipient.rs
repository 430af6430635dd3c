//! Recipient and ordering key of a delivery. The database stores the recipient as its kind and its
//! identifier.

use std::fmt;

use rules::{ChannelId, MonitorId, PageId, SubscriberId};

use crate::StoreError;
use crate::db::Row;
use crate::row::id;

const CHANNEL: &str = "channel";
const PAGE: &str = "page";
const SUBSCRIBER: &str = "subscriber";

/// Recipient of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Recipient {
    /// Channel, which receives alerts of monitors.
    Channel(ChannelId),
    /// Status page, which fans out events to its subscribers.
    Page(PageId),
    /// Subscriber of a status page.
    Subscriber(SubscriberId),
}

/// Ordering key: at one recipient, deliveries of one key are sent in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OrderingKey {
    /// Deliveries about the same monitor.
    Monitor(MonitorId),
    /// Deliveries about the same report, maintenance window or incident.
    Thread(String),
    /// No order: it is a test.
    Unordered,
}

impl Recipient {
    /// Reads the columns `recipient_kind` and `recipient_id`.
    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        const ID: &str = "recipient_id";
        match row.try_get("recipient_kind")? {
            CHANNEL => id(row, ID, ChannelId::parse).map(Self::Channel),
            PAGE => id(row, ID, PageId::parse).map(Self::Page),
            SUBSCRIBER => id(row, ID, SubscriberId::parse).map(Self::Subscriber),
            kind => {
                let why = format!("unknown kind of recipient `{kind}`");
                Err(StoreError::corrupt("column `recipient_kind`".to_owned(), why))
            }
        }
    }

    /// Returns the stored kind.
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            Self::Channel(_) => CHANNEL,
            Self::Page(_) => PAGE,
            Self::Subscriber(_) => SUBSCRIBER,
        }
    }

    /// Returns the stored identifier, which is unique among recipients of all kinds.
    pub(crate) fn id(self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(id) => id.fmt(f),
            Self::Page(id) => id.fmt(f),
            Self::Subscriber(id) => id.fmt(f),
        }
    }
}

impl From<ChannelId> for Recipient {
    fn from(id: ChannelId) -> Self {
        Self::Channel(id)
    }
}

impl From<PageId> for Recipient {
    fn from(id: PageId) -> Self {
        Self::Page(id)
    }
}

impl From<SubscriberId> for Recipient {
    fn from(id: SubscriberId) -> Self {
        Self::Subscriber(id)
    }
}
