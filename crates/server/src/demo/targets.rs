//! The targets of the demo's monitors on loopback: a healthy, a slow, a failing and a flapping
//! page, a TCP port and a DNS zone. They run until the server stops.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, UdpSocket};
use web::context::Context;

use super::zone;

/// Preferred ports, so that a demo looks the same after a restart. If one is in use, any free port.
const PREFERRED_HTTP: u16 = 8090;
const PREFERRED_TCP: u16 = 8091;
const PREFERRED_DNS: u16 = 8053;
/// Latency of `/slow`. The demo's monitor has a threshold of 500 ms.
const SLOW: Duration = Duration::from_millis(900);
/// Time that `/flapping` succeeds, and time that it then fails.
const FLAP: Duration = Duration::from_secs(75);

/// The addresses of the targets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Targets {
    pub(super) http: SocketAddr,
    pub(super) tcp: SocketAddr,
    pub(crate) dns: SocketAddr,
}

impl Targets {
    /// Starts the targets, which run until the process ends.
    pub(crate) async fn serve(ctx: &Context) -> std::io::Result<Self> {
        let http = listen(PREFERRED_HTTP).await?;
        let tcp = listen(PREFERRED_TCP).await?;
        let dns = match UdpSocket::bind((Ipv4Addr::LOCALHOST, PREFERRED_DNS)).await {
            Ok(socket) => socket,
            Err(_) => UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?,
        };
        let targets =
            Self { http: http.local_addr()?, tcp: tcp.local_addr()?, dns: dns.local_addr()? };
        tokio::spawn(serve_http(http, ctx.clone()));
        tokio::spawn(serve_tcp(tcp));
        tokio::spawn(zone::serve(dns));
        Ok(targets)
    }
}

async fn listen(preferred: u16) -> std::io::Result<TcpListener> {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, preferred)).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await,
    }
}

async fn serve_http(listener: TcpListener, ctx: Context) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let ctx = ctx.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request| respond(request, &ctx));
            // Ignore clients that disconnect early.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

async fn respond(
    request: Request<Incoming>,
    ctx: &Context,
) -> Result<Response<String>, Infallible> {
    let (status, body) = match request.uri().path() {
        "/healthy" => (StatusCode::OK, "all is well\n"),
        "/slow" => {
            ctx.sleep_until(ctx.now() + SLOW).await;
            (StatusCode::OK, "well, after a while\n")
        }
        "/failing" => (StatusCode::SERVICE_UNAVAILABLE, "the demo's failing page\n"),
        "/flapping" if flaps_up(ctx) => (StatusCode::OK, "well for the moment\n"),
        "/flapping" => (StatusCode::INTERNAL_SERVER_ERROR, "failing for the moment\n"),
        _ => (StatusCode::NOT_FOUND, "try /healthy, /slow, /failing or /flapping\n"),
    };
    let mut response = Response::new(body.to_owned());
    *response.status_mut() = status;
    Ok(response)
}

fn flaps_up(ctx: &Context) -> bool {
    (ctx.now().as_millis() / FLAP.as_millis() as i64) % 2 == 0
}

async fn serve_tcp(listener: TcpListener) {
    loop {
        // A TCP check needs only the connection. Dropping it closes it.
        drop(listener.accept().await);
    }
}
