//! Live updates for open browsers: an event whenever the content of a page changes, so that they
//! fetch it again. The event carries no content. While browsers wait for a page, one task watches
//! it for all of them. The number of connections is limited per network, per page and in total. A
//! rejected browser polls instead (`live.js`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, StatusCode};
use prometheus_client::metrics::gauge::Gauge;
use rules::{PageId, Timestamp};
use tokio::sync::watch::{Receiver, Sender, channel};
use tokio_util::sync::CancellationToken;

use super::address::PageAddress;
use super::cache::CachedPage;
use super::handlers::{find, language};
use super::login::UNKNOWN_PEER;
use crate::Pages;
use web::client::{Peer, network};

/// Interval at which a page is watched. An unchanged page is read from memory.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);
/// Minimum interval of keep-alive comments, which prevent proxies from closing the connection.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(20);
/// Maximum number of connections.
const WAITING_MAX: usize = 10_000;
/// Maximum number of connections per page, so that a popular page leaves room for others.
const CONNECTIONS_PER_PAGE_MAX: usize = 5_000;
/// Maximum number of connections per network, which may be that of a whole office.
const CONNECTIONS_PER_NETWORK_MAX: usize = 100;
/// Value of `Retry-After` for rejected connections, in seconds.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("60");

/// Token that ends all streams when the server shuts down.
#[derive(Clone, Debug)]
pub(super) struct Stop(pub(super) CancellationToken);

/// Watched pages, each with its last known content.
#[derive(Debug, Default)]
pub(super) struct LiveUpdates(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    pages: HashMap<PageId, Sender<PageOutline>>,
    waiting: usize,
    /// Number of connections per network. Networks without connections are removed.
    networks: HashMap<IpAddr, usize>,
}

/// Reason that a connection was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TooMany {
    /// The network has too many connections.
    Network,
    /// There are too many connections to the page or in total.
    Total,
}

/// Content of a page: the time of the snapshot, and a hash of everything that triggers an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageOutline {
    at: Timestamp,
    outline: u64,
}

/// A connected browser. Dropping it frees its place in the limits.
struct Waiting {
    pages: Pages,
    address: PageAddress,
    headers: HeaderMap,
    updates: Receiver<PageOutline>,
    /// Content that the browser knows.
    last_seen: PageOutline,
    network: IpAddr,
    open: Gauge,
}

/// Streams events named `changed`, each with the time of the snapshot.
pub(super) async fn events(
    State(pages): State<Pages>,
    Extension(Stop(stop)): Extension<Stop>,
    peer: Option<Extension<Peer>>,
    address: PageAddress,
    headers: HeaderMap,
) -> Response {
    let shown = match find(&pages, &address, language(&headers), &headers).await {
        Ok((shown, _)) => shown,
        Err(refusal) => return *refusal,
    };
    let peer = peer.map_or(UNKNOWN_PEER, |Extension(peer)| peer.0);
    let network = network(pages.proxies.address(peer, &headers));
    let waiting = match Waiting::register(&pages, (address, network), headers, &shown, &stop) {
        Ok(waiting) => waiting,
        Err(why) => return (why.status(), [(RETRY_AFTER, RETRY_AFTER_SECONDS)]).into_response(),
    };
    let events = stream::unfold(waiting, move |mut waiting| {
        let stop = stop.clone();
        async move {
            let at = tokio::select! {
                at = waiting.next() => at?,
                () = stop.cancelled() => return None,
            };
            let event = Event::default().event("changed").data(at.to_string());
            Some((Ok::<_, Infallible>(event), waiting))
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL)).into_response()
}

impl Waiting {
    /// Registers a browser at a page.
    fn register(
        pages: &Pages,
        (address, network): (PageAddress, IpAddr),
        headers: HeaderMap,
        shown: &CachedPage,
        stop: &CancellationToken,
    ) -> Result<Self, TooMany> {
        let seen = PageOutline::from_page(shown);
        let updates = pages.cache.live_updates.subscribe(shown.page.id, network, || {
            let (sender, receiver) = channel(seen);
            let page = (address.clone(), shown.page.id);
            tokio::spawn(watch(pages.clone(), page, seen, stop.clone()));
            (sender, receiver)
        })?;
        let open = pages.metrics.streams.clone();
        open.inc();
        Ok(Self { pages: pages.clone(), address, headers, updates, last_seen: seen, network, open })
    }

    /// Returns the time of the next snapshot that differs from the known one. Returns `None` if the
    /// page is gone or the visitor has lost access, which ends the stream.
    async fn next(&mut self) -> Option<Timestamp> {
        let known = self.last_seen.outline;
        self.last_seen = *self.updates.wait_for(|seen| seen.outline != known).await.ok()?;
        let words = language(&self.headers);
        find(&self.pages, &self.address, words, &self.headers).await.ok()?;
        Some(self.last_seen.at)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.open.dec();
        self.pages.cache.live_updates.lock().remove(self.network);
    }
}

impl LiveUpdates {
    /// Subscribes a browser of this network to a page. Calls `begin` if no task watches the page
    /// yet.
    fn subscribe(
        &self,
        page: PageId,
        network: IpAddr,
        begin: impl FnOnce() -> (Sender<PageOutline>, Receiver<PageOutline>),
    ) -> Result<Receiver<PageOutline>, TooMany> {
        let mut watched = self.lock();
        if watched
            .networks
            .get(&network)
            .is_some_and(|waiting| *waiting >= CONNECTIONS_PER_NETWORK_MAX)
        {
            return Err(TooMany::Network);
        }
        let sender = watched.pages.get(&page);
        let at_page = sender.map_or(0, Sender::receiver_count);
        if watched.waiting >= WAITING_MAX || at_page >= CONNECTIONS_PER_PAGE_MAX {
            return Err(TooMany::Total);
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
    fn publish(&self, page: PageId, seen: Option<PageOutline>) -> bool {
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
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

impl TooMany {
    const fn status(self) -> StatusCode {
        match self {
            Self::Network => StatusCode::TOO_MANY_REQUESTS,
            Self::Total => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// Watches a page until no browser waits for it.
async fn watch(
    pages: Pages,
    (address, page): (PageAddress, PageId),
    seen: PageOutline,
    stop: CancellationToken,
) {
    let mut last = Some(seen);
    while pages.cache.live_updates.publish(page, last) {
        tokio::select! {
            () = tokio::time::sleep(WATCH_INTERVAL) => {}
            () = stop.cancelled() => return,
        }
        // If the page can be neither read nor taken from the cache, assume that it is unchanged.
        if let Ok(shown) = pages.cache.get(&pages, &address).await {
            last = shown
                .filter(|shown| shown.page.id == page)
                .map(|shown| PageOutline::from_page(&shown));
        }
    }
}

impl PageOutline {
    /// Hashes states, open incidents, reports, maintenance and all settings, including access.
    fn from_page(shown: &CachedPage) -> Self {
        let view = &shown.view;
        let mut outline = DefaultHasher::new();
        shown.page.updated_at.as_millis().hash(&mut outline);
        shown.served_from_cache.hash(&mut outline);
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
        live_updates.subscribe(PAGE, host(2), || panic!("it is looked at twice")).unwrap()
    }

    fn first(
        live_updates: &LiveUpdates,
        page: PageId,
        at: usize,
    ) -> Result<Receiver<PageOutline>, TooMany> {
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
        assert_eq!(first(&live_updates, other, 0).unwrap_err(), TooMany::Network);
        assert_eq!(first(&live_updates, PAGE, 9_999).unwrap_err(), TooMany::Total);
        let hosts =
            (CONNECTIONS_PER_PAGE_MAX..WAITING_MAX).map(|it| it / CONNECTIONS_PER_NETWORK_MAX);
        all.extend(hosts.map(|host| first(&live_updates, other, host).unwrap()));
        assert_eq!(first(&live_updates, PageId::from_bits(3), 9_999).unwrap_err(), TooMany::Total);
        let statuses = [TooMany::Network, TooMany::Total].map(TooMany::status);
        assert_eq!(statuses.map(|it| it.as_u16()), [429, 503]);
    }

    #[test]
    fn closed_connection_frees_its_slot() {
        let live_updates = LiveUpdates::default();
        let waiting: Vec<_> = (0..CONNECTIONS_PER_NETWORK_MAX)
            .map(|_| first(&live_updates, PAGE, 1).unwrap())
            .collect();
        assert!(first(&live_updates, PAGE, 1).is_err());
        live_updates.lock().remove(host(1));
        first(&live_updates, PAGE, 1).unwrap();
        for _ in 0..waiting.len() {
            live_updates.lock().remove(host(1));
        }
        assert!(live_updates.lock().networks.is_empty() && live_updates.lock().waiting == 0);
    }
}
