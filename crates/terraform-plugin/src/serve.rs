//! From the start of the process to its end, as Terraform expects of a plugin: who started it, where
//! the host connects to, what it may ask, and when it is over. What the provider answers belongs to
//! `server`.

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
use error::Error;
use guard::Guarded;
use handshake::Handshake;
use listen::Listener;
use services::{Broker, Controller, Stdio};
pub(crate) use stop::Stop;
use tls::Tls;

/// Messages are as large as those of Go's providers: states of thousands of objects fit.
const MESSAGE_BYTES_MAX: usize = 256 << 20;
/// What is under way at the end may take this long; hosts kill after two seconds.
const GRACE: Duration = Duration::from_millis(1500);
/// The service by which go-plugin asks whether a plugin is well.
const HEALTH: &str = "plugin";

/// Serves a provider until the host is done with it, and tells the exit code of the process.
/// `address` is what configurations name as its source, with the registry. `service` makes the
/// answers, and may ask whether it should stop.
pub(crate) fn run<S: Provider>(address: &str, service: impl FnOnce(Stop) -> S) -> ExitCode {
    let name = address.rsplit('/').next().unwrap_or(address);
    let environment = Environment::of_process(name);
    if !environment.by_host && !environment.debug {
        return failed(handshake::BY_HAND);
    }
    log::start(environment.log.as_deref(), environment.debug);
    guard::report_panics();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(why) => return failed(&format!("cannot start threads: {why}\n")),
    };
    let served = runtime.block_on(serve(address, &environment, service));
    // Threads that are still busy have had their time.
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => failed(&format!("this provider cannot be served: {why}\n")),
    }
}

/// Says to a person, or to the host's log, why there is nothing to connect to.
fn failed(why: &str) -> ExitCode {
    // Without a stderr there is nobody to tell.
    drop(std::io::stderr().write_all(why.as_bytes()));
    ExitCode::FAILURE
}

async fn serve<S: Provider>(
    address: &str,
    environment: &Environment,
    service: impl FnOnce(Stop) -> S,
) -> Result<(), Error> {
    let shutdown = CancellationToken::new();
    let pem = environment.client_certificate.as_ref().filter(|_| !environment.debug);
    let tls = pem.map(|pem| Tls::for_host(pem)).transpose()?;
    let mut listener = Listener::open(environment, tls.is_some()).await?;
    signals::watch(environment.debug, &shutdown)?;
    announce(address, environment, &listener, tls.as_ref())?;
    // Held here and not by the task that accepts, which is given up at the end and not waited for.
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
        served = serving => served.map_err(Error::Serve),
        () = cut_off(shutdown, stop) => Ok(()),
    };
    drop(folder);
    served
}

/// Ends when the time is over that calls under way were given to end by themselves.
async fn cut_off(shutdown: CancellationToken, stop: Stop) {
    shutdown.cancelled().await;
    stop.now();
    tokio::time::sleep(GRACE).await;
    tracing::warn!("calls were still under way at the end");
}

/// Tells the host, or the person with the debugger, where to connect to. Stdout is the host's from
/// then on, whatever the provider prints.
fn announce(
    address: &str,
    environment: &Environment,
    listener: &Listener,
    tls: Option<&Tls>,
) -> Result<(), Error> {
    let mut stdout = std::io::stdout().lock();
    if environment.debug {
        let text = debug::instructions(address, listener);
        return writeln!(stdout, "{text}").and_then(|()| stdout.flush()).map_err(Error::Announce);
    }
    if !handshake::is_understood(environment) {
        tracing::error!("this Terraform does not speak plugin protocol 6: it is older than 1.0");
    }
    let handshake = Handshake {
        network: listener.network,
        address: &listener.address,
        certificate: tls.map(|tls| tls.certificate.as_ref()),
        seventh_part: environment.seventh_part,
    };
    let line = handshake.line();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(Error::Announce)?;
    #[cfg(unix)]
    rustix::stdio::dup2_stdout(std::io::stderr())
        .map_err(|why| Error::Announce(std::io::Error::from(why)))?;
    Ok(())
}
