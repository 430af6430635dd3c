//! State that all handlers share, and the trait that the server implements for them.

use std::collections::HashMap;
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use domain::notify::Mail;
use domain::page::Facts;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use rules::status_page::StatusPage;
use rules::{MonitorId, Timestamp, WorkspaceId};
use store::{Store, StoreError};
use web::cache::CacheMetrics;
use web::context::Context;
use web::proxies::TrustedProxies;

use crate::access::AccessControl;
use crate::cache::PageCache;
use crate::details::DetailCache;
use crate::icon::Icons;
use crate::live::LiveUpdates;
use crate::projection;
use crate::subscribe::SubscribeLimits;
use crate::token::SubscriberTokens;

/// Future that a method of [`Backend`] returns. It is boxed, because the state holds any backend.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// State of all status pages. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pages {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) proxies: TrustedProxies,
    pub(crate) metrics: PageMetrics,
    /// Rendered pages.
    pub(crate) cache: Arc<PageCache>,
    /// Detail pages.
    pub(crate) details: Arc<DetailCache>,
    pub(crate) icons: Arc<Icons>,
    pub(crate) live_updates: Arc<LiveUpdates>,
    pub(crate) access: Arc<AccessControl>,
    pub(crate) subscribe_limits: Arc<SubscribeLimits>,
    pub(crate) subscriber_tokens: Arc<SubscriberTokens>,
}

/// Parameters of [`Pages::new`].
#[derive(Debug)]
pub struct PagesParts {
    pub ctx: Context,
    pub store: Store,
    pub backend: Arc<dyn Backend>,
    pub proxies: TrustedProxies,
    pub metrics: PageMetrics,
    pub caches: CacheMetrics,
    /// Client that fetches icons. It applies the egress policy.
    pub client: probe::Client,
    /// Public URL of the server.
    pub public_url: Option<String>,
    /// URL of the listener, used if the public URL is not configured.
    pub listener_url: String,
}

/// The parts of the server that pages cannot read from the database: the latest checks, and the login
/// emails, which a visitor waits for. Other emails go through the outbox.
pub trait Backend: Debug + Send + Sync {
    /// Returns when the last check of each of these monitors ended. Unknown ones are absent.
    fn last_checks(&self, monitors: Vec<MonitorId>)
    -> BoxFuture<'_, HashMap<MonitorId, Timestamp>>;

    /// Returns whether one probe serves all regions, so that naming them would mislead.
    fn has_one_probe(&self) -> bool;

    /// Returns whether emails can be sent.
    fn can_send_emails(&self) -> bool;

    /// Sends an email. Fails with the reason if it was not sent.
    fn send_email(
        &self,
        workspace: WorkspaceId,
        mail: Mail,
    ) -> BoxFuture<'static, Result<(), String>>;
}

/// Metrics of status pages.
#[derive(Clone, Debug)]
pub struct PageMetrics {
    /// Time to build a page after its data was read, in seconds.
    pub build_seconds: Histogram,
    /// Time to render a page in one representation, in seconds.
    pub render_seconds: Histogram,
    /// Browsers that wait for live updates.
    pub streams: Gauge,
}

impl Pages {
    /// Creates the state with empty caches.
    pub fn new(parts: PagesParts) -> Self {
        let PagesParts { ctx, store, backend, proxies, metrics, caches, client, .. } = parts;
        let cache = PageCache::new(parts.public_url, parts.listener_url, metrics.clone(), &caches);
        let access = AccessControl::new(&ctx, store.session_key());
        let tokens = SubscriberTokens::new(store.session_key());
        Self {
            cache: Arc::new(cache),
            details: Arc::new(DetailCache::new(&caches)),
            icons: Arc::new(Icons::new(client, caches.counters("page_icons"))),
            live_updates: Arc::default(),
            access: Arc::new(access),
            subscribe_limits: Arc::new(SubscribeLimits::new(&ctx)),
            subscriber_tokens: Arc::new(tokens),
            ctx,
            store,
            backend,
            proxies,
            metrics,
        }
    }

    /// Returns the public URL of the server, without a trailing slash.
    pub fn public_url(&self) -> Option<&str> {
        self.cache.origin()
    }

    /// Returns the data of a page at `now`, published or not.
    pub async fn facts(&self, page: StatusPage, now: Timestamp) -> Result<Facts, StoreError> {
        projection::page_facts(&self.store, self.backend.as_ref(), page, now).await
    }

    /// Returns whether emails with links can be sent: to log in, or to confirm a subscription. They
    /// require a mail server and a public URL.
    pub(crate) fn can_email_links(&self) -> bool {
        self.backend.can_send_emails() && self.public_url().is_some()
    }

    /// Removes expired limits of visitors, and cached values that are too old to be served.
    pub fn evict_expired(&self) {
        let now = self.ctx.now();
        self.access.evict_expired();
        self.subscribe_limits.evict_expired();
        self.cache.evict_expired(now);
        self.details.evict_expired(now);
        self.icons.evict_expired(now);
    }
}
