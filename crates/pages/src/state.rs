//! State that all handlers share: the sources of the content, the caches and the limits.

use std::collections::HashMap;
use std::sync::Arc;

use domain::page::Facts;
use rules::status_page::StatusPage;
use rules::{PageId, Timestamp, WorkspaceId};
use store::{Store, StoreError};
use web::cache::CacheMetrics;
use web::context::Context;
use web::proxies::TrustedProxies;

use crate::access::AccessControl;
use crate::cache::PageCache;
use crate::detail_cache::DetailCache;
use crate::icon::Icons;
use crate::live_updates::LiveUpdates;
use crate::metrics::PageMetrics;
use crate::projection;
use crate::source::{Backend, Source};
use crate::subscribe_limits::SubscribeLimits;
use crate::token::SubscriberTokens;

/// State of all status pages. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pages {
    pub(crate) source: Source,
    pub(crate) proxies: TrustedProxies,
    pub(crate) metrics: PageMetrics,
    /// Rendered pages.
    pub(crate) cache: Arc<PageCache>,
    /// Data of detail pages.
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
            source: Source { ctx, store, backend },
            proxies,
            metrics,
        }
    }

    /// Returns the public URL of the server, without a trailing slash.
    pub fn public_url(&self) -> Option<&str> {
        self.cache.origin()
    }

    /// Returns the public URL of the server, or that of its listener without one.
    pub fn url(&self) -> &str {
        self.cache.url()
    }

    /// Returns the data of a page at `now`, published or not.
    pub async fn facts(&self, page: StatusPage, now: Timestamp) -> Result<Facts, StoreError> {
        projection::page_facts(&self.source, page, now).await
    }

    /// Returns the overall status of pages of a workspace as visitors see it, from the cache. Omits pages
    /// that are not published. Fails with the reason if the database is unavailable.
    pub async fn states(
        &self,
        workspace: WorkspaceId,
        pages: &[PageId],
    ) -> Result<HashMap<PageId, String>, String> {
        let mut states = HashMap::with_capacity(pages.len());
        for page in pages {
            if let Some(cached) = self.cache.by_id(&self.source, workspace, *page).await? {
                let state = cached.snapshot.view.overall_status.state;
                states.insert(*page, state.to_string());
            }
        }
        Ok(states)
    }

    /// Returns whether emails with links can be sent: to log in, or to confirm a subscription. They
    /// require a mail server and a public URL.
    pub(crate) fn can_email_links(&self) -> bool {
        self.source.backend.can_send_emails() && self.public_url().is_some()
    }

    /// Removes expired limits of visitors, and cached values that are too old to be served.
    pub fn evict_expired(&self) {
        let now = self.source.ctx.now();
        self.access.evict_expired();
        self.subscribe_limits.evict_expired();
        self.cache.evict_expired(now);
        self.details.evict_expired(now);
        self.icons.evict_expired(now);
    }
}
