//! auth: authenticates callers. Reads the API key of a request, finds its workspace or the reason
//! to reject it, and enforces rate limits. `gate` decides from the contract which operations a
//! caller may use. `control` and `/v1` create and revoke keys. `probe_token` has the
//! tokens of probes.

mod cache;
mod credential;
pub mod key;
mod limits;
pub mod probe_token;

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use contract::SecretVisibility;
use contract::rpc::{self, Reason};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use rules::{KeyId, Role, Scope, Timestamp, UserId, WorkspaceId};
use store::{Actor, AuditContext, KeyUsage, Store, StoreError, Workspace};
use web::cache::CacheCounters;
use web::context::Context;
use web::limits::AttemptLimiter;
use web::proxies::TrustedProxies;

use self::cache::{CacheLookup, CachedKey, KeyCache};
use self::limits::{Limits, RateLimitStatus};
use crate::config::Settings;

/// Lookups of one known key from blocked networks.
const KNOWN_KEY_LOOKUPS: NonZeroU32 = NonZeroU32::new(30).expect("it is not 0");
const KNOWN_KEY_LOOKUPS_IN: Duration = Duration::from_mins(1);
/// Scheme of `Authorization` whose token is a key.
const BEARER: &[u8] = b"bearer ";
/// Lifetime of the list of known key IDs.
const KNOWN_KEYS_TTL: Duration = Duration::from_mins(1);

/// Authenticated caller, in the extensions of every request that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    pub workspace: WorkspaceId,
    pub principal: Principal,
    /// Scope of the key; a legacy key may write (spec §5.6). Members from editors on may write.
    pub scope: Scope,
    /// Whether the key was created before scopes existed.
    pub legacy: bool,
    /// Whether results omit secrets that the scope includes. Those for assistants do, because a model
    /// may repeat whatever it reads.
    pub is_redacted: bool,
    /// Address of the client, for the audit log.
    pub address: Option<IpAddr>,
}

/// The caller itself: a program with a key, or a person in the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Principal {
    Key(KeyId),
    Member { user: UserId, role: Role },
}

/// Reason that a key is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    Missing,
    Unknown,
    Expired,
    Revoked,
}

/// Authenticated caller with its rate limit status.
#[derive(Debug)]
pub(crate) struct AuthenticatedCaller {
    pub(crate) caller: Caller,
    pub(crate) key: KeyId,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) rate_limit: RateLimitStatus,
}

/// Authenticates the requests of one server.
#[derive(Debug)]
pub struct Auth {
    ctx: Context,
    store: Store,
    cache: KeyCache,
    limits: Limits,
    proxies: TrustedProxies,
    used: Mutex<HashMap<KeyId, KeyUsage>>,
    known_keys: Mutex<KnownKeys>,
    /// Limits the lookups of known keys from blocked networks.
    attempts: AttemptLimiter<KeyId>,
}

/// IDs of existing keys, so that a block of their network does not affect them.
#[derive(Debug, Default)]
struct KnownKeys {
    ids: HashSet<KeyId>,
    read_at: Option<Timestamp>,
}

impl Caller {
    /// Returns the caller for a person with this role.
    pub const fn member(workspace: WorkspaceId, user: UserId, role: Role) -> Self {
        let scope = match role {
            Role::Owner | Role::Admin | Role::Editor => Scope::Write,
            Role::Viewer => Scope::Read,
        };
        let principal = Principal::Member { user, role };
        Self { workspace, principal, scope, legacy: false, is_redacted: false, address: None }
    }

    /// Returns the same caller with the address of its client.
    #[must_use]
    pub const fn from_address(self, address: IpAddr) -> Self {
        Self { address: Some(address), ..self }
    }

    /// Returns the same caller, whose results omit secrets.
    #[must_use]
    pub const fn redacted(self) -> Self {
        Self { is_redacted: true, ..self }
    }

    /// Returns whether this caller reads secrets. Write keys and editors do (design §4).
    pub const fn secrets(self) -> SecretVisibility {
        if self.scope.may_write() && !self.is_redacted {
            SecretVisibility::Visible
        } else {
            SecretVisibility::Redacted
        }
    }

    /// Returns the audit context of a change that this caller makes at this time.
    pub const fn change(self, at: Timestamp) -> AuditContext {
        AuditContext::new(self.actor(), at).from_address(self.address)
    }

    /// Returns the author of this caller's changes, for the audit log.
    pub const fn actor(self) -> Actor {
        match self.principal {
            Principal::Key(key) => Actor::Key(key),
            Principal::Member { user, .. } => Actor::User(user),
        }
    }
}

impl Auth {
    /// Creates an authenticator with the limits of `settings` and an empty cache.
    pub fn new(
        ctx: Context,
        store: Store,
        settings: &Settings,
        proxies: TrustedProxies,
        counters: CacheCounters,
    ) -> Self {
        Self {
            limits: Limits::new(&ctx, settings),
            proxies,
            cache: KeyCache::new(counters),
            used: Mutex::default(),
            known_keys: Mutex::default(),
            attempts: AttemptLimiter::new(&ctx, KNOWN_KEY_LOOKUPS, KNOWN_KEY_LOOKUPS_IN),
            ctx,
            store,
        }
    }

    /// Authenticates a request with these headers on a connection from `peer`. Also returns the
    /// rate limit status of the key.
    pub(crate) async fn admit(
        &self,
        headers: &HeaderMap,
        peer: IpAddr,
    ) -> Result<AuthenticatedCaller, rpc::Error> {
        let address = self.proxies.address(peer, headers);
        let (caller, key, workspace) = self.identify(headers, address).await?;
        let standing = self.limits.count_call(key)?;
        Ok(AuthenticatedCaller { caller, key, workspace, rate_limit: standing })
    }

    /// Removes a key from the cache: the next call with it asks the store.
    pub fn evict(&self, key: KeyId) {
        self.cache.remove(key);
    }

    /// Stores when and from where keys were last used. Called every few seconds and at shutdown.
    pub async fn save_last_uses(&self) -> Result<(), StoreError> {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        if used.is_empty() {
            return Ok(());
        }
        self.store.keys().record_uses(used.into_values().collect()).await
    }

    /// Evicts limits and keys that were not used for a while.
    pub fn evict_expired(&self) {
        self.limits.evict_expired();
        self.attempts.evict_expired();
        self.cache.evict_expired(self.ctx.now());
    }

    async fn identify(
        &self,
        headers: &HeaderMap,
        address: IpAddr,
    ) -> Result<(Caller, KeyId, Arc<Workspace>), rpc::Error> {
        let Some(text) = presented_key(headers) else {
            return Err(self.refuse(Refused::Missing, address));
        };
        let Some(presented) = key::read(text) else {
            return Err(self.refuse(Refused::Unknown, address));
        };
        let now = self.ctx.now();
        let verdict = match self.cache.get(&presented.hash, now) {
            CacheLookup::Fresh(verdict) => verdict,
            CacheLookup::Stale => self.look_up(presented, now, address).await?,
            CacheLookup::Missing => {
                if let Err(blocked) = self.limits.may_look_up(address)
                    && !self.can_bypass_block(presented.id, now).await?
                {
                    return Err(blocked);
                }
                self.look_up(presented, now, address).await?
            }
        };
        let (caller, key, workspace) =
            verdict.caller(now).map_err(|reason| self.refuse(reason, address))?;
        Ok((caller.from_address(address), key, workspace))
    }

    /// Returns whether a key with this ID exists and may be looked up although its network is
    /// blocked. Other clients behind the same proxy must not lock it out, even after a restart.
    async fn can_bypass_block(&self, key: KeyId, now: Timestamp) -> Result<bool, rpc::Error> {
        let is_fresh =
            |known: &KnownKeys| known.read_at.is_some_and(|at| now.since(at) < KNOWN_KEYS_TTL);
        if !is_fresh(&self.known_keys()) {
            let ids = self.store.keys().active_ids().await.map_err(|error| lookup_error(&error))?;
            *self.known_keys() = KnownKeys { ids, read_at: Some(now) };
        }
        let is_known = self.known_keys().ids.contains(&key);
        Ok(is_known && self.attempts.try_acquire(&key))
    }

    fn known_keys(&self) -> MutexGuard<'_, KnownKeys> {
        self.known_keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn look_up(
        &self,
        key: key::PresentedKey,
        now: Timestamp,
        from: IpAddr,
    ) -> Result<CachedKey, rpc::Error> {
        let generation = self.cache.generation();
        let found = self
            .store
            .keys()
            .find_for_auth(key.hash)
            .await
            .map_err(|error| lookup_error(&error))?;
        let verdict = CachedKey::from_lookup(found);
        if verdict.caller(now).is_ok() {
            let used = KeyUsage { key: key.id, at: now, from };
            self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(key.id, used);
        }
        self.cache.put(key.hash, verdict.clone(), now, generation);
        Ok(verdict)
    }

    fn refuse(&self, reason: Refused, address: IpAddr) -> rpc::Error {
        // A request without a key is no attempt to guess one.
        if reason != Refused::Missing
            && let Err(limited) = self.limits.count_failure(address)
        {
            return limited;
        }
        rpc::unauthenticated(reason.into(), reason.message())
    }
}

/// Returns whether these headers contain a well-formed key, or the well-formed token of a probe.
pub(crate) fn has_well_formed_key(headers: &HeaderMap) -> bool {
    presented_key(headers).and_then(key::read).is_some()
        || bearer(headers).and_then(probe_token::read).is_some()
}

/// Returns the key in the headers: `x-service-key`, else `Authorization: Bearer`. An empty value
/// counts as missing.
fn presented_key(headers: &HeaderMap) -> Option<&[u8]> {
    let own = headers.get(rpc::KEY_HEADER).map(HeaderValue::as_bytes);
    own.filter(|key| !key.is_empty()).or_else(|| bearer(headers)).filter(|key| !key.is_empty())
}

/// Returns the credential in `Authorization: Bearer`.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let text = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = text.split_at_checked(BEARER.len())?;
    scheme.eq_ignore_ascii_case(BEARER).then(|| token.trim_ascii())
}

fn lookup_error(error: &StoreError) -> rpc::Error {
    tracing::error!(%error, "failed to look up an API key");
    rpc::deferred("API keys cannot be checked at the moment; retry")
}

impl Refused {
    const fn message(self) -> &'static str {
        match self {
            Self::Missing => {
                "the API key is missing; send it in the header x-service-key or as a bearer token"
            }
            Self::Unknown => {
                "unknown API key; check that it is complete and belongs to this server"
            }
            Self::Expired => "this API key has expired; create a new one",
            Self::Revoked => "this API key was revoked; create a new one",
        }
    }
}

impl From<Refused> for Reason {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Missing => Self::KeyMissing,
            Refused::Unknown => Self::KeyUnknown,
            Refused::Expired => Self::KeyExpired,
            Refused::Revoked => Self::KeyRevoked,
        }
    }
}
