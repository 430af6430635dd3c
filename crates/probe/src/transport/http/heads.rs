//! How many header lines of an answer are read. hyper writes to all the room that it is given before it
//! reads an answer, which takes longer than to read a usual one, unless it is given none and takes its own.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use url::{Position, Url};

use crate::limits::{HEAD_LINES, HEAD_LINES_USUAL, LONG_HEADS};

/// Room for header lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// [`HEAD_LINES_USUAL`].
    Usual,
    /// [`HEAD_LINES`].
    Large,
}

/// Hosts that once answered with more lines than are usual.
#[derive(Default)]
pub(crate) struct LongHeads {
    are_any: AtomicBool,
    hosts: Mutex<HashSet<String>>,
}

impl Room {
    /// Lines that fit.
    pub(crate) const fn lines(self) -> usize {
        match self {
            Self::Usual => HEAD_LINES_USUAL,
            Self::Large => HEAD_LINES,
        }
    }
}

impl LongHeads {
    /// The room for the answer of this URL's host.
    pub(crate) fn room(&self, url: &Url) -> Room {
        if !self.are_any.load(Ordering::Relaxed) {
            return Room::Usual;
        }
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.contains(host(url)) { Room::Large } else { Room::Usual }
    }

    /// This URL's host needs more room. Of too many hosts all are forgotten, and learnt again.
    pub(crate) fn learn(&self, url: &Url) {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= LONG_HEADS {
            hosts.clear();
        }
        hosts.insert(host(url).to_owned());
        self.are_any.store(true, Ordering::Relaxed);
    }
}

fn host(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(host: &str) -> Url {
        Url::parse(&format!("https://{host}/")).unwrap()
    }

    #[test]
    fn only_the_host_that_needs_it_gets_more_room() {
        let heads = LongHeads::default();
        assert_eq!(heads.room(&url("long.example.com")), Room::Usual);
        heads.learn(&url("long.example.com"));
        assert_eq!(heads.room(&url("long.example.com")), Room::Large);
        assert_eq!(heads.room(&url("example.com")), Room::Usual);
        assert_eq!(heads.room(&url("long.example.com:8443")), Room::Usual);
    }

    #[test]
    fn so_many_hosts_are_remembered_and_no_more() {
        let heads = LongHeads::default();
        for number in 0..=LONG_HEADS {
            heads.learn(&url(&format!("h{number}.example.com")));
        }
        assert_eq!(heads.hosts.lock().unwrap().len(), 1);
        let latest = url(&format!("h{LONG_HEADS}.example.com"));
        assert_eq!(heads.room(&latest), Room::Large);
    }
}
