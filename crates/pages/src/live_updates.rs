//! Pages that browsers watch, each with its last known content, and the limits of connections.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use rules::{PageId, Timestamp};
use tokio::sync::watch::{Receiver, Sender};

use super::snapshot::PageSnapshot;

/// Maximum number of connections.
const WAITING_MAX: usize = 10_000;
/// Maximum number of connections per page, so that a popular page leaves room for others.
const CONNECTIONS_PER_PAGE_MAX: usize = 5_000;
/// Maximum number of connections per network, which may be that of a whole office.
const CONNECTIONS_PER_NETWORK_MAX: usize = 100;

/// Watched pages, each with its last known content.
#[derive(Debug, Default)]
pub(crate) struct LiveUpdates(Mutex<WatchedPages>);

#[derive(Debug, Default)]
struct WatchedPages {
    pages: HashMap<PageId, Sender<PageOutline>>,
    waiting: usize,
    /// Number of connections per network. Networks without connections are removed.
    networks: HashMap<IpAddr, usize>,
}

/// Reason that a connection was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooManyConnections {
    /// The network has too many connections.
    Network,
    /// There are too many connections to the page or in total.
    Total,
}

/// Content of a page: the time of the snapshot, and a hash of everything that triggers an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageOutline {
    pub(super) at: Timestamp,
    pub(super) outline: u64,
}

impl LiveUpdates {
    /// Subscribes a browser of this network to a page. Calls `begin` if no task watches the page
    /// yet.
    pub(super) fn subscribe(
        &self,
        page: PageId,
        network: IpAddr,
        begin: impl FnOnce() -> (Sender<PageOutline>, Receiver<PageOutline>),
    ) -> Result<Receiver<PageOutline>, TooManyConnections> {
        let mut watched = self.lock();
        if watched
            .networks
            .get(&network)
            .is_some_and(|waiting| *waiting >= CONNECTIONS_PER_NETWORK_MAX)
        {
            return Err(TooManyConnections::Network);
        }
        let sender = watched.pages.get(&page);
        let at_page = sender.map_or(0, Sender::receiver_count);
        if watched.waiting >= WAITING_MAX || at_page >= CONNECTIONS_PER_PAGE_MAX {
            return Err(TooManyConnections::Total);
        }
        let known = sender.map(Sender::subscribe);
        watched.waiting += 1;
        *watched.networks.entry(network).or_default() += 1;
        Ok(known.unwrap_or_else(|| {
            let (sender, receiver) = begin();
            watched.pages.insert(page, sender);
            receiver
        }))
    }

    /// Publishes the content of a page and returns whether any browser waits. If none does, or the
    /// page is gone, the page is no longer watched.
    pub(super) fn publish(&self, page: PageId, seen: Option<PageOutline>) -> bool {
        let mut watched = self.lock();
        let sender = watched.pages.get(&page).filter(|sender| sender.receiver_count() > 0);
        let (Some(sender), Some(seen)) = (sender, seen) else {
            watched.pages.remove(&page);
            return false;
        };
        sender.send_if_modified(|last| {
            let is_changed = last.outline != seen.outline;
            *last = seen;
            is_changed
        });
        true
    }

    /// Removes a connection of this network.
    pub(super) fn remove(&self, network: IpAddr) {
        self.lock().remove(network);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, WatchedPages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WatchedPages {
    /// Removes a connection of this network.
    fn remove(&mut self, network: IpAddr) {
        self.waiting -= 1;
        if let Entry::Occupied(mut waiting) = self.networks.entry(network) {
            *waiting.get_mut() -= 1;
            if *waiting.get() == 0 {
                waiting.remove();
            }
        }
    }
}

impl PageOutline {
    /// Hashes states, open incidents, reports, maintenance and all settings, including access.
    pub(super) fn from_page(snapshot: &PageSnapshot) -> Self {
        let view = &snapshot.view;
        let mut outline = DefaultHasher::new();
        snapshot.page.updated_at.as_millis().hash(&mut outline);
        snapshot.served_from_cache.hash(&mut outline);
        for it in view.components() {
            (it.id, it.state.as_str(), it.is_stale, &it.name).hash(&mut outline);
        }
        for it in &view.reports {
            (it.id, it.changed_at.as_millis()).hash(&mut outline);
        }
        for it in &view.open {
            (it.id, it.acknowledged_at.is_some()).hash(&mut outline);
        }
        for it in &view.planned {
            (it.id, it.window.from.as_millis(), it.is_active).hash(&mut outline);
        }
        Self { at: view.at, outline: outline.finish() }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch::channel;

    use super::*;

    const PAGE: PageId = PageId::from_bits(1);

    const fn seen(at: i64, outline: u64) -> PageOutline {
        PageOutline { at: Timestamp::from_millis(at), outline }
    }

    fn host(number: usize) -> IpAddr {
        IpAddr::from((number as u32).to_be_bytes())
    }

    /// Subscribes to a page that must be watched already.
    fn second(live_updates: &LiveUpdates) -> Receiver<PageOutline> {
        live_updates.subscribe(PAGE, host(2), || panic!("the page is watched twice")).unwrap()
    }

    fn first(
        live_updates: &LiveUpdates,
        page: PageId,
        at: usize,
    ) -> Result<Receiver<PageOutline>, TooManyConnections> {
        live_updates.subscribe(page, host(at), || channel(seen(0, 1)))
    }

    #[test]
    fn page_is_watched_only_while_somebody_waits() {
        let live_updates = LiveUpdates::default();
        let one = first(&live_updates, PAGE, 1).unwrap();
        let second = second(&live_updates);
        drop(one);
        assert!(live_updates.publish(PAGE, Some(seen(1, 1))));
        drop(second);
        assert!(!live_updates.publish(PAGE, Some(seen(2, 1))));
        first(&live_updates, PAGE, 1).unwrap();
    }

    #[test]
    fn only_changes_are_published_until_page_ends() {
        let live_updates = LiveUpdates::default();
        let mut first = first(&live_updates, PAGE, 1).unwrap();
        assert!(live_updates.publish(PAGE, Some(seen(1, 1))) && !first.has_changed().unwrap());
        assert!(live_updates.publish(PAGE, Some(seen(2, 7))) && first.has_changed().unwrap());
        assert_eq!(*first.borrow_and_update(), seen(2, 7));
        assert!(!live_updates.publish(PAGE, None));
        assert!(first.has_changed().is_err());
    }

    // issue 7: open streams are bounded, of a network, at a page and in all
    #[test]
    fn connections_are_limited_per_network_page_and_server() {
        let live_updates = LiveUpdates::default();
        let other = PageId::from_bits(2);
        let mut all: Vec<_> = (0..CONNECTIONS_PER_PAGE_MAX)
            .map(|it| first(&live_updates, PAGE, it / CONNECTIONS_PER_NETWORK_MAX).unwrap())
            .collect();
        assert_eq!(first(&live_updates, other, 0).unwrap_err(), TooManyConnections::Network);
        assert_eq!(first(&live_updates, PAGE, 9_999).unwrap_err(), TooManyConnections::Total);
        let hosts =
            (CONNECTIONS_PER_PAGE_MAX..WAITING_MAX).map(|it| it / CONNECTIONS_PER_NETWORK_MAX);
        all.extend(hosts.map(|host| first(&live_updates, other, host).unwrap()));
        assert_eq!(
            first(&live_updates, PageId::from_bits(3), 9_999).unwrap_err(),
            TooManyConnections::Total
        );
    }

    #[test]
    fn closed_connection_frees_its_slot() {
        let live_updates = LiveUpdates::default();
        let waiting: Vec<_> = (0..CONNECTIONS_PER_NETWORK_MAX)
            .map(|_| first(&live_updates, PAGE, 1).unwrap())
            .collect();
        assert!(first(&live_updates, PAGE, 1).is_err());
        live_updates.remove(host(1));
        first(&live_updates, PAGE, 1).unwrap();
        for _ in 0..waiting.len() {
            live_updates.remove(host(1));
        }
        assert!(live_updates.lock().networks.is_empty() && live_updates.lock().waiting == 0);
    }
}
