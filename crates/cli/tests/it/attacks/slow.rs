//! Slow clients: connections that begin a request and never end it.

use std::convert::Infallible;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::{FEW_FILES, OpenConnection, attack};
use crate::process::{Home, PATIENCE, get, http_monitor, until};
use crate::target::Target;

/// Beginnings of requests whose rest never arrives, one for each kind of route.
const UNFINISHED: [&str; 10] = [
    "",
    "GET /readyz HTTP/1.1\r\nhost: a\r\n",
    "POST /status/none/unlock HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nx",
    "POST /status/none/subscribe HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n",
    "POST /rpc/monitor.v1.MonitorService/ListMonitors HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{",
    "DELETE /v1/keys/x HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nx",
    "POST /docs HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nx",
    "POST /login HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nx",
    "POST /probe/v1/jobs HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nx",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
];
/// Slow connections to a server with 64 places (issue 16, point 1).
const TO_FEW_PLACES: usize = 4_096;
/// Slow connections to a server with as many places as it may have (issue 16, targets).
const TO_MANY_PLACES: usize = 10_000;
/// Open files that the tests of this program need beside these connections.
const OTHER_FILES: usize = 2_048;
/// Number of measured requests.
const MEASURED: usize = 200;
const LIST: &str = "/rpc/monitor.v1.MonitorService/ListMonitors";

/// Server that answers every request at once, to compare with.
struct BareServer {
    address: SocketAddr,
    _runtime: Runtime,
}

impl BareServer {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answer = service_fn(async |_| {
                    Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"{}"))))
                });
                let served = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                tokio::spawn(served);
            }
        });
        Self { address, _runtime: runtime }
    }
}

/// Open files of one test at a time.
static FILES: Mutex<()> = Mutex::new(());

/// Raises the limit of open files of this process, and returns how many of these connections it has
/// room for.
fn affordable(wanted: usize) -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let files = limit.maximum.map_or(usize::MAX, |files| usize::try_from(files).unwrap());
    wanted.min(files.saturating_sub(OTHER_FILES))
}

/// Opens slow connections, and asks after each tenth of them.
pub(super) fn open_slow(
    address: SocketAddr,
    count: usize,
    mut ask: impl FnMut(usize),
) -> Vec<TcpStream> {
    let mut slow = Vec::with_capacity(count);
    for number in 1..=count {
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
        // The server may have closed the connection already.
        let _ = stream.write_all(UNFINISHED[number % UNFINISHED.len()].as_bytes());
        slow.push(stream);
        if number % (count / 10) == 0 {
            ask(number);
        }
    }
    slow
}

/// Returns the median and the 90th percentile of sorted times.
fn shown(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let [median, p90] = [5, 9].map(|tenth| times[times.len() * tenth / 10].as_secs_f64() * 1e3);
    format!("median {median:.1} ms, p90 {p90:.1} ms")
}

fn timed(address: SocketAddr) -> Duration {
    let begun = Instant::now();
    assert_eq!(get(address, "/readyz").unwrap().status, 200);
    begun.elapsed()
}

// issue 16, point 1: 64 connections with one byte of a body blocked all others for ever
#[test]
fn slow_clients_do_not_block_others() {
    let _files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    attack(|| {
        let (home, key) = Home::with_key();
        let server = home.serve_with_files(FEW_FILES);
        let mut keyed = OpenConnection::open(server.address);
        let read = format!("x-service-key: {key}\r\ncontent-type: application/json\r\n");
        assert_eq!(keyed.send("POST", LIST, &read, b"{}").0, 200);
        let slow = open_slow(server.address, affordable(TO_FEW_PLACES), |number| {
            assert_eq!(get(server.address, "/readyz").unwrap().status, 200, "{number}");
            assert_eq!(keyed.send("POST", LIST, &read, b"{}").0, 200, "{number}");
        });
        drop(slow);
        assert!(server.stop().success());
    });
}

// issue 16, targets: "10,000 slow connections across all kinds of routes"
#[test]
fn server_answers_beside_ten_thousand_slow_clients() {
    let _files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    attack(|| {
        let (home, key) = Home::with_key();
        let server = home.serve();
        let mut keyed = OpenConnection::open(server.address);
        let read = format!("x-service-key: {key}\r\ncontent-type: application/json\r\n");
        let target = Target::start();
        let mut monitor = http_monitor("checked", &target.url("/"), &["fly-ams"]);
        monitor["active"] = json!(false);
        let created = server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
        let id = &created["monitor"]["id"];
        let on_time = http_monitor("on time", &target.url("/"), &["fly-ams", "fly-fra"]);
        let created = server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": on_time }));
        let on_time = json!({ "id": created["monitor"]["id"] });
        let count = affordable(TO_MANY_PLACES);
        let slow = open_slow(server.address, count, |number| {
            assert_eq!(get(server.address, "/readyz").unwrap().status, 200, "{number}");
            assert_eq!(keyed.send("POST", LIST, &read, b"{}").0, 200, "{number}");
            let checked = server.rpc(&key, "TriggerMonitor", &json!({ "id": id }));
            assert_eq!(checked["results"][0]["outcome"], "success", "{number}: {checked}");
        });
        let bare = BareServer::start();
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for _ in 0..MEASURED {
            own.push(timed(server.address));
            other.push(timed(bare.address));
        }
        until("both regions are checked", || {
            let logs = server.rpc(&key, "ListResponseLogs", &on_time);
            (logs["logs"].as_array()?.len() >= 2).then_some(())
        });
        let metrics = get(server.address, "/metrics").unwrap().body;
        for name in ["aloft_missed_slots_total", "aloft_expired_slots_total"] {
            assert!(metrics.lines().any(|line| line == format!("{name} 0")), "{metrics}");
        }
        println!(
            "/readyz beside {count} slow connections: {}; a bare server: {}",
            shown(&mut own),
            shown(&mut other)
        );
        drop(slow);
        assert!(server.stop().success());
    });
}
