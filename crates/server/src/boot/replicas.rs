//! Several servers with one PostgreSQL database. One owns it and does all the work; the others are
//! standbys. Each of them answers: a standby passes every connection on to the owner (`passing`), which
//! takes it as if it had come directly (`arrivals`). A signed `greeting` begins a connection between
//! servers. When the owner ends or falls silent, a standby takes over, with its listeners and all
//! connections that wait.

mod arrivals;
mod greeting;
mod passing;
mod relay;

use std::net::SocketAddr;
use std::time::Duration;

use store::{Database, DatabaseOwner, Standby, Store, StoreError};
use tokio::net::TcpStream;
use tokio::sync::watch;
use web::context::Context;
use web::proxies::TrustedProxies;

use self::greeting::{Greeting, ReplicaKey};
use self::passing::Passing;
use super::listeners::Listeners;
use super::{BootError, Signals, opening, store_settings};
use crate::config::Settings;

pub(super) use self::arrivals::Arrivals;

/// Interval in which a standby looks who owns the database.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// Attempts to tell a former owner that it was replaced, with this interval: as long as a paused process or
/// a broken network may last, some minutes.
const TELL_ATTEMPTS: u32 = 60;
const TELL_INTERVAL: Duration = Duration::from_secs(5);

/// Where the owner takes connections, as a standby knows it.
type OwnerAddress = Option<SocketAddr>;

/// Opens the store once no other server owns it, and passes connections on until then. Returns `None` if
/// a signal came first.
pub(super) async fn open(
    settings: &Settings,
    ctx: &Context,
    listeners: Listeners,
    signals: &mut Signals,
) -> Result<Option<(Store, Listeners)>, BootError> {
    let address = listeners.addresses.replica.expect("only a server with this address is shared");
    match opening::open_shared(settings, ctx, address).await {
        Err(BootError::Store(StoreError::DatabaseInUse { holder })) => {
            tracing::info!("waiting as a standby, because {holder} owns the database");
            listeners.addresses.log();
        }
        opened => return Ok(Some((opened?, listeners))),
    }
    let key = ReplicaKey::new(&store_settings(settings).replica_key()?);
    let (owner, proxies) =
        (watch::Sender::new(None), TrustedProxies::new(&settings.trusted_proxies));
    let around = (ctx.clone(), key.clone());
    let passing = Passing::start(listeners, around, owner.subscribe(), &proxies);
    let taken = tokio::select! {
        taken = take_over(settings, ctx, address, &owner) => taken?,
        () = signals.wait() => {
            passing.drain().await;
            return Ok(None);
        }
    };
    let former = *owner.borrow();
    drop(owner);
    let (listeners, store) = (passing.stop().await, taken.store);
    let silent = former.filter(|_| !taken.was_released);
    if let (Some(former), Some(number)) = (silent, store.owner_number()) {
        tokio::spawn(tell_replaced(former, number, key, ctx.clone()));
    }
    Ok(Some((store, listeners)))
}

/// Tells the former owner that it was replaced. If it cannot reach the database, it would keep its probes
/// and clients until it can.
async fn tell_replaced(former: SocketAddr, by: i64, key: ReplicaKey, ctx: Context) {
    for _ in 0..TELL_ATTEMPTS {
        let telling = async {
            let mut link = TcpStream::connect(former).await?;
            greeting::greet(&mut link, Greeting::Replaced { by }, &key, &ctx).await
        };
        match tokio::time::timeout(TELL_INTERVAL, telling).await {
            Ok(Ok(())) => return,
            // It ended, or a standby runs there.
            Ok(Err(why)) => tracing::debug!("failed to tell the former owner at {former}: {why}"),
            Err(_) => {}
        }
        tokio::time::sleep(TELL_INTERVAL).await;
    }
}

/// Returns the receiver of connections that standbys pass on to this server, the owner.
pub(super) fn arrivals(
    settings: &Settings,
    ctx: &Context,
    store: &Store,
    listeners: &mut Listeners,
) -> Result<Option<Arrivals>, BootError> {
    let Some(listener) = listeners.take_replica() else { return Ok(None) };
    let key = ReplicaKey::new(&store_settings(settings).replica_key()?);
    let hand_overs = listeners.hand_overs();
    Ok(Some(Arrivals::new(listener, (ctx.clone(), key), hand_overs, store.clone())))
}

/// A database that this server owns now.
struct TakenDatabase {
    store: Store,
    /// Whether the former owner ended in order.
    was_released: bool,
}

/// Waits until nobody owns the database, and opens it. Tells `owner` who owns it meanwhile.
async fn take_over(
    settings: &Settings,
    ctx: &Context,
    own: SocketAddr,
    owner: &watch::Sender<OwnerAddress>,
) -> Result<TakenDatabase, BootError> {
    let Database::Postgres(database) = &settings.database else {
        unreachable!("`replica_address` requires PostgreSQL")
    };
    let mut standby = Standby::new(database, own)?;
    let (mut is_failing, mut known) = (false, None);
    loop {
        let looked = match standby.look().await {
            Ok(DatabaseOwner::Nobody) => match opening::open_shared(settings, ctx, own).await {
                // Another standby was faster.
                Err(BootError::Store(StoreError::DatabaseInUse { .. })) => Ok(()),
                // The database restarts, for example.
                Err(BootError::Store(why @ StoreError::Database(_))) => Err(why),
                opened => {
                    let was_released = standby.was_released();
                    return Ok(TakenDatabase { store: opened?, was_released });
                }
            },
            Ok(DatabaseOwner::Another { address }) => {
                if known != Some(address) {
                    log_owner(address, own);
                    known = Some(address);
                    owner.send_replace(address.filter(|it| *it != own));
                }
                Ok(())
            }
            Err(why) => Err(why),
        };
        match looked {
            Ok(()) => is_failing = false,
            Err(why) if is_failing => tracing::debug!("failed to look at the database: {why}"),
            Err(why) => {
                tracing::warn!("failed to look who owns the database, and retrying: {why}");
                is_failing = true;
            }
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

fn log_owner(address: OwnerAddress, own: SocketAddr) {
    match address {
        // This server was the owner before, or both have the same setting.
        Some(address) if address == own => tracing::warn!(
            "the owner of the database has this server's own `replica_address`; each server needs another one"
        ),
        Some(address) => tracing::info!("passing connections on to the owner at {address}"),
        None => tracing::warn!(
            "the owner of the database takes no connections from standbys; set its `replica_address`"
        ),
    }
}
