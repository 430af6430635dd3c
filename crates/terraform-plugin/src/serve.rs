//! Runs the plugin's process from start to end: checks that a host started it, opens the socket,
//! serves requests and shuts down. Leaves the responses to `server`.

mod connection;
mod debug;
mod environment;
mod error;
mod guard;
mod handshake;
mod listen;
mod services;
mod signals;
mod stop;
mod tls;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;

use crate::log;
use crate::proto::plugin::grpc_broker_server::GrpcBrokerServer;
use crate::proto::plugin::grpc_controller_server::GrpcControllerServer;
use crate::proto::plugin::grpc_stdio_server::GrpcStdioServer;
use crate::proto::tfplugin6::provider_server::{Provider, ProviderServer};
use environment::Environment;
use error::ServeError;
use guard::Guarded;
use handshake::Handshake;
use listen::Listener;
use services::{Broker, Controller, Stdio};
pub(crate) use stop::Stop;
use tls::Tls;

/// Maximum message size, as in providers written in Go. States of thousands of objects fit.
const MESSAGE_BYTES_MAX: usize = 256 << 20;
/// Time for calls under way at shutdown. Hosts kill the process after two seconds.
const GRACE: Duration = Duration::from_millis(1500);
/// Name of the service whose health go-plugin requests.
const HEALTH: &str = "plugin";

/// Serves a provider until the host no longer needs it, and returns the exit code of the process.
/// `address` is its source with the registry. `service` creates the responder and receives the stop
/// signal.
pub(crate) fn run<S: Provider>(address: &str, service: impl FnOnce(Stop) -> S) -> ExitCode {
    let name = address.rsplit('/').next().unwrap_or(address);
    let environment = Environment::from_process(name);
    if !environment.is_started_by_host && !environment.debug {
        return failed(handshake::BY_HAND);
    }
    log::start(environment.log.as_deref(), environment.debug);
    guard::report_panics();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(why) => return failed(&format!("failed to start threads: {why}\n")),
    };
    let served = runtime.block_on(serve(address, &environment, service));
    // Threads that are still busy have had their grace period.
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => failed(&format!("failed to serve this provider: {why}\n")),
    }
}

/// Prints to a person, or to the host's log, why the provider does not serve.
fn failed(why: &str) -> ExitCode {
    // If stderr is closed, nobody can read the error.
    drop(std::io::stderr().write_all(why.as_bytes()));
    ExitCode::FAILURE
}

async fn serve<S: Provider>(
    address: &str,
    environment: &Environment,
    service: impl FnOnce(Stop) -> S,
) -> Result<(), ServeError> {
    let shutdown = CancellationToken::new();
    let pem = environment.client_certificate.as_ref().filter(|_| !environment.debug);
    let tls = pem.map(|pem| Tls::for_host(pem)).transpose()?;
    let mut listener = Listener::open(environment, tls.is_some()).await?;
    signals::watch(environment.debug, &shutdown)?;
    announce(address, environment, &listener, tls.as_ref())?;
    // Owned here because the accepting task is cancelled at shutdown and not awaited.
    let folder = listener.folder.take();

    let stop = Stop::default();
    let provider = ProviderServer::new(service(stop.clone()))
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let (health_reporter, health) = tonic_health::server::health_reporter();
    health_reporter.set_service_status(HEALTH, tonic_health::ServingStatus::Serving).await;
    let router = Server::builder()
        .add_service(Guarded(provider))
        .add_service(health)
        .add_service(GrpcControllerServer::new(Controller { shutdown: shutdown.clone() }))
        .add_service(GrpcStdioServer::new(Stdio { shutdown: shutdown.clone() }))
        .add_service(GrpcBrokerServer::new(Broker { shutdown: shutdown.clone() }));
    let over = shutdown.clone().cancelled_owned();
    let serving = router.serve_with_incoming_shutdown(listener.connections(tls), over);
    let served = tokio::select! {
        served = serving => served.map_err(ServeError::Serve),
        () = stop_after_grace(shutdown, stop) => Ok(()),
    };
    drop(folder);
    served
}

/// Returns when the grace period after the shutdown signal is over.
async fn stop_after_grace(shutdown: CancellationToken, stop: Stop) {
    shutdown.cancelled().await;
    stop.now();
    tokio::time::sleep(GRACE).await;
    tracing::warn!("aborted calls that were still running after the grace period");
}

/// Prints where to connect to, for the host or for a person with a debugger. From then on,
/// everything that the provider prints to stdout goes to stderr.
fn announce(
    address: &str,
    environment: &Environment,
    listener: &Listener,
    tls: Option<&Tls>,
) -> Result<(), ServeError> {
    let mut stdout = std::io::stdout().lock();
    if environment.debug {
        let text = debug::instructions(address, listener);
        return writeln!(stdout, "{text}")
            .and_then(|()| stdout.flush())
            .map_err(ServeError::Announce);
    }
    if !handshake::is_understood(environment) {
        tracing::error!(
            "this Terraform does not support plugin protocol 6; use version 1.0 or newer"
        );
    }
    let handshake = Handshake {
        network: listener.network,
        address: &listener.address,
        certificate: tls.map(|tls| tls.certificate.as_ref()),
        seventh_part: environment.seventh_part,
    };
    let line = handshake.line();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(ServeError::Announce)?;
    #[cfg(unix)]
    rustix::stdio::dup2_stdout(std::io::stderr())
        .map_err(|why| ServeError::Announce(std::io::Error::from(why)))?;
    Ok(())
}
