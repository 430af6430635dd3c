//! A standby passes its connections on to the owner of the database. A connection waits while no owner
//! takes it, and becomes this server's own if it takes over meanwhile. `relay` copies the bytes.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use web::context::Context;
use web::peer::EntryPoint;
use web::proxies::TrustedProxies;

use super::OwnerAddress;
use super::greeting::{Greeting, ReplicaKey, greet};
use super::relay::relay;
use crate::boot::file_limit::connections_max;
use crate::boot::listen::{self, DRAIN_WITHIN, handle_accept_error};
use crate::boot::listeners::Listeners;
use crate::boot::source::{ConnectionSource, HandOver};
use crate::connection::{ConnectionLimits, ConnectionPermit};

/// Time limit for the owner to accept a connection. An owner that hangs does not accept it, so the
/// connection waits for the next owner.
const ACCEPT_WITHIN: Duration = Duration::from_secs(2);
/// Time that a connection waits for an owner, longer than an orderly stop takes.
const OWNER_WITHIN: Duration = Duration::from_secs(30);
/// Pause between two attempts to reach the owner.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// The task that passes connections on.
pub(super) struct Passing {
    stop: CancellationToken,
    task: JoinHandle<Listeners>,
    connections: TaskTracker,
}

/// State of all connections.
struct PassingContext {
    ctx: Context,
    key: ReplicaKey,
    owner: watch::Receiver<OwnerAddress>,
    stop: CancellationToken,
    connections: TaskTracker,
}

/// A connection of a client, and the listener that took it.
struct Passenger {
    stream: TcpStream,
    peer: SocketAddr,
    entry_point: EntryPoint,
    permit: ConnectionPermit,
}

impl Passing {
    /// Passes all connections on from now on. Those of `proxies` carry many clients.
    pub(super) fn start(
        mut listeners: Listeners,
        (ctx, key): (Context, ReplicaKey),
        owner: watch::Receiver<OwnerAddress>,
        proxies: &TrustedProxies,
    ) -> Self {
        let (stop, connections) = (CancellationToken::new(), TaskTracker::new());
        let tracker = connections.clone();
        let context =
            Arc::new(PassingContext { ctx, key, owner, stop: stop.clone(), connections: tracker });
        let proxies = proxies.clone();
        let task = tokio::spawn(async move {
            let sources = listeners.sources();
            // Each connection takes two files.
            let max = (connections_max() / 2 / sources.len().max(1)).max(1);
            let passing = sources.into_iter().map(|(entry_point, source)| {
                pass_all(&context, entry_point, source, ConnectionLimits::new(max, proxies.clone()))
            });
            futures_util::future::join_all(passing).await;
            listeners
        });
        Self { stop, task, connections }
    }

    /// Passes no more connections on, and returns the listeners. Connections that wait for an owner are
    /// handed over to this server.
    pub(super) async fn stop(self) -> Listeners {
        self.stop.cancel();
        self.task.await.expect("the task does not panic")
    }

    /// Closes the listeners, and waits until the connections that were passed on end.
    pub(super) async fn drain(self) {
        let connections = self.connections.clone();
        drop(self.stop().await);
        connections.close();
        if timeout(DRAIN_WITHIN, connections.wait()).await.is_err() {
            tracing::warn!("connections did not end within {DRAIN_WITHIN:?} and are closed");
        }
    }
}

/// Passes the connections of one listener on, each in a task of its own.
async fn pass_all(
    context: &Arc<PassingContext>,
    entry_point: EntryPoint,
    source: &mut ConnectionSource,
    limits: Arc<ConnectionLimits>,
) {
    loop {
        let accepted = tokio::select! {
            () = context.stop.cancelled() => return,
            accepted = listen::accept(source, &limits) => accepted,
        };
        match accepted {
            Ok((stream, peer, permit)) => {
                let passenger = Passenger { stream, peer, entry_point, permit };
                let (context, hand_over) = (Arc::clone(context), source.hand_over());
                let connections = context.connections.clone();
                connections.spawn(async move {
                    let connection = passenger.permit.connection().clone();
                    tokio::select! {
                        () = pass_on(&context, passenger, &hand_over) => {}
                        () = connection.closed() => {}
                    }
                });
            }
            Err(error) => handle_accept_error(&error).await,
        }
    }
}

async fn pass_on(context: &PassingContext, passenger: Passenger, hand_over: &HandOver) {
    let mut owner = context.owner.clone();
    let give_up_at = Instant::now() + OWNER_WITHIN;
    let mut failure = "no owner takes connections from standbys".to_owned();
    while Instant::now() < give_up_at {
        let address = *owner.borrow_and_update();
        if let Some(address) = address
            && !context.stop.is_cancelled()
        {
            match timeout(ACCEPT_WITHIN, board(context, &passenger, address)).await {
                Ok(Ok(link)) => {
                    let Passenger { stream, permit, .. } = passenger;
                    // The owner applies its limits to the connection. Here it makes no room for others.
                    permit.connection().set_has_key();
                    let _served = permit.connection().serve();
                    return relay(stream, link, owner).await;
                }
                Ok(Err(error)) => failure = format!("the owner at {address} refused it: {error}"),
                Err(_) => failure = format!("the owner at {address} did not accept it in time"),
            }
        }
        tokio::select! {
            () = context.stop.cancelled() => {
                // The listener takes it as its own, unless the server ends.
                let _ = hand_over.send((passenger.stream, passenger.peer)).await;
                return;
            }
            Ok(()) = owner.changed() => {}
            () = tokio::time::sleep(RETRY_PAUSE) => {}
        }
    }
    tracing::warn!("closed a connection of {}: {failure}", passenger.peer.ip());
}

/// Connects to the owner, which accepts the connection.
async fn board(
    context: &PassingContext,
    passenger: &Passenger,
    address: SocketAddr,
) -> io::Result<TcpStream> {
    let mut link = TcpStream::connect(address).await?;
    link.set_nodelay(true)?;
    let &Passenger { peer, entry_point, .. } = passenger;
    greet(&mut link, Greeting::Client { entry_point, peer }, &context.key, &context.ctx).await?;
    Ok(link)
}
