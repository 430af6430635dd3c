//! What one delivery tells: an event of a monitor to a channel, or news of a page to a subscriber.

use rules::Timestamp;

use super::event::Event;
use super::news::News;

/// What one delivery tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// To a channel.
    Alert(Box<Event>),
    /// To a page, and from there to its subscribers.
    News(Box<News>),
}

impl Content {
    /// When it happened.
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Alert(event) => event.at,
            Self::News(news) => news.at,
        }
    }

    /// Returns name and identifier of the monitor or page, for the log.
    pub fn about(&self) -> String {
        match self {
            Self::Alert(event) => {
                format!("monitor `{}` ({})", event.monitor.name, event.monitor.id)
            }
            Self::News(news) => format!("page `{}` ({})", news.page.title, news.page.id),
        }
    }

    /// What a channel is told; `None` where it is for subscribers.
    pub fn alert(&self) -> Option<&Event> {
        match self {
            Self::Alert(event) => Some(event),
            Self::News(_) => None,
        }
    }

    /// What subscribers are told; `None` where it is for a channel.
    pub fn news(&self) -> Option<&News> {
        match self {
            Self::Alert(_) => None,
            Self::News(news) => Some(news),
        }
    }
}
