//! Faults of the server and of the network: lost responses, limits, concurrent changes.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use serde_json::json;
use testkit::server::{Caller, TestServer};
use testkit::target::TcpTarget;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::world::World;

const MONITORS: &str = "monitor.v1.MonitorService";
const MONITOR: &str = r#"
resource "service_tcp_monitor" "m" {
  name        = "m"
  uri         = "example.com:443"
  periodicity = "1m"
}
"#;

/// A proxy in front of the server.
#[derive(Default)]
struct FaultyProxy {
    /// Number of creates whose response is still to be lost.
    to_lose: AtomicUsize,
    /// Number of calls that the server rejected by its rate limit.
    limited: AtomicUsize,
}

impl FaultyProxy {
    /// Puts the proxy between Terraform and the server.
    async fn install(self, world: &mut World) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        world.terraform.set("SERVICE_API_URL", format!("http://127.0.0.1:{port}/rpc"));
        let (between, caller) = (Arc::new(self), world.writer());
        let shared = Arc::clone(&between);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(pass(stream, caller.clone(), Arc::clone(&shared)));
            }
        });
        between
    }
}

async fn pass(mut stream: TcpStream, caller: Caller, between: Arc<FaultyProxy>) {
    let mut raw = Vec::new();
    let head = loop {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await.unwrap();
        if read == 0 {
            return;
        }
        raw.extend_from_slice(&part[..read]);
        if let Some(end) = raw.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let text = String::from_utf8(raw[..head].to_vec()).unwrap();
    let mut lines = text.lines();
    let mut first = lines.next().unwrap().split(' ');
    let (method, path) = (first.next().unwrap(), first.next().unwrap().to_owned());
    let mut request = http::Request::builder().method(method).uri(&path);
    let mut length = 0;
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        match name {
            "content-length" => length = value.parse().unwrap(),
            // The caller adds its own key.
            "x-service-key" => continue,
            _ => {}
        }
        request = request.header(name, value);
    }
    while raw.len() < head + length {
        stream.read_buf(&mut raw).await.unwrap();
    }
    let body = Full::new(Bytes::copy_from_slice(&raw[head..]));
    let reply = caller.request(request.body(body).unwrap()).await;
    if reply.status == 429 {
        between.limited.fetch_add(1, Ordering::SeqCst);
    }
    let lose = || {
        let less = |left: usize| left.checked_sub(1);
        between.to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    };
    if path.contains("/Create") && lose() {
        return;
    }
    let mut answer = format!("HTTP/1.1 {}\r\nconnection: close\r\n", reply.status);
    write!(answer, "content-length: {}\r\n", reply.body.len()).unwrap();
    let framing = ["connection", "content-length", "transfer-encoding"];
    for (name, value) in reply.headers.iter().filter(|(name, _)| !framing.contains(&name.as_str()))
    {
        write!(answer, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
    }
    answer.push_str("\r\n");
    stream.write_all(&[answer.as_bytes(), &reply.body].concat()).await.unwrap();
}

#[tokio::test]
async fn lost_response_leaves_no_orphan() {
    // issue 5 point 6
    let mut world = World::start().await;
    let between = FaultyProxy { to_lose: AtomicUsize::new(2), ..FaultyProxy::default() };
    let between = between.install(&mut world).await;
    let state = world.settle(MONITOR).await;
    let list = world.rpc(MONITORS, "ListMonitors", json!({})).await;
    assert_eq!(list["totalSize"], 1);
    assert_eq!(list["tcpMonitors"][0]["id"], *state.value("service_tcp_monitor.m", "id"));
    assert_eq!(between.to_lose.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn rate_limit_is_waited_for() {
    // issue 5 point 6
    let few = NonZeroU32::new(20).unwrap();
    let server = TestServer::start_with(|settings| {
        settings.calls_per_second = few;
        settings.calls_burst = NonZeroU32::new(2).unwrap();
    });
    let mut world = World::with_server(server.await);
    let between = FaultyProxy::default().install(&mut world).await;
    let body = MONITOR.replace("\" {", "\" {\n  count = 12\n");
    // The test controls the server's clock: it stops until the limit is reached, and runs while Terraform
    // waits.
    let mut ticks = tokio::time::interval(Duration::from_millis(50));
    let going = async {
        loop {
            while between.limited.load(Ordering::SeqCst) == 0 {
                tokio::task::yield_now().await;
            }
            ticks.tick().await;
            world.server.advance(Duration::from_millis(50));
        }
    };
    let state = tokio::select! {
        state = world.settle(&body) => state,
        () = going => unreachable!("it goes on"),
    };
    assert_eq!(state.addresses().len(), 12);
    // So many concurrent calls exceed the limit.
    assert!(between.limited.load(Ordering::SeqCst) > 0);
}

/// Answers one request with 204.
async fn serve_no_content(mut stream: TcpStream) {
    // A client that disconnects gets no response.
    let _ = stream.read(&mut [0; 4096]).await;
    let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await;
}

#[tokio::test]
async fn status_may_change_between_plan_and_apply() {
    // The target does not respond before the plan, so the status is unknown until then.
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = target.local_addr().unwrap().port();
    let world = World::with_server(TestServer::start_on_system_clock().await);
    let body = |name: &str| {
        format!(
            "resource \"service_http_monitor\" \"m\" {{\n name = \"{name}\"\n \
             url = \"http://127.0.0.1:{port}/\"\n periodicity = \"1h\"\n timeout = 120000\n \
             active = true\n}}\n"
        )
    };
    world.configure(&body("before"));
    let applied = world.terraform.apply().await.unwrap();
    let id = applied.state.value("service_http_monitor.m", "id").clone();
    let status = async || {
        let answer = world.rpc(MONITORS, "GetMonitorStatus", json!({ "id": id })).await;
        answer["status"].as_str().unwrap().to_owned()
    };
    let planned = applied.state.value("service_http_monitor.m", "status").clone();
    world.plan(&body("after")).await;
    assert_eq!(planned, status().await);
    tokio::spawn(async move {
        while let Ok((stream, _)) = target.accept().await {
            tokio::spawn(serve_no_content(stream));
        }
    });
    while planned == status().await {
        tokio::task::yield_now().await;
    }
    world.apply_planned().await;
    world.must_be_settled().await;
}

#[tokio::test]
async fn unreachable_server_is_named_with_its_address() {
    let mut world = World::start().await;
    let nobody = TcpTarget::refusing();
    let url = format!("http://{}/rpc", nobody.address());
    world.terraform.set("SERVICE_API_URL", &url);
    world.configure(
        "provider \"service\" {\n  max_retries = 0\n}\ndata \"service_whoami\" \"this\" {}\n",
    );
    let error = world.terraform.plan().await.unwrap_err();
    let message = error.diagnostics()[0].to_string();
    assert!(message.contains(&url) && message.contains("SERVICE_API_URL"), "{message}");
}
