//! Icons of pages. The server fetches them through the egress policy, keeps them in memory and
//! serves them, so that visitors contact no other host. A response whose first bytes are not those
//! of an image is rejected. Pages without an icon, or with one that cannot be fetched, get a
//! default icon.

mod image_type;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::cache_rule::CacheRule;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LOCATION, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use probe::{Client, Request};
use rules::{PageId, Timestamp};
use url::Url;
use web::cache::{Cache, CacheCounters, CachePolicy};
use web::http_body::{EncodedBody, Encoding};

use self::image_type::ImageType;

/// Maximum size of an icon in bytes.
const BYTES_MAX: usize = 256 * 1024;
/// Timeout of fetching an icon, including redirects.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of redirects.
const REDIRECTS: usize = 3;
/// Age at which an icon is fetched again.
const FRESH: Duration = Duration::from_hours(24);
/// Delay before a failed fetch is retried.
const RETRY: Duration = Duration::from_mins(10);
/// Limits of the cache. A slow host delays no other one: many icons are fetched concurrently.
const CACHE_POLICY: CachePolicy = CachePolicy {
    absent_for: RETRY,
    reads_max: 64,
    wait_within: Duration::from_secs(10),
    read_within: Duration::from_secs(10),
    ..CachePolicy::new(FRESH, 32 << 20)
};

/// `Cache-Control` of icons of public pages: browsers revalidate at most once an hour.
const PUBLIC: &str = "public, max-age=3600, stale-while-revalidate=86400";
const PRIVATE: &str = "private, no-store";
/// Content security policy of icons. An image that is opened directly must not load or run
/// anything.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// Icons of all requested pages.
#[derive(Debug)]
pub(crate) struct Icons {
    client: Client,
    cache: Arc<Cache<IconKey, CachedIcon>>,
}

/// Page and URL of an icon.
type IconKey = (PageId, String);

#[derive(Clone, Debug)]
struct CachedIcon {
    icon: Icon,
    /// Time until the next attempt to fetch it.
    fresh_for: Duration,
}

/// An image ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Icon {
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

impl Icons {
    /// Creates an empty cache that fetches icons with this client.
    pub(crate) fn new(client: Client, counters: CacheCounters) -> Self {
        let bytes = |(_, url): &IconKey, it: &CachedIcon| url.len() + it.icon.bytes;
        let cache = Cache::new(CACHE_POLICY, bytes, counters).with_fresh_for(|it| it.fresh_for);
        Self { client, cache: Arc::new(cache) }
    }

    /// Removes the icons that nobody requested for a while.
    pub(crate) fn evict_expired(&self, now: Timestamp) {
        self.cache.evict_older_than(2 * FRESH, now);
    }

    /// Returns the icon of a page at this URL, or `None` if it cannot be fetched. An old icon is
    /// served while it is fetched again.
    pub(super) async fn get(
        self: &Arc<Self>,
        page: PageId,
        url: &str,
        now: Timestamp,
    ) -> Option<Icon> {
        let key = (page, url.to_owned());
        let read = || {
            let (icons, key) = (Arc::clone(self), key.clone());
            async move { Ok::<_, Infallible>(icons.read(&key).await) }
        };
        let found = self.cache.get_or_renew(key.clone(), || Some(()), now, read).await;
        found.unwrap_or_else(|error| error.last).map(|it| it.icon)
    }

    /// Fetches an icon. If that fails, returns the last one, to be fetched again soon.
    async fn read(&self, key: &IconKey) -> Option<CachedIcon> {
        let (page, url) = key;
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, self.fetch(url)).await;
        match fetched.unwrap_or(Err(IconError::TooSlow)) {
            Ok(icon) => Some(CachedIcon { icon, fresh_for: FRESH }),
            Err(why) => {
                tracing::info!(page.id = %page, "failed to fetch the icon of page `{page}`: {why}");
                self.cache.last(key).map(|last| CachedIcon { fresh_for: RETRY, ..last })
            }
        }
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
}

impl Icon {
    fn new(kind: ImageType, bytes: Bytes) -> Self {
        Self { bytes: bytes.len(), body: Arc::new(EncodedBody::new(kind.content_type(), bytes)) }
    }

    /// Returns the icon of pages without one.
    pub(super) fn default_icon() -> Self {
        Self::new(ImageType::Svg, Bytes::from_static(web::ICON.as_bytes()))
    }

    /// Returns the response of a page with this rule for caches.
    pub(super) fn response(&self, rule: CacheRule, request: &HeaderMap) -> Response {
        let mut response = Response::new(Body::empty());
        let cache = match rule {
            CacheRule::Public => PUBLIC,
            CacheRule::NoStore => PRIVATE,
        };
        let headers = response.headers_mut();
        headers.insert(ETAG, self.body.etag.clone());
        for (name, value) in [
            (CACHE_CONTROL, cache),
            (VARY, "cookie"),
            (CONTENT_TYPE, self.body.content_type),
            (CONTENT_SECURITY_POLICY, POLICY),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if self.body.is_unmodified(request) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            *response.body_mut() = Body::from(self.body.bytes(Encoding::Identity));
        }
        response
    }
}
