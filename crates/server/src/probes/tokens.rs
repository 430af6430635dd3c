//! Tokens of probes: verifies them with the store, remembers those that are valid, and limits new ones.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use contract::rpc;
use http::StatusCode;
use rules::{ProbeId, Timestamp, WorkspaceId, counted, limits};
use store::{KeyHash, Store, StoreError, StoredProbe};
use tokio::sync::watch;
use tracing::warn;
use web::context::Context;
use web::limits::AttemptLimiter;
use web::peer::rate_limit_address;

use super::refused::RefusedProbe;
use crate::auth::probe_token;

/// Tokens of one address that belong to no stored probe, and uncached ones of one probe.
const WRONG_TOKENS: NonZeroU32 = NonZeroU32::new(60).expect("it is not 0");
const WRONG_TOKENS_IN: Duration = Duration::from_mins(1);
/// New probes of a workspace.
const CREATIONS: NonZeroU32 = NonZeroU32::new(limits::PROBE_CREATIONS).expect("it is not 0");

/// Tokens that were verified.
#[derive(Debug)]
pub(crate) struct ProbeTokens {
    ctx: Context,
    store: Store,
    verified: Mutex<Verified>,
    known: Mutex<Known>,
    wrong: AttemptLimiter<IpAddr>,
    /// Look-ups with the ID of a stored probe. Strangers do not know it, so that those at the same address
    /// do not keep the probe away, even after a restart.
    of_probe: AttemptLimiter<ProbeId>,
    /// New probes of a workspace, because an index is never used again.
    creations: AttemptLimiter<WorkspaceId>,
}

/// Tokens as of a number of changes.
#[derive(Debug, Default)]
struct Verified {
    changes: u64,
    tokens: HashMap<KeyHash, StoredProbe>,
}

/// Stored probes as of a number of changes.
#[derive(Debug, Default)]
struct Known {
    changes: Option<u64>,
    probes: HashSet<ProbeId>,
}

impl ProbeTokens {
    /// Creates the cache of tokens without entries.
    pub(crate) fn new(ctx: Context, store: Store) -> Self {
        let wrong = AttemptLimiter::new(&ctx, WRONG_TOKENS, WRONG_TOKENS_IN);
        let of_probe = AttemptLimiter::new(&ctx, WRONG_TOKENS, WRONG_TOKENS_IN);
        let creations = AttemptLimiter::new(&ctx, CREATIONS, limits::PROBE_CREATIONS_IN);
        let (verified, known) = (Mutex::default(), Mutex::default());
        Self { ctx, store, verified, known, wrong, of_probe, creations }
    }

    /// Removes what is no longer needed. Call it now and then.
    pub(crate) fn evict_expired(&self) {
        self.wrong.evict_expired();
        self.of_probe.evict_expired();
        self.creations.evict_expired();
    }

    /// Counts a new probe of a workspace.
    pub(crate) fn count_creation(&self, workspace: WorkspaceId) -> Result<(), rpc::Error> {
        self.creations.acquire(&workspace).map_err(|wait| {
            let message = format!(
                "this workspace created more than {} in an hour; wait and retry",
                counted(limits::PROBE_CREATIONS, "probe")
            );
            rpc::resource_exhausted(message, wait)
        })
    }

    /// Returns the probe that a token belongs to. `address` is what limits wrong tokens.
    pub(super) async fn verify(
        &self,
        token: Option<&[u8]>,
        address: IpAddr,
    ) -> Result<(StoredProbe, KeyHash), RefusedProbe> {
        let unknown = |reason: &str| RefusedProbe(StatusCode::UNAUTHORIZED, reason.to_owned());
        let Some(token) = token else {
            return Err(unknown("send the token of a probe as `Authorization: Bearer`"));
        };
        let Some(presented) = probe_token::read(token) else {
            return Err(unknown("this is not the token of a probe"));
        };
        let changes = *self.store.probes().changed().borrow();
        let now = self.ctx.now();
        if let Some(probe) = self.cached(presented.hash, changes, now) {
            return Ok((probe, presented.hash));
        }
        let unavailable = |why: StoreError| {
            warn!("the token of a probe cannot be looked up: {why}");
            let reason = "the token cannot be looked up now; retry later".to_owned();
            RefusedProbe(StatusCode::SERVICE_UNAVAILABLE, reason)
        };
        let is_stored = self.is_stored(presented.probe).await.map_err(unavailable)?;
        let is_allowed = (is_stored && self.of_probe.try_acquire(&presented.probe))
            || self.wrong.try_acquire(&rate_limit_address(address));
        if !is_allowed {
            let reason = "too many unknown tokens; retry later".to_owned();
            return Err(RefusedProbe(StatusCode::TOO_MANY_REQUESTS, reason));
        }
        let found = self.store.probes().find_for_auth(presented.hash, now).await;
        let probe = found.map_err(unavailable)?.ok_or_else(|| {
            unknown("the token is unknown, revoked or replaced; create or rotate it on the server")
        })?;
        if probe.token == presented.hash && probe.previous_until.is_some() {
            // If this fails, the previous token ends at its time.
            let _ = self.store.probes().end_rotation(probe.id, presented.hash).await;
        }
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if verified.changes == changes {
            verified.tokens.insert(presented.hash, probe.clone());
        }
        Ok((probe, presented.hash))
    }

    fn cached(&self, token: KeyHash, changes: u64, now: Timestamp) -> Option<StoredProbe> {
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if verified.changes != changes {
            *verified = Verified { changes, tokens: HashMap::new() };
        }
        let probe = verified.tokens.get(&token)?;
        let is_valid = probe.token == token || probe.previous_until > Some(now);
        is_valid.then(|| probe.clone())
    }

    /// Returns a receiver that sees a new value after each change of probes.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.store.probes().changed()
    }

    /// Returns whether a probe is stored.
    pub(super) async fn is_stored(&self, probe: ProbeId) -> Result<bool, StoreError> {
        let changes = *self.store.probes().changed().borrow();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let known = known();
            if known.changes == Some(changes) {
                return Ok(known.probes.contains(&probe));
            }
        }
        let probes: HashSet<_> = self.store.probes().list().await?.iter().map(|it| it.id).collect();
        let is_stored = probes.contains(&probe);
        *known() = Known { changes: Some(changes), probes };
        Ok(is_stored)
    }
}
