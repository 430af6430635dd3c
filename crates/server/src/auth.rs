//! auth: who calls. Reads the key of a request, says whose it is or why it is refused, and keeps
//! callers within their limits. What a caller may do follows from the contract and is decided in
//! `gate`; keys are made and revoked by `control` and `/v1`.

mod address;
mod cache;
mod gate;
pub mod key;
mod limits;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use contract::rpc::{self, Reason};
use http::HeaderMap;
use ipnet::IpNet;
use rules::{KeyId, Scope, Timestamp, WorkspaceId};
use store::{Store, StoreError, Workspace};

use self::cache::{Cache, Remembered, Verdict};
pub(crate) use self::gate::{Gate, Peer};
use self::limits::{Limits, Standing};
pub(crate) use self::limits::{Tries, network};
use crate::config::Settings;
use crate::context::Context;

/// Who calls: a key that was checked. Stands in the extensions of every request that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The workspace that the key belongs to.
    pub workspace: WorkspaceId,
    /// The key.
    pub key: KeyId,
    /// What it may do; a legacy key may write (spec §5.6).
    pub scope: Scope,
    /// Whether the key is from before there were scopes.
    pub legacy: bool,
}

/// Why a key lets nobody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    Missing,
    Unknown,
    Expired,
    Revoked,
}

/// A caller who may come in.
#[derive(Debug)]
struct Admitted {
    caller: Caller,
    workspace: Arc<Workspace>,
    standing: Standing,
}

/// The doorkeeper of one server.
#[derive(Debug)]
pub struct Auth {
    ctx: Context,
    store: Store,
    cache: Cache,
    limits: Limits,
    trusted_proxies: Vec<IpNet>,
    used: Mutex<HashMap<KeyId, Timestamp>>,
}

impl Auth {
    /// A doorkeeper with the limits of `settings`, that knows nobody yet.
    pub fn new(ctx: Context, store: Store, settings: &Settings) -> Self {
        Self {
            limits: Limits::new(ctx.clone(), settings),
            trusted_proxies: settings.trusted_proxies.clone(),
            cache: Cache::default(),
            used: Mutex::default(),
            ctx,
            store,
        }
    }

    /// The address of whoever asks with these headers over a connection from `peer`.
    pub(crate) fn address(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        address::caller(peer, headers, &self.trusted_proxies)
    }

    /// Whether this is the address of a proxy that is trusted.
    pub(crate) fn is_proxy(&self, peer: IpAddr) -> bool {
        address::is_trusted(peer, &self.trusted_proxies)
    }

    /// Says who calls with these headers over a connection from `peer`, and how far from the limit
    /// the key is.
    async fn admit(&self, headers: &HeaderMap, peer: IpAddr) -> Result<Admitted, rpc::Error> {
        let address = self.address(peer, headers);
        let (caller, workspace) = self.identify(headers, address).await?;
        let standing = self.limits.call(caller.key)?;
        Ok(Admitted { caller, workspace, standing })
    }

    /// Forgets what is known of a key: the next call with it asks the store.
    pub fn forget(&self, key: KeyId) {
        self.cache.forget(key);
    }

    /// Writes down when keys were used last; called every few seconds and at the end.
    pub async fn save_last_uses(&self) -> Result<(), StoreError> {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        if used.is_empty() {
            return Ok(());
        }
        self.store.keys().touch(used.into_iter().collect()).await
    }

    /// Drops what is known of limits and keys that nobody used for a while.
    pub fn tidy(&self) {
        self.limits.tidy();
        self.cache.tidy(self.ctx.now());
    }

    async fn identify(
        &self,
        headers: &HeaderMap,
        address: IpAddr,
    ) -> Result<(Caller, Arc<Workspace>), rpc::Error> {
        let Some(text) = headers.get(rpc::KEY_HEADER) else {
            return Err(self.refuse(Refused::Missing, address));
        };
        let Some(presented) = key::read(text.as_bytes()) else {
            return Err(self.refuse(Refused::Unknown, address));
        };
        let now = self.ctx.now();
        let verdict = match self.cache.get(&presented.hash, now) {
            Remembered::Now(verdict) => verdict,
            Remembered::Before => self.look_up(presented, now).await?,
            Remembered::No => {
                self.limits.may_look_up(address)?;
                self.look_up(presented, now).await?
            }
        };
        verdict.caller(now).map_err(|reason| self.refuse(reason, address))
    }

    async fn look_up(&self, key: key::PresentedKey, now: Timestamp) -> Result<Verdict, rpc::Error> {
        let generation = self.cache.generation();
        let found = self.store.keys().find_for_auth(key.hash).await.map_err(|error| {
            tracing::error!(%error, "failed to look up an API key");
            rpc::put_off("API keys cannot be checked at the moment; retry")
        })?;
        let verdict = Verdict::of(found);
        if verdict.caller(now).is_ok() {
            self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(key.id, now);
        }
        self.cache.put(key.hash, verdict.clone(), now, generation);
        Ok(verdict)
    }

    fn refuse(&self, reason: Refused, address: IpAddr) -> rpc::Error {
        if let Err(limited) = self.limits.failed(address) {
            return limited;
        }
        rpc::unauthenticated(reason.into(), reason.message())
    }
}

impl Refused {
    const fn message(self) -> &'static str {
        match self {
            Self::Missing => "the header x-service-key is missing; send an API key in it",
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
