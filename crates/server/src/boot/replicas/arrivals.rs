//! The owner takes the connections that standbys pass on. Each one continues as if its client had
//! connected to the same listener of this server, with the client's address. A server that replaced
//! this one tells it here, because a server that cannot reach the database does not notice.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use store::Store;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use web::context::Context;

use super::greeting::{ACCEPTED, GREETING_BYTES, Greeting, ReplicaKey};
use crate::boot::listen::handle_accept_error;
use crate::boot::source::HandOvers;

/// Time limit for the greeting of a connection, and for the listener to take it.
const GREETING_WITHIN: Duration = Duration::from_secs(3);
/// Maximum number of connections of one address that no listener has taken yet.
const UNTAKEN_MAX: u32 = 256;
/// Maximum number of addresses with such connections.
const ADDRESSES_MAX: usize = 256;
/// Interval between two warnings about refused connections.
const WARN_INTERVAL: Duration = Duration::from_mins(1);

/// Receiver of connections from standbys.
pub(in crate::boot) struct Arrivals {
    listener: TcpListener,
    context: Arc<ArrivalContext>,
}

/// State of all connections.
struct ArrivalContext {
    ctx: Context,
    key: ReplicaKey,
    hand_overs: HandOvers,
    store: Store,
    untaken: Mutex<HashMap<IpAddr, u32>>,
    warned_at: Mutex<Option<Instant>>,
}

/// A connection that no listener has taken yet, until it is dropped.
struct Untaken {
    context: Arc<ArrivalContext>,
    address: IpAddr,
}

impl Arrivals {
    pub(super) fn new(
        listener: TcpListener,
        (ctx, key): (Context, ReplicaKey),
        hand_overs: HandOvers,
        store: Store,
    ) -> Self {
        let (untaken, warned_at) = (Mutex::default(), Mutex::default());
        let context = ArrivalContext { ctx, key, hand_overs, store, untaken, warned_at };
        Self { listener, context: Arc::new(context) }
    }

    /// Takes connections until `stop` is cancelled.
    pub(in crate::boot) async fn run(self, stop: CancellationToken) {
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => return,
                accepted = self.listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, from)) => {
                    if let Some(untaken) = Untaken::begin(&self.context, from.ip()) {
                        tokio::spawn(take(untaken, stream));
                    }
                }
                Err(error) => handle_accept_error(&error).await,
            }
        }
    }
}

impl Untaken {
    /// Counts a connection of this address. `None` if it has too many, so that a stranger takes no room
    /// from the standbys.
    fn begin(context: &Arc<ArrivalContext>, address: IpAddr) -> Option<Self> {
        let mut untaken = context.untaken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = untaken.contains_key(&address);
        if !is_known && untaken.len() >= ADDRESSES_MAX {
            return None;
        }
        let count = untaken.entry(address).or_default();
        if *count >= UNTAKEN_MAX {
            return None;
        }
        *count += 1;
        Some(Self { context: Arc::clone(context), address })
    }
}

impl Drop for Untaken {
    fn drop(&mut self) {
        let mut untaken = self.context.untaken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = untaken.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                untaken.remove(&self.address);
            }
        }
    }
}

async fn take(untaken: Untaken, stream: TcpStream) {
    let context = &untaken.context;
    let greeted = timeout(GREETING_WITHIN, greet(context, stream)).await;
    let refusal = match greeted {
        Ok(Ok(())) => return,
        Ok(Err(why)) => why.to_string(),
        Err(_) => "its greeting did not arrive in time".to_owned(),
    };
    let mut warned_at = context.warned_at.lock().unwrap_or_else(PoisonError::into_inner);
    let address = untaken.address;
    if warned_at.is_none_or(|it| it.elapsed() > WARN_INTERVAL) {
        *warned_at = Some(Instant::now());
        tracing::warn!("refused a connection of {address} as a standby: {refusal}");
    } else {
        tracing::debug!("refused a connection of {address} as a standby: {refusal}");
    }
}

/// Reads the greeting, and does what it asks. Accepts a connection once its listener has room for it.
async fn greet(context: &ArrivalContext, mut stream: TcpStream) -> io::Result<()> {
    let mut bytes = [0; GREETING_BYTES];
    stream.read_exact(&mut bytes).await?;
    let greeting = Greeting::read(&bytes, &context.key, context.ctx.now());
    match greeting.map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))? {
        Greeting::Client { entry_point, peer } => {
            let Some(hand_over) = context.hand_overs.get(entry_point) else {
                let why = "this server has no such listener; use the same settings for both";
                return Err(io::Error::other(why));
            };
            // Only a server that stops takes it no more. The standby then offers it to the next owner.
            let place = hand_over.reserve().await.map_err(io::Error::other)?;
            stream.write_all(&[ACCEPTED]).await?;
            place.send((stream, peer));
            Ok(())
        }
        Greeting::Replaced { by } if context.store.end_ownership(by) => {
            stream.write_all(&[ACCEPTED]).await
        }
        Greeting::Replaced { .. } => Err(io::Error::other("it claims to replace a later owner")),
    }
}
