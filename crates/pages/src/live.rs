//! Live updates for open browsers: an event if the content of a page changes (`PageVersion`), so
//! that they fetch it again. The event carries no content. While browsers wait for a page, one task
//! watches it for all of them. The number of connections is limited (`live_updates`). Browsers also
//! fetch the page every 30 s, for uptimes and the time of the last check (`live.js`). A rejected
//! browser gets changes that late.

use std::convert::Infallible;
use std::net::IpAddr;
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
use tokio::sync::watch::{Receiver, channel};
use tokio_util::sync::CancellationToken;
use web::peer::{Peer, rate_limit_address};

use super::address::PageAddress;
use super::live_updates::{PageVersion, TooManyConnections};
use super::responses::{UNKNOWN_PEER, find, language};
use super::snapshot::PageSnapshot;
use crate::Pages;

/// Interval at which a page is watched. An unchanged page is read from memory.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);
/// Minimum interval of keep-alive comments, which prevent proxies from closing the connection.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(20);
/// Value of `Retry-After` for rejected connections, in seconds.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("60");

/// Token that ends all streams when the server shuts down.
#[derive(Clone, Debug)]
pub(super) struct Stop(pub(super) CancellationToken);

/// A connected browser. Dropping it frees its place in the limits.
struct WaitingBrowser {
    pages: Pages,
    address: PageAddress,
    headers: HeaderMap,
    updates: Receiver<PageVersion>,
    /// Content that the browser knows.
    last_seen: PageVersion,
    /// Address that the limits count, see [`rate_limit_address`].
    client: IpAddr,
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
    let cached = match find(&pages, &address, language(&headers), &headers).await {
        Ok((cached, _)) => cached,
        Err(refusal) => return *refusal,
    };
    let peer = peer.map_or(UNKNOWN_PEER, |Extension(peer)| peer.0);
    let client = rate_limit_address(pages.proxies.address(peer, &headers));
    let waiting =
        match WaitingBrowser::register(&pages, (address, client), headers, &cached.snapshot, &stop)
        {
            Ok(waiting) => waiting,
            Err(why) => {
                return (rejection_status(why), [(RETRY_AFTER, RETRY_AFTER_SECONDS)])
                    .into_response();
            }
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

impl WaitingBrowser {
    /// Registers a browser at a page.
    fn register(
        pages: &Pages,
        (address, client): (PageAddress, IpAddr),
        headers: HeaderMap,
        snapshot: &PageSnapshot,
        stop: &CancellationToken,
    ) -> Result<Self, TooManyConnections> {
        let seen = PageVersion::from_page(snapshot);
        let updates = pages.live_updates.subscribe(snapshot.page.id, client, || {
            let (sender, receiver) = channel(seen);
            let page = (address.clone(), snapshot.page.id);
            tokio::spawn(watch(pages.clone(), page, seen, stop.clone()));
            (sender, receiver)
        })?;
        let open = pages.metrics.streams.clone();
        open.inc();
        Ok(Self { pages: pages.clone(), address, headers, updates, last_seen: seen, client, open })
    }

    /// Returns the time of the next snapshot that differs from the known one. Returns `None` if the
    /// page is gone or the visitor has lost access, which ends the stream.
    async fn next(&mut self) -> Option<Timestamp> {
        let known = self.last_seen;
        // The task that watches the page may not have seen the snapshot that this browser got.
        let is_next = |seen: &PageVersion| known.is_followed_by(seen);
        self.last_seen = *self.updates.wait_for(is_next).await.ok()?;
        let words = language(&self.headers);
        find(&self.pages, &self.address, words, &self.headers).await.ok()?;
        Some(self.last_seen.at)
    }
}

impl Drop for WaitingBrowser {
    fn drop(&mut self) {
        self.open.dec();
        self.pages.live_updates.remove(self.client);
    }
}

const fn rejection_status(why: TooManyConnections) -> StatusCode {
    match why {
        TooManyConnections::Address => StatusCode::TOO_MANY_REQUESTS,
        TooManyConnections::Total => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Watches a page until no browser waits for it.
async fn watch(
    pages: Pages,
    (address, page): (PageAddress, PageId),
    seen: PageVersion,
    stop: CancellationToken,
) {
    let mut last = Some(seen);
    while pages.live_updates.publish(page, last) {
        tokio::select! {
            () = tokio::time::sleep(WATCH_INTERVAL) => {}
            () = stop.cancelled() => return,
        }
        // If the page can be neither read nor taken from the cache, assume that it is unchanged.
        if let Ok(cached) = pages.cache.get(&pages.source, &address).await {
            let snapshot = cached.as_ref().map(|cached| &*cached.snapshot);
            last = snapshot.filter(|it| it.page.id == page).map(PageVersion::from_page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_connection_gets_429_or_503() {
        let reasons = [TooManyConnections::Address, TooManyConnections::Total];
        assert_eq!(reasons.map(|why| rejection_status(why).as_u16()), [429, 503]);
    }
}
