//! What the demo's monitors check: a healthy, a slow, a failing and a flapping page, a TCP port and
//! a DNS zone, all on loopback and gone with the server.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, UdpSocket};

use super::zone;
use crate::context::Context;

/// Ports that are tried first, so that a demo looks the same after a restart; any free one else.
const PREFERRED_HTTP: u16 = 8090;
const PREFERRED_TCP: u16 = 8091;
const PREFERRED_DNS: u16 = 8053;
/// How long `/slow` takes; the demo's monitor calls more than 500 ms slow.
const SLOW: Duration = Duration::from_millis(900);
/// `/flapping` is well for this long, then fails as long.
const FLAP: Duration = Duration::from_secs(75);

/// Where the targets listen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Targets {
    /// The pages.
    pub(super) http: SocketAddr,
    /// The port that takes connections.
    pub(super) tcp: SocketAddr,
    /// The name server of the demo's zone.
    pub(crate) dns: SocketAddr,
}

impl Targets {
    /// Binds the targets and serves them until the process ends.
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
            let answer = service_fn(|request| answer(request, &ctx));
            // A visitor that goes away in the middle is no news to a demo.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

async fn answer(request: Request<Incoming>, ctx: &Context) -> Result<Response<String>, Infallible> {
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
        // The connection is all a TCP check asks for; dropping it closes it.
        drop(listener.accept().await);
    }
}
