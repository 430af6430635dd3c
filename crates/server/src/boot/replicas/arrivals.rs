//! The owner takes the connections that standbys pass on. Each one continues as if its client had
//! connected to the same listener of this server, with the client's address. A server that replaced
//! this one tells it here, because a server that cannot reach the database does not notice.

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
use web::proxies::TrustedProxies;

use super::greeting::{ACCEPTED, GREETING_BYTES, Greeting, ReplicaKey};
use crate::boot::listen::{self, handle_accept_error};
use crate::boot::source::{ConnectionSource, HandOvers};
use crate::connection::{ConnectionLimits, ConnectionPermit};

/// Time limit for the greeting of a connection, and for the listener to take it.
const GREETING_WITHIN: Duration = Duration::from_secs(3);
/// Maximum number of connections that no listener has taken yet. Those that wait longest make room.
const UNTAKEN_MAX: usize = 1_024;
/// Interval between two warnings about refused connections.
const WARN_INTERVAL: Duration = Duration::from_mins(1);

/// Receiver of connections from standbys.
pub(in crate::boot) struct Arrivals {
    source: ConnectionSource,
    context: Arc<ArrivalContext>,
}

/// State of all connections.
struct ArrivalContext {
    ctx: Context,
    key: ReplicaKey,
    hand_overs: HandOvers,
    store: Store,
    warned_at: Mutex<Option<Instant>>,
}

impl Arrivals {
    pub(super) fn new(
        listener: TcpListener,
        (ctx, key): (Context, ReplicaKey),
        hand_overs: HandOvers,
        store: Store,
    ) -> Self {
        let context = ArrivalContext { ctx, key, hand_overs, store, warned_at: Mutex::default() };
        Self { source: listener.into(), context: Arc::new(context) }
    }

    /// Takes connections until `stop` is cancelled.
    pub(in crate::boot) async fn run(mut self, stop: CancellationToken) {
        let limits = ConnectionLimits::new(UNTAKEN_MAX, TrustedProxies::default());
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => return,
                accepted = listen::accept(&mut self.source, &limits) => accepted,
            };
            match accepted {
                Ok((stream, from, permit)) => {
                    tokio::spawn(take(Arc::clone(&self.context), stream, from.ip(), permit));
                }
                Err(error) => handle_accept_error(&error).await,
            }
        }
    }
}

async fn take(
    context: Arc<ArrivalContext>,
    stream: TcpStream,
    address: IpAddr,
    permit: ConnectionPermit,
) {
    let greeted = tokio::select! {
        greeted = timeout(GREETING_WITHIN, greet(&context, stream)) => greeted,
        () = permit.connection().closed() => return,
    };
    let refusal = match greeted {
        Ok(Ok(())) => return,
        Ok(Err(why)) => why.to_string(),
        Err(_) => "its greeting did not arrive in time".to_owned(),
    };
    let mut warned_at = context.warned_at.lock().unwrap_or_else(PoisonError::into_inner);
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
