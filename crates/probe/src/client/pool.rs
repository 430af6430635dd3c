//! A pool of idle connections for further requests to the same origin. A connection enters it after
//! its response was read completely. Nobody reads from it meanwhile, so a closed one is detected on
//! reuse.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::FutureExt as _;
use http::Version;
use tokio::time::{Instant, sleep};

use super::request::Origin;
use crate::limits::{CONNECTION_AGE, CONNECTION_IDLE, IDLE_CONNECTIONS, IDLE_PER_RECEIVER};
use crate::transport::http::connection::{HttpConnection, Sender};

/// An open connection.
pub(super) struct Connection {
    pub(super) link: HttpConnection,
    pub(super) sender: Sender,
    pub(super) peer: Option<SocketAddr>,
    pub(super) version: Version,
    pub(super) opened: Instant,
}

/// The pool of idle connections.
#[derive(Default)]
pub(super) struct ConnectionPool(Mutex<IdleConnections>);

#[derive(Default)]
struct IdleConnections {
    by_origin: HashMap<Origin, Vec<(Instant, Connection)>>,
    count: usize,
    /// Whether a task is running that closes expired connections.
    is_swept: bool,
}

impl ConnectionPool {
    /// Takes the most recently used connection to `origin` that has not expired.
    pub(super) fn take(&self, origin: &Origin) -> Option<Connection> {
        let mut idle = self.lock();
        let (since, connection) = idle.by_origin.get_mut(origin)?.pop()?;
        idle.count -= 1;
        (since.elapsed() < CONNECTION_IDLE).then_some(connection)
    }

    /// Adds a connection whose last response was read completely, unless it is too old or the pool
    /// is full.
    pub(super) fn store(self: &Arc<Self>, origin: Origin, mut connection: Connection) {
        // Completes pending work of the connection, such as closing.
        let _ = connection.link.drive(std::future::ready(()), || {}).now_or_never();
        if !connection.link.is_open() || connection.opened.elapsed() >= CONNECTION_AGE {
            return;
        }
        let mut idle = self.lock();
        if idle.count >= IDLE_CONNECTIONS {
            return;
        }
        let there = idle.by_origin.entry(origin).or_default();
        if there.len() >= IDLE_PER_RECEIVER {
            return;
        }
        there.push((Instant::now(), connection));
        idle.count += 1;
        if !std::mem::replace(&mut idle.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Closes expired connections; returns whether any remain.
    fn evict_expired(&self) -> bool {
        let mut idle = self.lock();
        for waiting in idle.by_origin.values_mut() {
            waiting.retain(|(since, _)| since.elapsed() < CONNECTION_IDLE);
        }
        idle.by_origin.retain(|_, waiting| !waiting.is_empty());
        idle.count = idle.by_origin.values().map(Vec::len).sum();
        idle.is_swept = idle.count > 0;
        idle.is_swept
    }

    fn lock(&self) -> MutexGuard<'_, IdleConnections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes expired connections until none remain or the client is dropped.
async fn sweep(pool: Weak<ConnectionPool>) {
    loop {
        sleep(CONNECTION_IDLE).await;
        match pool.upgrade() {
            Some(pool) if pool.evict_expired() => {}
            Some(_) | None => return,
        }
    }
}
