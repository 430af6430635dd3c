//! Pages that browsers watch, each with its last known content, and the limits of connections.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use domain::page::Section;
use rules::{PageId, Timestamp};
use tokio::sync::watch::{Receiver, Sender};

use super::snapshot::PageSnapshot;

/// Maximum number of connections.
const WAITING_MAX: usize = 10_000;
/// Maximum number of connections per page, so that a popular page leaves room for others.
const CONNECTIONS_PER_PAGE_MAX: usize = 5_000;
/// Maximum number of connections per client address, which may be that of a whole office. An IPv6
/// /64 counts as one address.
const CONNECTIONS_PER_ADDRESS_MAX: usize = 100;

/// Watched pages, each with its last known content.
#[derive(Debug, Default)]
pub(crate) struct LiveUpdates(Mutex<WatchedPages>);

#[derive(Debug, Default)]
struct WatchedPages {
    pages: HashMap<PageId, Sender<PageVersion>>,
    waiting: usize,
    /// Number of connections per client address. Addresses without connections are removed.
    addresses: HashMap<IpAddr, usize>,
}

/// Reason that a connection was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooManyConnections {
    /// The client address has too many connections.
    Address,
    /// There are too many connections to the page or in total.
    Total,
}

/// Version of a page: the time of the snapshot, and a hash of all content that triggers an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageVersion {
    pub(super) at: Timestamp,
    pub(super) fingerprint: u64,
}

impl LiveUpdates {
    /// Subscribes a browser at this client address to a page. Calls `begin` if no task watches the
    /// page yet.
    pub(super) fn subscribe(
        &self,
        page: PageId,
        address: IpAddr,
        begin: impl FnOnce() -> (Sender<PageVersion>, Receiver<PageVersion>),
    ) -> Result<Receiver<PageVersion>, TooManyConnections> {
        let mut watched = self.lock();
        if watched
            .addresses
            .get(&address)
            .is_some_and(|waiting| *waiting >= CONNECTIONS_PER_ADDRESS_MAX)
        {
            return Err(TooManyConnections::Address);
        }
        let sender = watched.pages.get(&page);
        let at_page = sender.map_or(0, Sender::receiver_count);
        if watched.waiting >= WAITING_MAX || at_page >= CONNECTIONS_PER_PAGE_MAX {
            return Err(TooManyConnections::Total);
        }
        let known = sender.map(Sender::subscribe);
        watched.waiting += 1;
        *watched.addresses.entry(address).or_default() += 1;
        Ok(known.unwrap_or_else(|| {
            let (sender, receiver) = begin();
            watched.pages.insert(page, sender);
            receiver
        }))
    }

    /// Publishes the content of a page and returns whether any browser waits. If none does, or the
    /// page is gone, the page is no longer watched.
    pub(super) fn publish(&self, page: PageId, seen: Option<PageVersion>) -> bool {
        let mut watched = self.lock();
        let sender = watched.pages.get(&page).filter(|sender| sender.receiver_count() > 0);
        let (Some(sender), Some(seen)) = (sender, seen) else {
            watched.pages.remove(&page);
            return false;
        };
        sender.send_if_modified(|last| {
            let is_changed = last.fingerprint != seen.fingerprint;
            *last = seen;
            is_changed
        });
        true
    }

    /// Removes a connection of this client address.
    pub(super) fn remove(&self, address: IpAddr) {
        self.lock().remove(address);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, WatchedPages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WatchedPages {
    /// Removes a connection of this client address.
    fn remove(&mut self, address: IpAddr) {
        self.waiting -= 1;
        if let Entry::Occupied(mut waiting) = self.addresses.entry(address) {
            *waiting.get_mut() -= 1;
            if *waiting.get() == 0 {
                waiting.remove();
            }
        }
    }
}

impl PageVersion {
    /// Returns whether `other` has different content that is not older.
    pub(super) fn is_followed_by(&self, other: &Self) -> bool {
        other.fingerprint != self.fingerprint && other.at >= self.at
    }

    /// Hashes the content of the home page, except for what changes with each check: uptimes, bars
    /// and the time of the last check. The history changes only with content that is hashed before.
    pub(super) fn from_page(snapshot: &PageSnapshot) -> Self {
        let view = &snapshot.view;
        let mut hasher = DefaultHasher::new();
        // Settings, including access.
        snapshot.page.updated_at.as_millis().hash(&mut hasher);
        snapshot.is_outdated.hash(&mut hasher);
        for section in &view.sections {
            if let Section::Group(group) = section {
                (group.id, &group.name).hash(&mut hasher);
            }
        }
        for it in view.components() {
            (it.id, it.state.as_str(), it.is_stale, &it.name, &it.description).hash(&mut hasher);
        }
        for it in &view.reports {
            (it.id, it.changed_at.as_millis()).hash(&mut hasher);
        }
        for it in &view.open_incidents {
            (it.id, it.acknowledged_at.is_some()).hash(&mut hasher);
        }
        for it in &view.planned {
            let window = (it.window.from.as_millis(), it.window.to.as_millis());
            (it.id, &it.title, &it.description, window, it.is_active).hash(&mut hasher);
        }
        Self { at: view.at, fingerprint: hasher.finish() }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch::channel;

    use super::*;

    const PAGE: PageId = PageId::from_bits(1);

    const fn seen(at: i64, fingerprint: u64) -> PageVersion {
        PageVersion { at: Timestamp::from_millis(at), fingerprint }
    }

    fn host(number: usize) -> IpAddr {
        IpAddr::from((number as u32).to_be_bytes())
    }

    /// Subscribes to a page that must be watched already.
    fn second(live_updates: &LiveUpdates) -> Receiver<PageVersion> {
        live_updates.subscribe(PAGE, host(2), || panic!("the page is watched twice")).unwrap()
    }

    fn first(
        live_updates: &LiveUpdates,
        page: PageId,
        at: usize,
    ) -> Result<Receiver<PageVersion>, TooManyConnections> {
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

    #[test]
    fn version_is_not_followed_by_an_older_one() {
        let known = seen(5, 1);
        for (other, expected) in [(seen(4, 2), false), (seen(5, 2), true), (seen(6, 1), false)] {
            assert_eq!(known.is_followed_by(&other), expected, "{other:?}");
        }
    }

    // issue 7: open streams are bounded, of an address, at a page and in all
    #[test]
    fn connections_are_limited_per_address_page_and_server() {
        let live_updates = LiveUpdates::default();
        let other = PageId::from_bits(2);
        let mut all: Vec<_> = (0..CONNECTIONS_PER_PAGE_MAX)
            .map(|it| first(&live_updates, PAGE, it / CONNECTIONS_PER_ADDRESS_MAX).unwrap())
            .collect();
        assert_eq!(first(&live_updates, other, 0).unwrap_err(), TooManyConnections::Address);
        assert_eq!(first(&live_updates, PAGE, 9_999).unwrap_err(), TooManyConnections::Total);
        let hosts =
            (CONNECTIONS_PER_PAGE_MAX..WAITING_MAX).map(|it| it / CONNECTIONS_PER_ADDRESS_MAX);
        all.extend(hosts.map(|host| first(&live_updates, other, host).unwrap()));
        assert_eq!(
            first(&live_updates, PageId::from_bits(3), 9_999).unwrap_err(),
            TooManyConnections::Total
        );
    }

    #[test]
    fn closed_connection_frees_its_slot() {
        let live_updates = LiveUpdates::default();
        let waiting: Vec<_> = (0..CONNECTIONS_PER_ADDRESS_MAX)
            .map(|_| first(&live_updates, PAGE, 1).unwrap())
            .collect();
        assert!(first(&live_updates, PAGE, 1).is_err());
        live_updates.remove(host(1));
        first(&live_updates, PAGE, 1).unwrap();
        for _ in 0..waiting.len() {
            live_updates.remove(host(1));
        }
        assert!(live_updates.lock().addresses.is_empty() && live_updates.lock().waiting == 0);
    }
}
