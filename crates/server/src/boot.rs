//! boot: from settings to a running server, and back to nothing in order. The only place that reads
//! the environment.

mod draining;
mod environment;
mod file;
mod housekeeping;
mod listen;
mod listeners;
mod names;
mod network;
mod opening;
mod signals;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rules::Secret;
use store::{MasterKeySource, Store, StoreError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use self::environment::variable;
use self::listeners::{Addresses, Listeners};
use self::names::Names;
pub use self::network::network;
use self::network::{egress, egress_addresses};
pub use self::signals::Signals;
use crate::app::App;
use crate::auth::Auth;
use crate::config::{ConfigError, Layers, SETTINGS, Settings, Values};
use crate::context::Context;
use crate::control::{Desk, Socket};
use crate::demo::{self, DemoError};
use crate::edge::Budget;
use crate::observe::Metrics;
use crate::operator;
use crate::pipeline::{
    self, Notifier, NotifierParts, Notifying, Parts, Pipeline, PipelineError, Probes,
};
use crate::status_page::{Icons, PageShelf, SubscribeDesk, Tickets, VisitorGate};

/// The settings that are paths.
const PATHS: [&str; 2] = ["data", "extra_ca_file"];
/// Connections that callers may have also where few files may be open.
const CONNECTIONS_LEAST: usize = 64;

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// The store could not be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The address is taken or not ours.
    #[error("cannot listen on {address}: {why}; choose another with {flag}")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// What the system said.
        why: io::Error,
        /// The flag that sets it.
        flag: &'static str,
    },
    /// The control socket could not be opened.
    #[error("cannot open the control socket in `{}`: {why}", .folder.display())]
    Control {
        /// The data folder.
        folder: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// The certificates that checks shall trust are not readable.
    #[error("`extra_ca_file` `{}` cannot be used: {why}", .path.display())]
    ExtraCa {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The mail server cannot be used as it is set.
    #[error("the mail server of `ALOFT_SMTP_URL` cannot be used: {0}")]
    Mail(String),
    /// The pipeline could not start.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// The demo could not be made.
    #[error(transparent)]
    Demo(#[from] DemoError),
}

/// Zones that have a name server of their own.
pub type Zones = Vec<(String, SocketAddr)>;

/// A server that runs. Dropping it leaves it running until the process ends.
#[derive(Debug)]
pub struct Running {
    addresses: Addresses,
    app: App,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
    stages: pipeline::Running,
    notifying: Notifying,
}

/// Loads all settings: from `flags` (by the settings' names), the environment and the file, which is
/// `file`, or `ALOFT_CONFIG`, or `aloft.toml` here or in the data folder. Paths become absolute;
/// those of the file are relative to the folder of the file.
pub fn load(
    flags: BTreeMap<String, String>,
    file: Option<PathBuf>,
) -> Result<(Values, Settings), ConfigError> {
    let known = SETTINGS
        .iter()
        .filter_map(|setting| Some((setting.name.to_owned(), variable(&setting.variable())?)));
    let mut layers = Layers { flags, environment: known.collect(), file: None };
    let named = file.or_else(|| variable(environment::FILE).map(PathBuf::from));
    layers.file = match named {
        Some(path) => Some(file::read(&path)?),
        None => file::find(&layers.resolve()?.get("data").text)?,
    };
    let mut values = layers.resolve()?;
    for value in values.0.iter_mut().filter(|it| PATHS.contains(&it.setting.name)) {
        value.text = file::absolute(&value.text, &value.origin)?;
    }
    let settings = Settings::parse(&values)?;
    Ok((values, settings))
}

/// Starts a server. It answers when this returns.
pub async fn start(settings: &Settings, ctx: Context) -> Result<Running, BootError> {
    let store = open(settings).await?;
    start_on(store, settings, ctx, Vec::new()).await
}

/// Starts a server with an empty database, also in a folder that has held workspaces.
pub async fn start_fresh(settings: &Settings, ctx: Context) -> Result<Running, BootError> {
    prepare(settings);
    let store = Store::open_fresh(store_settings(settings)).await?;
    hold_to_plans(&store, settings);
    start_on(store, settings, ctx, Vec::new()).await
}

/// Starts a server that asks for the names of some zones elsewhere: tests have names of their own.
pub async fn start_in_zones(
    settings: &Settings,
    ctx: Context,
    zones: Zones,
) -> Result<Running, BootError> {
    let store = open(settings).await?;
    start_on(store, settings, ctx, zones).await
}

/// Starts a server on a folder that has something to look at, and tells the new key of its demo.
pub async fn start_demo(
    settings: &Settings,
    ctx: Context,
) -> Result<(Running, Option<Secret<String>>), BootError> {
    let store = open(settings).await?;
    let targets = demo::Targets::serve(&ctx).await.map_err(DemoError::Listen)?;
    let zones = vec![(demo::ZONE.to_owned(), targets.dns)];
    // The demo is made last: a key that is made is shown, whatever else may fail.
    let running = start_on(store, settings, ctx, zones).await?;
    match demo::fill(&running.app, &targets).await {
        Ok(key) => Ok((running, key)),
        Err(why) => {
            running.stop().await?;
            Err(why.into())
        }
    }
}

async fn open(settings: &Settings) -> Result<Store, StoreError> {
    prepare(settings);
    let store = Store::open(store_settings(settings)).await?;
    hold_to_plans(&store, settings);
    Ok(store)
}

/// Holds workspaces to the plans of the settings.
fn hold_to_plans(store: &Store, settings: &Settings) {
    store.hold_to(settings.plans.clone(), settings.retention_days());
}

fn prepare(settings: &Settings) {
    raise_file_limit();
    let (folder, place) = (settings.data.display(), settings.database.place(&settings.data));
    tracing::info!("data folder: {folder}; database: {place}");
}

async fn start_on(
    store: Store,
    settings: &Settings,
    ctx: Context,
    zones: Zones,
) -> Result<Running, BootError> {
    environment::warn_of_strangers();
    let listeners = Listeners::bind(settings).await?;
    let control = |why| BootError::Control { folder: settings.data.clone(), why };
    let socket = Socket::open(&settings.data).map_err(control)?;

    let metrics = Metrics::new();
    let network = network(settings, zones)?;
    let names = Names::open(settings, &network);
    names.domains.read(&store).await?;
    let notifier = notifier(settings, &ctx, &store, &metrics, &network)?;
    let icons = Arc::new(Icons::new(probe::Client::new(network.clone())));
    let (notes, notes_end) = operator::notes();
    let operator_client = probe::Client::new(network.clone());
    let parts = Parts {
        operator: settings.operator.is_some().then_some(notes),
        ..parts(settings, &ctx, &store, &metrics, network)
    };
    let (pipeline, stages) = Pipeline::start(parts).await?;
    let notifying = notifier.start();
    let auth = Arc::new(Auth::new(ctx.clone(), store.clone(), settings));
    let default_regions = settings.default_regions.clone().into();
    let (egress, shelf) = (egress(settings), Arc::default());
    let visitors = Arc::new(VisitorGate::new(&ctx, store.session_key()));
    let subscribing = Arc::new(SubscribeDesk::new(&ctx, Tickets::new(store.session_key())));
    let own = listeners.addresses.own();
    let page_shelf = Arc::new(PageShelf::new(settings.public_url.clone(), own, metrics.clone()));
    let app = App {
        ctx,
        store,
        pipeline,
        notifier,
        auth,
        metrics,
        bodies: Budget::default(),
        shelf,
        page_shelf,
        behind: Arc::default(),
        icons,
        visitors,
        subscribing,
        egress,
        default_regions,
        domains: Arc::clone(&names.domains),
    };

    if app.notifier.is_without_template() {
        tracing::warn!(
            "`whatsapp_from` is set without `whatsapp_template`: WhatsApp messages reach only people who wrote to the sender within 24 hours"
        );
    }
    let stop = CancellationToken::new();
    let mut tasks = names.keep(&app, &stop).await?;
    let addresses = listeners.addresses;
    addresses.tell();
    let (router, config) = (app.router(stop.clone()), names.certificates.tls());
    let connections = (connections_max(), settings.trusted_proxies.clone());
    tasks.push(tokio::spawn(listeners.serve(router, config, connections, stop.clone())));
    tasks.push(tokio::spawn(socket.serve(app.desk(), stop.clone())));
    if let Some(operator) = settings.operator.clone() {
        let means = (operator_client, app.notifier.clone());
        let teller = operator::Teller::new(app.ctx.clone(), operator, means, notes_end);
        tasks.push(tokio::spawn(teller.run(stop.clone())));
    }
    let keep = housekeeping::keep(app.clone(), settings.retention, stop.clone());
    tasks.push(tokio::spawn(keep));
    Ok(Running { addresses, app, stop, tasks, stages, notifying })
}

/// Where the store lives, and where the key of its secrets comes from.
pub fn store_settings(settings: &Settings) -> store::Settings {
    let given = settings.master_key.clone();
    store::Settings {
        folder: settings.data.clone(),
        database: settings.database.clone(),
        master_key: given.map_or(MasterKeySource::File, MasterKeySource::Bytes),
    }
}

impl Running {
    /// The address it answers on.
    pub const fn address(&self) -> SocketAddr {
        self.addresses.plain
    }

    /// The address it answers on in TLS.
    pub const fn tls_address(&self) -> Option<SocketAddr> {
        self.addresses.tls
    }

    /// The address at which it sends people to TLS.
    pub const fn redirecting_address(&self) -> Option<SocketAddr> {
        self.addresses.redirecting
    }

    /// The parts that answer, for those who live in the same process: the demo and tests.
    pub const fn app(&self) -> &App {
        &self.app
    }

    /// The operations on workspaces and keys.
    pub fn desk(&self) -> Desk {
        self.app.desk()
    }

    /// Waits until the process is asked to end, then stops. Where another server takes the database
    /// over it stops too, and says so: two servers would check everything twice, and this one could
    /// tell nobody.
    pub async fn run(self, mut signals: Signals) -> Result<(), BootError> {
        let store = self.app.store.clone();
        tokio::select! {
            () = signals.heard() => {
                signals.end_on_the_next();
                return self.stop().await;
            }
            () = store.taken_over() => {}
        }
        let why = StoreError::TakenOver;
        tracing::error!(%why, "the server ends: {why}");
        // What it still knows belongs to nobody; that it cannot be stored is the reason of it all.
        let _ = self.stop().await;
        Err(why.into())
    }

    /// Stops in order, so that nothing that was promised is lost: no new connections, calls under
    /// way are answered, checks and messages under way end, what waits is committed, the store is
    /// closed.
    pub async fn stop(self) -> Result<(), BootError> {
        tracing::info!("stopping");
        self.stop.cancel();
        for task in self.tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "a task of the server failed: {error}");
            }
        }
        let App { store, pipeline, auth, .. } = self.app;
        drop(pipeline);
        tokio::join!(self.stages.stop(), self.notifying.stop());
        if let Err(error) = auth.save_last_uses().await {
            tracing::warn!(%error, "failed to store when keys were last used: {error}");
        }
        store.close().await?;
        Ok(())
    }
}

fn parts(
    settings: &Settings,
    ctx: &Context,
    store: &Store,
    metrics: &Metrics,
    network: probe::Settings,
) -> Parts {
    Parts {
        ctx: ctx.clone(),
        store: store.clone(),
        in_flight_max: network.concurrency,
        probes: Probes::embedded(probe::Probe::new(network), egress_addresses(settings)),
        canaries: settings.canaries.clone(),
        metrics: metrics.clone(),
        default_regions: settings.default_regions.clone().into(),
        operator: None,
    }
}

fn notifier(
    settings: &Settings,
    ctx: &Context,
    store: &Store,
    metrics: &Metrics,
    network: &probe::Settings,
) -> Result<Notifier, BootError> {
    Notifier::new(NotifierParts {
        ctx: ctx.clone(),
        store: store.clone(),
        metrics: metrics.clone(),
        client: probe::Client::new(network.clone()),
        mail: settings.mail.clone(),
        extra_roots: &network.extra_roots,
        servers: settings.servers.clone(),
        public_url: settings.public_url.clone(),
    })
    .map_err(BootError::Mail)
}

/// Connections of callers share the open files with checks, which have most of them: half as many.
fn connections_max() -> usize {
    (probe::concurrency_limit() / 2).max(CONNECTIONS_LEAST)
}

/// Each check needs a file handle; the soft limit is often far below what the system allows.
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "failed to raise the limit of open files: {error}");
    }
}
