//! Recipient and ordering key of a delivery. The database stores the recipient in one column, whose
//! prefix gives its kind.

use std::fmt;

use rules::{ChannelId, MonitorId, PageId, SubscriberId};

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
    /// Parses the text form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let unknown = || format!("unknown recipient `{text}`");
        let channel = ChannelId::parse(text).ok().map(Self::Channel);
        let page = || PageId::parse(text).ok().map(Self::Page);
        let subscriber = || SubscriberId::parse(text).ok().map(Self::Subscriber);
        channel.or_else(page).or_else(subscriber).ok_or_else(unknown)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipient_reads_back_from_its_text() {
        let all: [Recipient; 3] = [
            ChannelId::from_bits(1).into(),
            PageId::from_bits(2).into(),
            SubscriberId::from_bits(3).into(),
        ];
        for recipient in all {
            assert_eq!(Recipient::parse(&recipient.to_string()), Ok(recipient));
        }
        assert!(Recipient::parse("mon_0000000000001").is_err());
    }
}
