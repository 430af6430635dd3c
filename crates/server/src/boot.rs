//! boot: starts a server from its settings, and stops it in order. Only it reads the environment.

mod clock;
mod closing;
mod dashboard_backend;
mod domain_tasks;
mod environment;
mod error;
mod file;
mod file_limit;
mod listen;
mod listeners;
mod metrics;
mod nats;
mod network;
mod opening;
mod page_backend;
mod preface_timeout;
mod replicas;
mod signals;
mod source;
mod stalled;
mod write_timeout;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use dashboard::Dashboard;
use futures_util::future::OptionFuture;
use pages::{Pages, PagesParts};
use rules::Secret;
use store::{Store, StoreError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use web::context::Context;
use web::proxies::TrustedProxies;

pub use self::clock::ClockError;
use self::dashboard_backend::dashboard;
use self::domain_tasks::DomainTasks;
pub use self::environment::variable;
pub use self::error::BootError;
use self::file_limit::connections_max;
use self::listeners::{Addresses, Listeners};
pub use self::network::network;
use self::network::{egress, egress_addresses};
use self::opening::open;
pub use self::opening::store_settings;
use self::page_backend::PageBackend;
pub use self::signals::Signals;
use crate::app::App;
use crate::auth::Auth;
use crate::config::{ConfigError, Layers, SETTINGS, Settings, Values};
use crate::control::{ControlService, Socket};
use crate::demo::{self, DemoError};
use crate::edge::Budget;
use crate::housekeeping;
use crate::observe::Metrics;
use crate::observe::traces::RunningExporter;
use crate::operator::{self, NoticeMeans};
use crate::pipeline::{
    self, Notifier, NotifierParts, Pipeline, PipelineParts, Probes, RunningNotifier,
};
use crate::probes::{NatsStatus, ProbeTokens};
use crate::rpc::{invitation_limits, response_entries};

/// Settings that are paths.
const PATHS: [&str; 3] = ["data", "extra_ca_file", "nats_credentials_file"];

/// Zones with the address of their name server.
pub type Zones = Vec<(String, SocketAddr)>;

/// Handle of a running server. Dropping it does not stop the server.
#[derive(Debug)]
pub struct RunningServer {
    addresses: Addresses,
    app: App,
    dashboard: Dashboard,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
    stages: pipeline::RunningPipeline,
    notifying: RunningNotifier,
    /// Sends traces until everything else has stopped.
    exporter: Option<RunningExporter>,
}

/// Loads all settings: from `flags` (by setting name), the environment and the configuration file.
/// The file is `file`, else `ALOFT_CONFIG`, else `aloft.toml` in the current or the data folder.
///
/// Paths become absolute; those in the file are relative to its folder.
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

/// Starts a server. It accepts requests when this returns.
pub async fn start(settings: &Settings, ctx: Context) -> Result<RunningServer, BootError> {
    let store = open(settings, &ctx).await?;
    start_on(store, settings, ctx, Vec::new()).await
}

/// Starts one of several servers that share a database, as a standby while another one owns it.
/// Returns `None` if a signal came first.
pub async fn start_shared(
    settings: &Settings,
    ctx: Context,
    signals: &mut Signals,
) -> Result<Option<RunningServer>, BootError> {
    environment::warn_about_unknown_variables();
    let opened = replicas::open(settings, &ctx, Listeners::bind(settings)?, signals).await?;
    let Some((store, listeners)) = opened else { return Ok(None) };
    serve(store, listeners, settings, ctx, Vec::new()).await.map(Some)
}

/// Starts a server with an empty database, even in a folder that contains workspaces.
pub async fn start_fresh(settings: &Settings, ctx: Context) -> Result<RunningServer, BootError> {
    let store = opening::open_fresh(settings, &ctx).await?;
    start_on(store, settings, ctx, Vec::new()).await
}

/// Starts a server that resolves some zones with other name servers, for tests.
pub async fn start_in_zones(
    settings: &Settings,
    ctx: Context,
    zones: Zones,
) -> Result<RunningServer, BootError> {
    let store = open(settings, &ctx).await?;
    start_on(store, settings, ctx, zones).await
}

/// Starts a server on a folder with demo data, and returns the new key of the demo.
pub async fn start_demo(
    settings: &Settings,
    ctx: Context,
) -> Result<(RunningServer, Option<Secret<String>>), BootError> {
    let store = open(settings, &ctx).await?;
    let targets = demo::Targets::serve(&ctx).await.map_err(DemoError::Listen)?;
    let zones = vec![(demo::ZONE.to_owned(), targets.dns)];
    // Create the demo last, so that no later failure prevents its key from being shown.
    let running = start_on(store, settings, ctx, zones).await?;
    match demo::fill(&running.app.demo(), &targets).await {
        Ok(key) => Ok((running, key)),
        Err(why) => {
            running.stop().await?;
            Err(why.into())
        }
    }
}

async fn start_on(
    store: Store,
    settings: &Settings,
    ctx: Context,
    zones: Zones,
) -> Result<RunningServer, BootError> {
    environment::warn_about_unknown_variables();
    serve(store, Listeners::bind(settings)?, settings, ctx, zones).await
}

async fn serve(
    store: Store,
    mut listeners: Listeners,
    settings: &Settings,
    ctx: Context,
    zones: Zones,
) -> Result<RunningServer, BootError> {
    let arrivals = replicas::arrivals(settings, &ctx, &store, &mut listeners)?;
    let control = |why| BootError::Control { folder: settings.data.clone(), why };
    let socket = Socket::open(&settings.data).map_err(control)?;
    let (metrics, exporter) = metrics::start(settings, &ctx)?;
    let network = network(settings, zones)?;
    let names = DomainTasks::new(settings, &network);
    names.domains.read(&store).await?;
    let notifier = notifier(settings, &ctx, &store, &metrics, &network)?;
    let client = probe::Client::new(network.clone());
    let means = NoticeMeans {
        ctx: ctx.clone(),
        store: store.clone(),
        notifier: notifier.clone(),
        client: probe::Client::new(network.clone()),
    };
    let (notices, recipients) = operator::recipients(means, settings.operator.clone());
    let parts = PipelineParts { notices, ..parts(settings, &ctx, &store, &metrics, network) };
    let (pipeline, stages) = Pipeline::start(parts).await?;
    let (notifying, proxies) = (notifier.start(), TrustedProxies::new(&settings.trusted_proxies));
    let [keys, responses] = ["keys", "responses"].map(|name| metrics.caches.counters(name));
    let auth = Arc::new(Auth::new(ctx.clone(), store.clone(), settings, proxies.clone(), keys));
    let pages = Pages::new(PagesParts {
        ctx: ctx.clone(),
        store: store.clone(),
        backend: Arc::new(PageBackend { pipeline: pipeline.clone(), notifier: notifier.clone() }),
        proxies: proxies.clone(),
        metrics: metrics.pages.clone(),
        caches: metrics.caches.clone(),
        client: client.clone(),
        public_url: settings.public_url.clone(),
        listener_url: listeners.addresses.local_url(),
    });
    let app = App {
        nats: settings.nats.as_ref().map(|_| NatsStatus::default()),
        probe_tokens: Arc::new(ProbeTokens::new(ctx.clone(), store.clone())),
        invitations: Arc::new(invitation_limits(&ctx)),
        call_limits: Arc::new(crate::heartbeats::CallLimits::new(&ctx)),
        ctx,
        store,
        pipeline,
        notifier,
        auth,
        metrics,
        pages,
        proxies,
        bodies: Budget::new(settings.request_body_memory),
        response_cache: Arc::new(response_entries(responses)),
        egress: egress(settings),
        client,
        default_regions: settings.default_regions.clone().into(),
        domains: Arc::clone(&names.domains),
    };

    environment::warn_without_template(&app.notifier);
    let (stop, addresses) = (CancellationToken::new(), listeners.addresses);
    let mut tasks = names.start(&app.ctx, &app.store, &stop).await?;
    addresses.log();
    let dashboard = dashboard(&app, settings, addresses.local_url(), &stop);
    dashboard.remember_sessions().await?;
    let (router, config) = (app.router(&dashboard, stop.clone()), names.certificates.tls());
    let connections = (connections_max(), app.proxies.clone());
    tasks.push(tokio::spawn(listeners.serve(router, config, connections, stop.clone())));
    tasks.extend(arrivals.map(|it| tokio::spawn(it.run(stop.clone()))));
    tasks.push(tokio::spawn(socket.serve(app.control(), stop.clone())));
    tasks.extend(recipients.start(&stop));
    tasks.extend(nats::start(&app, settings, &stop));
    let kept = app.housekeeping(dashboard.clone());
    tasks.push(tokio::spawn(housekeeping::run(kept, settings.retention, stop.clone())));
    Ok(RunningServer { addresses, app, dashboard, stop, tasks, stages, notifying, exporter })
}

impl RunningServer {
    /// Returns the address of the listener.
    pub const fn address(&self) -> SocketAddr {
        self.addresses.plain
    }

    /// Returns the address of the TLS listener.
    pub const fn tls_address(&self) -> Option<SocketAddr> {
        self.addresses.tls
    }

    /// Returns the address of the listener that redirects to TLS.
    pub const fn redirecting_address(&self) -> Option<SocketAddr> {
        self.addresses.redirecting
    }

    /// Returns the request handlers, for callers in the same process: the demo and tests.
    pub const fn app(&self) -> &App {
        &self.app
    }

    /// Returns the operations on workspaces and keys.
    pub fn control(&self) -> ControlService {
        self.app.control()
    }

    /// Returns the link that creates the first account, or `None` if there is one.
    pub async fn setup_link(&self) -> Result<Option<Secret<String>>, StoreError> {
        self.dashboard.setup_link().await
    }

    /// Returns the dashboard, for callers in the same process.
    pub const fn dashboard(&self) -> &Dashboard {
        &self.dashboard
    }

    /// Waits for a signal to end, then stops.
    ///
    /// Also stops with an error if another server takes over the database. Two servers would check
    /// everything twice, and this one could send no alerts.
    pub async fn run(self, mut signals: Signals) -> Result<(), BootError> {
        let store = self.app.store.clone();
        tokio::select! {
            () = signals.wait() => {
                signals.exit_on_next();
                return self.stop().await;
            }
            () = store.wait_for_takeover() => {}
        }
        let why = StoreError::TakenOver;
        tracing::error!(%why, "the server ends: {why}");
        // Ignore errors: saving fails because another server owns the database.
        let _ = self.stop().await;
        Err(why.into())
    }

    /// Stops in order, so that no acknowledged work is lost. Closes the listeners, finishes calls,
    /// checks and messages in progress, commits pending results and closes the store.
    pub async fn stop(self) -> Result<(), BootError> {
        tracing::info!("stopping");
        self.stop.cancel();
        closing::end(self.tasks).await;
        let App { store, pipeline, auth, .. } = self.app;
        drop(pipeline);
        tokio::join!(self.stages.stop(), self.notifying.stop(), self.dashboard.finish_emails());
        // A receiver that hangs must not delay the next owner of the database.
        let traces = OptionFuture::from(self.exporter.map(RunningExporter::finish));
        let (closed, _) = tokio::join!(closing::close(&auth, store), traces);
        closed.map_err(BootError::from)
    }
}

fn parts(
    settings: &Settings,
    ctx: &Context,
    store: &Store,
    metrics: &Metrics,
    network: probe::Settings,
) -> PipelineParts {
    PipelineParts {
        ctx: ctx.clone(),
        store: store.clone(),
        in_flight_max: network.concurrency,
        probes: Probes::embedded(probe::Probe::new(network), egress_addresses(settings)),
        connectivity_check_hosts: settings.connectivity_check_hosts.clone(),
        metrics: metrics.clone(),
        default_regions: settings.default_regions.clone().into(),
        notices: Vec::new(),
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
        vendors: settings.vendors.clone(),
        public_url: settings.public_url.clone(),
    })
    .map_err(BootError::Mail)
}
