//! The payload of one delivery: a monitor event for a channel, or a page event for a subscriber.

use rules::Timestamp;

use super::event::Event;
use super::page_event::PageEvent;

/// The payload of one delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// For a channel.
    Alert(Box<Event>),
    /// For a page and its subscribers.
    PageEvent(Box<PageEvent>),
}

impl Payload {
    /// Returns the time of the event.
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Alert(event) => event.at,
            Self::PageEvent(page_event) => page_event.at,
        }
    }

    /// Returns name and ID of the monitor or page, for the log.
    pub fn about(&self) -> String {
        match self {
            Self::Alert(event) => {
                format!("monitor `{}` ({})", event.monitor.name, event.monitor.id)
            }
            Self::PageEvent(page_event) => {
                format!("page `{}` ({})", page_event.page.title, page_event.page.id)
            }
        }
    }

    /// Returns the event for a channel, if it is one.
    pub fn alert(&self) -> Option<&Event> {
        match self {
            Self::Alert(event) => Some(event),
            Self::PageEvent(_) => None,
        }
    }

    /// Returns the event for subscribers, if it is one.
    pub fn page_event(&self) -> Option<&PageEvent> {
        match self {
            Self::Alert(_) => None,
            Self::PageEvent(page_event) => Some(page_event),
        }
    }
}
