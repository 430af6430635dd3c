//! Icons of pages. The server fetches them through the egress policy, keeps them in memory and
//! serves them, so that visitors contact no other host. A response whose first bytes are not those
//! of an image is rejected. Pages without an icon, or with one that cannot be fetched, get a
//! default icon.

mod image_type;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LOCATION, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use probe::{Client, Request};
use rules::{AccessType, PageId, Timestamp};
use url::Url;

use self::image_type::ImageType;
use super::address::PageAddress;
use super::responses::{find, language};
use crate::Pages;
use web::http_body::{EncodedBody, Encoding};

/// Maximum size of an icon in bytes.
const BYTES_MAX: usize = 256 * 1024;
/// Maximum size of all cached icons in bytes.
const CACHE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Maximum number of pages in the cache, including those whose icon could not be fetched.
const CACHE_ICONS_MAX: usize = 2_000;
/// Timeout of fetching an icon, including redirects.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of redirects.
const REDIRECTS: usize = 3;
/// Age at which an icon is fetched again.
const FRESH: Duration = Duration::from_hours(24);
/// Delay before a failed fetch is retried.
const RETRY: Duration = Duration::from_mins(10);

/// `Cache-Control` of icons of public pages: browsers revalidate at most once an hour.
const PUBLIC: &str = "public, max-age=3600, stale-while-revalidate=86400";
const PRIVATE: &str = "private, no-store";
/// Content security policy of icons. An image that is opened directly must not load or run
/// anything.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// Icons of all requested pages.
pub(crate) struct Icons {
    client: Client,
    pages: Mutex<HashMap<PageId, Arc<IconSlot>>>,
}

/// Cache entry of a page's icon. The task that fetches it holds `fetch_lock`. The others wait or
/// use the cached icon.
#[derive(Default)]
struct IconSlot {
    fetch_lock: Arc<tokio::sync::Mutex<()>>,
    cached: Mutex<Option<CachedIcon>>,
}

/// Exclusive right to fetch an icon, until dropped.
type FetchGuard = tokio::sync::OwnedMutexGuard<()>;

#[derive(Clone)]
struct CachedIcon {
    /// URL of the icon.
    url: String,
    /// Time of the last attempt.
    tried_at: Timestamp,
    /// Whether the last attempt succeeded.
    has_succeeded: bool,
    /// The last icon that was fetched.
    icon: Option<Icon>,
}

/// An image ready to be sent.
#[derive(Clone, Debug)]
struct Icon {
    body: Arc<EncodedBody>,
    bytes: usize,
}

/// Reason that an icon could not be fetched. Discloses only the host of its URL.
#[derive(Debug, thiserror::Error)]
enum IconError {
    #[error("its address is invalid")]
    Address,
    #[error("{0}")]
    Unreachable(String),
    #[error("the response was {0}")]
    Status(StatusCode),
    #[error("it is larger than {} bytes", BYTES_MAX)]
    TooLarge,
    #[error("it is not a PNG, JPEG, GIF, WebP, ICO or SVG")]
    UnknownType,
    #[error("it did not arrive within {:?}", FETCH_TIMEOUT)]
    TooSlow,
    #[error("it was redirected more than {} times, or nowhere", REDIRECTS)]
    Redirected,
}

/// Responds with the icon of a page, subject to the page's access check.
pub(super) async fn icon(pages: Pages, address: PageAddress, headers: HeaderMap) -> Response {
    let words = language(&headers);
    let cached = match find(&pages, &address, words, &headers).await {
        Ok((cached, _)) => cached,
        Err(refusal) => return *refusal,
    };
    let page = &cached.snapshot.page;
    let access = page.settings.effective_access();
    let icon = match &page.settings.icon {
        Some(url) => pages.icons.get(page.id, url, pages.ctx.now()).await,
        None => None,
    };
    let icon =
        icon.unwrap_or_else(|| Icon::new(ImageType::Svg, Bytes::from_static(web::ICON.as_bytes())));
    build_response(&icon, access, &headers)
}

impl Icons {
    /// Creates an empty cache that fetches icons with this client.
    pub(crate) fn new(client: Client) -> Self {
        Self { client, pages: Mutex::default() }
    }

    /// Returns the icon of a page at this URL, or `None` if it cannot be fetched.
    async fn get(self: &Arc<Self>, page: PageId, url: &str, now: Timestamp) -> Option<Icon> {
        let slot = self.page(page);
        if let Some(known) = slot.cached().filter(|known| known.url == url) {
            if known.is_fresh(now) {
                return known.icon;
            }
            if known.icon.is_some() {
                self.renew_in_background(page, slot, url, now);
                return known.icon;
            }
        }
        let guard = Arc::clone(&slot.fetch_lock).lock_owned().await;
        self.renew(page, &slot, (url, guard), now).await
    }

    /// Starts fetching the icon in the background, unless another task does so.
    fn renew_in_background(
        self: &Arc<Self>,
        page: PageId,
        slot: Arc<IconSlot>,
        url: &str,
        now: Timestamp,
    ) {
        if let Some(guard) = slot.try_lock() {
            let (icons, url) = (Arc::clone(self), url.to_owned());
            tokio::spawn(async move { icons.renew(page, &slot, (&url, guard), now).await });
        }
    }

    /// Fetches the icon, unless another task just did.
    async fn renew(
        &self,
        id: PageId,
        slot: &IconSlot,
        (url, _guard): (&str, FetchGuard),
        now: Timestamp,
    ) -> Option<Icon> {
        let last = slot.cached().filter(|known| known.url == url);
        if let Some(known) = last.as_ref().filter(|known| known.is_fresh(now)) {
            return known.icon.clone();
        }
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, self.fetch(url)).await;
        let fetched = fetched.unwrap_or(Err(IconError::TooSlow));
        if let Err(why) = &fetched {
            tracing::info!(page.id = %id, "failed to fetch the icon of page `{id}`: {why}");
        }
        let has_succeeded = fetched.is_ok();
        let icon = fetched.ok().or_else(|| last.and_then(|known| known.icon));
        let known =
            CachedIcon { url: url.to_owned(), tried_at: now, has_succeeded, icon: icon.clone() };
        *slot.cached.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        self.make_room(id);
        icon
    }

    async fn fetch(&self, url: &str) -> Result<Icon, IconError> {
        let mut url = Url::parse(url).map_err(|_| IconError::Address)?;
        for _ in 0..=REDIRECTS {
            let request = Request {
                method: Method::GET,
                url: url.clone(),
                headers: Vec::new(),
                body: Bytes::new(),
            };
            let fetched = self.client.fetch(&request, FETCH_TIMEOUT, BYTES_MAX).await;
            let response = fetched.map_err(|why| IconError::Unreachable(why.detail))?;
            if response.status.is_redirection() {
                let place = response.headers.get(LOCATION).and_then(|place| place.to_str().ok());
                let next = place.and_then(|place| url.join(place).ok());
                url = next.ok_or(IconError::Redirected)?;
                continue;
            }
            if response.status != StatusCode::OK {
                return Err(IconError::Status(response.status));
            }
            if response.truncated {
                return Err(IconError::TooLarge);
            }
            let kind = ImageType::detect(&response.body).ok_or(IconError::UnknownType)?;
            return Ok(Icon::new(kind, response.body));
        }
        Err(IconError::Redirected)
    }

    fn page(&self, id: PageId) -> Arc<IconSlot> {
        Arc::clone(self.lock().entry(id).or_default())
    }

    /// Evicts icons until the rest fits, starting with the oldest attempts. Keeps that of `page`.
    fn make_room(&self, page: PageId) {
        let mut pages = self.lock();
        let mut known: Vec<(Timestamp, PageId, usize)> = pages
            .iter()
            .filter_map(|(id, slot)| Some((id, slot.cached()?)))
            .map(|(id, known)| (known.tried_at, *id, known.icon.map_or(0, |it| it.bytes)))
            .collect();
        known.sort_unstable();
        let mut bytes: usize = known.iter().map(|(.., bytes)| bytes).sum();
        let mut count = pages.len();
        for (_, id, freed) in known {
            if bytes <= CACHE_BYTES_MAX && count <= CACHE_ICONS_MAX {
                return;
            }
            if id != page {
                pages.remove(&id);
                bytes -= freed;
                count -= 1;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PageId, Arc<IconSlot>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IconSlot {
    /// Returns the right to fetch the icon, if no task holds it.
    fn try_lock(&self) -> Option<FetchGuard> {
        Arc::clone(&self.fetch_lock).try_lock_owned().ok()
    }

    fn cached(&self) -> Option<CachedIcon> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl CachedIcon {
    fn is_fresh(&self, now: Timestamp) -> bool {
        let long = if self.has_succeeded { FRESH } else { RETRY };
        self.tried_at <= now && now.since(self.tried_at) < long
    }
}

impl Icon {
    fn new(kind: ImageType, bytes: Bytes) -> Self {
        Self { bytes: bytes.len(), body: Arc::new(EncodedBody::new(kind.content_type(), bytes)) }
    }
}

impl fmt::Debug for Icons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "icons of {} pages", self.lock().len())
    }
}

fn build_response(icon: &Icon, access: AccessType, request: &HeaderMap) -> Response {
    let mut response = Response::new(Body::empty());
    let cache = if access == AccessType::Public { PUBLIC } else { PRIVATE };
    let headers = response.headers_mut();
    headers.insert(ETAG, icon.body.etag.clone());
    for (name, value) in [
        (CACHE_CONTROL, cache),
        (VARY, "cookie"),
        (CONTENT_TYPE, icon.body.content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if icon.body.matches_etag(request) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        *response.body_mut() = Body::from(icon.body.bytes(Encoding::Identity));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_icon_is_fetched_by_one_visitor() {
        let slot = IconSlot::default();
        let guard = slot.try_lock();
        assert!(guard.is_some());
        assert!(slot.try_lock().is_none(), "one visitor fetches it");
        drop(guard);
        assert!(slot.try_lock().is_some());
    }
}
