//! Whom a delivery is for, and what it must stay in order with. In the database the first is one
//! column, whose prefix says what it is.

use std::fmt;

use rules::{ChannelId, MonitorId, PageId, SubscriberId};

/// Whom a delivery is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Addressee {
    /// A channel, which is told of monitors.
    Channel(ChannelId),
    /// A status page, which passes on to its subscribers what it is told.
    Page(PageId),
    /// One of them.
    Subscriber(SubscriberId),
}

/// What a delivery must not overtake at its addressee.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Follows {
    /// What is told of the same monitor.
    Monitor(MonitorId),
    /// What is told of the same report, window of maintenance or incident.
    Thread(String),
    /// Nothing: it is a test.
    Nothing,
}

impl Addressee {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let unknown = || format!("`{text}` is nobody whom anything is delivered to");
        let channel = ChannelId::parse(text).ok().map(Self::Channel);
        let page = || PageId::parse(text).ok().map(Self::Page);
        let subscriber = || SubscriberId::parse(text).ok().map(Self::Subscriber);
        channel.or_else(page).or_else(subscriber).ok_or_else(unknown)
    }
}

impl fmt::Display for Addressee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(id) => id.fmt(f),
            Self::Page(id) => id.fmt(f),
            Self::Subscriber(id) => id.fmt(f),
        }
    }
}

impl From<ChannelId> for Addressee {
    fn from(id: ChannelId) -> Self {
        Self::Channel(id)
    }
}

impl From<PageId> for Addressee {
    fn from(id: PageId) -> Self {
        Self::Page(id)
    }
}

impl From<SubscriberId> for Addressee {
    fn from(id: SubscriberId) -> Self {
        Self::Subscriber(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_a_delivery_is_for_reads_back_from_its_text() {
        let all: [Addressee; 3] = [
            ChannelId::from_bits(1).into(),
            PageId::from_bits(2).into(),
            SubscriberId::from_bits(3).into(),
        ];
        for addressee in all {
            assert_eq!(Addressee::parse(&addressee.to_string()), Ok(addressee));
        }
        assert!(Addressee::parse("mon_0000000000001").is_err());
    }
}
