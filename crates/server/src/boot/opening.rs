//! Opens the store that the settings name, after checks of this machine.

use std::net::SocketAddr;

use store::{MasterKeySource, Store};
use web::context::Context;

use super::file_limit::raise_file_limit;
use super::{BootError, clock};
use crate::config::Settings;

/// Returns the settings of the store: its location and the source of its encryption key.
pub fn store_settings(settings: &Settings) -> store::Settings {
    let given = settings.master_key.clone();
    store::Settings {
        folder: settings.data.clone(),
        database: settings.database.clone(),
        master_key: given.map_or(MasterKeySource::File, MasterKeySource::Bytes),
    }
}

/// Opens the store for a server.
pub(super) async fn open(settings: &Settings, ctx: &Context) -> Result<Store, BootError> {
    prepare(settings, ctx).await?;
    let store = Store::open(store_settings(settings)).await?;
    apply_plans(&store, settings);
    Ok(store)
}

/// Opens the store for one of several servers that share its database.
pub(super) async fn open_shared(
    settings: &Settings,
    ctx: &Context,
    address: SocketAddr,
) -> Result<Store, BootError> {
    prepare(settings, ctx).await?;
    let store = Store::open_shared(store_settings(settings), address).await?;
    apply_plans(&store, settings);
    Ok(store)
}

/// Opens an empty store, even in a folder that had workspaces.
pub(super) async fn open_fresh(settings: &Settings, ctx: &Context) -> Result<Store, BootError> {
    prepare(settings, ctx).await?;
    let store = Store::open_fresh(store_settings(settings)).await?;
    apply_plans(&store, settings);
    Ok(store)
}

/// Applies the plans of the settings to workspaces.
fn apply_plans(store: &Store, settings: &Settings) {
    store.set_plans(settings.plans.clone(), settings.retention_days());
}

async fn prepare(settings: &Settings, ctx: &Context) -> Result<(), BootError> {
    raise_file_limit();
    let (folder, location) = (settings.data.display(), settings.database.location(&settings.data));
    tracing::info!("data folder: {folder}; database: {location}");
    if ctx.has_system_clock()
        && let Some(offset) = settings.database.clock_offset(|| ctx.now()).await?
    {
        clock::require_close(offset)?;
    }
    Ok(())
}
