//! News for open browsers: an event whenever what a page shows has changed, so that they ask again. It
//! says nothing but that. Each page is looked at once for all who wait, as long as somebody does. How many
//! wait is bounded, of one network, at one page and in all; who may not looks again by itself (`live.js`).

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
use super::door::NOBODY;
use super::respond::{find, language};
use super::shelf::Shown;
use crate::app::App;
use crate::auth::{Peer, network};

/// How often a page is looked at for those who wait: in memory, where nothing has changed.
const LOOK: Duration = Duration::from_millis(200);
/// Least time between two words to a browser where nothing happened, so that proxies keep the line.
const ALIVE: Duration = Duration::from_secs(20);
/// Browsers that wait at a time, at most.
const WAITING_MAX: usize = 10_000;
/// Of those, at one page: a page that everybody looks at leaves room for others.
const OF_PAGE_MAX: usize = 5_000;
/// Of those, from one network, which may be that of a whole office.
const OF_NETWORK_MAX: usize = 100;
/// When others may ask again, in seconds.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("60");

/// Cancelled when the server stops, which streams would not outlive.
#[derive(Clone, Debug)]
pub(super) struct Stop(pub(super) CancellationToken);

/// Pages that somebody waits for, each with how it was when it was last looked at.
#[derive(Debug, Default)]
pub(super) struct News(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    pages: HashMap<PageId, Sender<Seen>>,
    waiting: usize,
    /// How many wait, by where they are: nobody is here who does not wait.
    networks: HashMap<IpAddr, usize>,
}

/// Why somebody may not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TooMany {
    /// Too many of this network do.
    OfNetwork,
    /// Too many do, at this page or in all.
    OfAll,
}

/// How a page was: of when, and all of it that those who wait are told of, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    at: Timestamp,
    outline: u64,
}

/// A browser that waits. Dropped when the connection ends, it is no longer counted.
struct Waiting {
    app: App,
    address: PageAddress,
    headers: HeaderMap,
    news: Receiver<Seen>,
    /// As the browser knows it.
    seen: Seen,
    network: IpAddr,
    open: Gauge,
}

/// A stream of events `changed`, each with the time of which the page is.
pub(super) async fn events(
    State(app): State<App>,
    Extension(Stop(stop)): Extension<Stop>,
    peer: Option<Extension<Peer>>,
    address: PageAddress,
    headers: HeaderMap,
) -> Response {
    let shown = match find(&app, &address, language(&headers), &headers).await {
        Ok((shown, _)) => shown,
        Err(refusal) => return *refusal,
    };
    let peer = peer.map_or(NOBODY, |Extension(peer)| peer.0);
    let network = network(app.auth.address(peer, &headers));
    let waiting = match Waiting::at(&app, (address, network), headers, &shown, &stop) {
        Ok(waiting) => waiting,
        Err(why) => return (why.status(), [(RETRY_AFTER, ASK_AGAIN)]).into_response(),
    };
    let news = stream::unfold(waiting, move |mut waiting| {
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
    Sse::new(news).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
}

impl Waiting {
    /// Another one who waits for a page, and where.
    fn at(
        app: &App,
        (address, network): (PageAddress, IpAddr),
        headers: HeaderMap,
        shown: &Shown,
        stop: &CancellationToken,
    ) -> Result<Self, TooMany> {
        let seen = Seen::of(shown);
        let news = app.page_shelf.news.subscribe(shown.page.id, network, || {
            let (sender, receiver) = channel(seen);
            let page = (address.clone(), shown.page.id);
            tokio::spawn(watch(app.clone(), page, seen, stop.clone()));
            (sender, receiver)
        })?;
        let open = app.metrics.page_streams.clone();
        open.inc();
        Ok(Self { app: app.clone(), address, headers, news, seen, network, open })
    }

    /// When the page is next another one than the browser knows; `None` where there is none any more,
    /// or the visitor may no longer look, who is told no more.
    async fn next(&mut self) -> Option<Timestamp> {
        let known = self.seen.outline;
        self.seen = *self.news.wait_for(|seen| seen.outline != known).await.ok()?;
        let words = language(&self.headers);
        find(&self.app, &self.address, words, &self.headers).await.ok()?;
        Some(self.seen.at)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.open.dec();
        self.app.page_shelf.news.lock().leave(self.network);
    }
}

impl News {
    /// What happens at a page, which `begin` has somebody look at where nobody does, told to somebody of
    /// this network.
    fn subscribe(
        &self,
        page: PageId,
        network: IpAddr,
        begin: impl FnOnce() -> (Sender<Seen>, Receiver<Seen>),
    ) -> Result<Receiver<Seen>, TooMany> {
        let mut watched = self.lock();
        if watched.networks.get(&network).is_some_and(|waiting| *waiting >= OF_NETWORK_MAX) {
            return Err(TooMany::OfNetwork);
        }
        let sender = watched.pages.get(&page);
        let at_page = sender.map_or(0, Sender::receiver_count);
        if watched.waiting >= WAITING_MAX || at_page >= OF_PAGE_MAX {
            return Err(TooMany::OfAll);
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

    /// Tells those who wait for a page how it is; whether there are any. Where there are none, or
    /// there is no page, it is not looked at any longer.
    fn tell(&self, page: PageId, seen: Option<Seen>) -> bool {
        let mut watched = self.lock();
        let sender = watched.pages.get(&page).filter(|sender| sender.receiver_count() > 0);
        let (Some(sender), Some(seen)) = (sender, seen) else {
            watched.pages.remove(&page);
            return false;
        };
        sender.send_if_modified(|last| {
            let is_news = last.outline != seen.outline;
            *last = seen;
            is_news
        });
        true
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// One of this network waits no longer.
    fn leave(&mut self, network: IpAddr) {
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
            Self::OfNetwork => StatusCode::TOO_MANY_REQUESTS,
            Self::OfAll => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// Looks at a page until nobody waits for it.
async fn watch(
    app: App,
    (address, page): (PageAddress, PageId),
    seen: Seen,
    stop: CancellationToken,
) {
    let mut last = Some(seen);
    while app.page_shelf.news.tell(page, last) {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.cancelled() => return,
        }
        // Where nothing can be read and nothing is kept, nothing is known to have changed.
        if let Ok(shown) = app.page_shelf.shown(&app, &address).await {
            last = shown.filter(|shown| shown.page.id == page).map(|shown| Seen::of(&shown));
        }
    }
}

impl Seen {
    /// States, what is open, reported and planned, and whatever its owner edits: who may look, too.
    fn of(shown: &Shown) -> Self {
        let view = &shown.view;
        let mut outline = DefaultHasher::new();
        shown.page.updated_at.as_millis().hash(&mut outline);
        shown.cut_off.hash(&mut outline);
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
            (it.id, it.window.from.as_millis(), it.is_on).hash(&mut outline);
        }
        Self { at: view.at, outline: outline.finish() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: PageId = PageId::from_bits(1);

    const fn seen(at: i64, outline: u64) -> Seen {
        Seen { at: Timestamp::from_millis(at), outline }
    }

    fn host(number: usize) -> IpAddr {
        IpAddr::from((number as u32).to_be_bytes())
    }

    /// Waits for a page, which must be looked at already.
    fn second(news: &News) -> Receiver<Seen> {
        news.subscribe(PAGE, host(2), || panic!("it is looked at twice")).unwrap()
    }

    fn first(news: &News, page: PageId, at: usize) -> Result<Receiver<Seen>, TooMany> {
        news.subscribe(page, host(at), || channel(seen(0, 1)))
    }

    #[test]
    fn a_page_is_looked_at_once_for_all_and_no_longer_than_somebody_waits() {
        let news = News::default();
        let one = first(&news, PAGE, 1).unwrap();
        let second = second(&news);
        drop(one);
        assert!(news.tell(PAGE, Some(seen(1, 1))));
        drop(second);
        assert!(!news.tell(PAGE, Some(seen(2, 1))));
        first(&news, PAGE, 1).unwrap();
    }

    #[test]
    fn only_what_is_new_is_told_and_the_end_of_a_page_ends_all() {
        let news = News::default();
        let mut first = first(&news, PAGE, 1).unwrap();
        assert!(news.tell(PAGE, Some(seen(1, 1))) && !first.has_changed().unwrap());
        assert!(news.tell(PAGE, Some(seen(2, 7))) && first.has_changed().unwrap());
        assert_eq!(*first.borrow_and_update(), seen(2, 7));
        assert!(!news.tell(PAGE, None));
        assert!(first.has_changed().is_err());
    }

    // issue 7: open streams are bounded, of a network, at a page and in all
    #[test]
    fn no_more_wait_than_may_of_a_network_at_a_page_and_in_all() {
        let news = News::default();
        let other = PageId::from_bits(2);
        let mut all: Vec<_> =
            (0..OF_PAGE_MAX).map(|it| first(&news, PAGE, it / OF_NETWORK_MAX).unwrap()).collect();
        assert_eq!(first(&news, other, 0).unwrap_err(), TooMany::OfNetwork);
        assert_eq!(first(&news, PAGE, 9_999).unwrap_err(), TooMany::OfAll);
        let hosts = (OF_PAGE_MAX..WAITING_MAX).map(|it| it / OF_NETWORK_MAX);
        all.extend(hosts.map(|host| first(&news, other, host).unwrap()));
        assert_eq!(first(&news, PageId::from_bits(3), 9_999).unwrap_err(), TooMany::OfAll);
        let statuses = [TooMany::OfNetwork, TooMany::OfAll].map(TooMany::status);
        assert_eq!(statuses.map(|it| it.as_u16()), [429, 503]);
    }

    #[test]
    fn who_leaves_makes_room_and_is_forgotten() {
        let news = News::default();
        let waiting: Vec<_> = (0..OF_NETWORK_MAX).map(|_| first(&news, PAGE, 1).unwrap()).collect();
        assert!(first(&news, PAGE, 1).is_err());
        news.lock().leave(host(1));
        first(&news, PAGE, 1).unwrap();
        for _ in 0..waiting.len() {
            news.lock().leave(host(1));
        }
        assert!(news.lock().networks.is_empty() && news.lock().waiting == 0);
    }
}
