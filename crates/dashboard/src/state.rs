//! State that all handlers share.

use std::sync::Arc;

use rules::Secret;
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;
use web::context::Context;
use web::proxies::TrustedProxies;

use crate::backend::Backend;
use crate::device_logins::DeviceLogins;
use crate::email_queue::EmailQueue;
use crate::fleet::figures::ShownFigures;
use crate::fleet::snapshots::FleetSnapshots;
use crate::fleet::undo::Undos;
use crate::live_feeds::LiveFeeds;
use crate::overview::Overviews;
use crate::passkey_ceremonies::PasskeyCeremonies;
use crate::passwords::Passwords;
use crate::region_digests::SharedRegionsDigest;
use crate::report_permits::ReportPermits;
use crate::session_lookups::{KNOWN_MAX, SessionLookups};
use crate::sign_in_limits::SignInLimits;
use crate::signed_state::Signer;
use crate::single_sign_on::{SingleSignOn, SingleSignOnSettings};

/// State of the dashboard. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Dashboard {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) proxies: TrustedProxies,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) limits: Arc<SignInLimits>,
    pub(crate) session_lookups: Arc<SessionLookups>,
    pub(crate) fleet: Arc<FleetSnapshots>,
    pub(crate) shown_figures: Arc<ShownFigures>,
    pub(crate) overviews: Arc<Overviews>,
    pub(crate) undos: Arc<Undos>,
    pub(crate) reports: Arc<ReportPermits>,
    pub(crate) live: Arc<LiveFeeds>,
    pub(crate) regions: Arc<SharedRegionsDigest>,
    /// Cancelled when the server stops.
    pub(crate) stop: CancellationToken,
    /// Public URL of the server, without a trailing slash; else that of the listener.
    pub(crate) origin: Arc<str>,
    pub(crate) passkeys: Arc<PasskeyCeremonies>,
    pub(crate) device_logins: Arc<DeviceLogins>,
    pub(crate) emails: EmailQueue,
    /// `None` if the operator configured none.
    pub(crate) single_sign_on: Option<Arc<SingleSignOn>>,
    /// Key that signs short-lived states.
    session_key: Secret<[u8; 32]>,
}

/// Parameters of [`Dashboard::new`].
#[derive(Debug)]
pub struct DashboardParts {
    pub ctx: Context,
    pub store: Store,
    pub backend: Arc<dyn Backend>,
    pub proxies: TrustedProxies,
    /// Public URL of the server.
    pub public_url: Option<String>,
    /// URL of the listener, used if the public URL is not configured.
    pub listener_url: String,
    /// Provider of single sign-on. `None` offers none.
    pub single_sign_on: Option<SingleSignOnSettings>,
    /// Cancelled when the server stops.
    pub stop: CancellationToken,
}

impl Dashboard {
    /// Creates the state.
    pub fn new(parts: DashboardParts) -> Self {
        let DashboardParts { ctx, store, backend, proxies, public_url, listener_url, .. } = parts;
        let origin: Arc<str> = public_url.unwrap_or(listener_url).into();
        let single_sign_on =
            parts.single_sign_on.map(|it| Arc::new(SingleSignOn::new(it, &origin)));
        Self {
            passwords: Arc::new(Passwords::new()),
            limits: Arc::new(SignInLimits::new(&ctx)),
            session_lookups: Arc::default(),
            passkeys: Arc::new(PasskeyCeremonies::new(&origin)),
            device_logins: Arc::default(),
            emails: EmailQueue::default(),
            session_key: store.session_key(),
            single_sign_on,
            fleet: Arc::new(FleetSnapshots::new()),
            shown_figures: Arc::new(ShownFigures::new()),
            overviews: Arc::new(Overviews::new()),
            undos: Arc::default(),
            reports: Arc::default(),
            live: Arc::default(),
            regions: Arc::default(),
            stop: parts.stop,
            origin,
            ctx,
            store,
            backend,
            proxies,
        }
    }

    /// Returns the signer of short-lived states.
    pub(crate) fn signer(&self) -> Signer<'_> {
        Signer { key: self.session_key.expose(), now: self.ctx.now() }
    }

    /// Returns the absolute URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// Returns the sessions that were valid before.
    pub fn session_lookups(&self) -> Arc<SessionLookups> {
        Arc::clone(&self.session_lookups)
    }

    /// Reads the sessions that were used last, so that they are known after a restart.
    pub async fn remember_sessions(&self) -> Result<(), StoreError> {
        let recent = self.store.sessions().recent(self.ctx.now(), KNOWN_MAX).await?;
        for hash in recent {
            self.session_lookups.remember(hash);
        }
        Ok(())
    }

    /// Removes expired limits.
    pub fn evict_expired(&self) {
        self.limits.evict_expired();
    }
}
