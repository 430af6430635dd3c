//! Faults of the way to the server and of the server: answers that are lost, limits, changes meanwhile.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use serde_json::json;
use testkit::server::{Caller, TestServer};
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

/// Passes requests on to the server, and loses the answers to the first creates.
async fn losing(caller: Caller, lost: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let left = Arc::new(AtomicUsize::new(lost));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(pass(stream, caller.clone(), Arc::clone(&left)));
        }
    });
    port
}

async fn pass(mut stream: TcpStream, caller: Caller, left: Arc<AtomicUsize>) {
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
            // The caller signs for itself.
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
    let loses = path.contains("/Create")
        && left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .is_ok();
    if loses {
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
async fn an_answer_that_was_lost_makes_no_orphan() {
    // issue 5 point 6
    let mut world = World::start().await;
    let port = losing(world.writer(), 2).await;
    world.terraform.set("SERVICE_API_URL", format!("http://127.0.0.1:{port}/rpc"));
    let state = world.settle(MONITOR).await;
    let list = world.rpc(MONITORS, "ListMonitors", json!({})).await;
    assert_eq!(list["totalSize"], 1);
    assert_eq!(list["tcpMonitors"][0]["id"], *state.value("service_tcp_monitor.m", "id"));
}

#[tokio::test]
async fn a_server_that_limits_calls_is_waited_for() {
    // issue 5 point 6
    let few = NonZeroU32::new(20).unwrap();
    let server = TestServer::start_with(|settings| {
        settings.calls_per_second = few;
        settings.calls_burst = NonZeroU32::new(2).unwrap();
    });
    let world = World::of(server.await);
    let body = MONITOR.replace("\" {", "\" {\n  count = 12\n");
    // The server's clock is the test's: it goes while Terraform waits.
    let mut ticks = tokio::time::interval(Duration::from_millis(50));
    let going = async {
        loop {
            ticks.tick().await;
            world.server.advance(Duration::from_millis(50));
        }
    };
    let state = tokio::select! {
        state = world.settle(&body) => state,
        () = going => unreachable!("it goes on"),
    };
    assert_eq!(state.addresses().len(), 12);
}

#[tokio::test]
async fn a_status_that_changes_between_plan_and_apply_is_no_fault() {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = target.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = target.accept().await {
            drop(stream);
        }
    });
    let world = World::of(TestServer::start_on_system_clock().await);
    let body = |name: &str| {
        format!(
            "resource \"service_tcp_monitor\" \"m\" {{\n name = \"{name}\"\n \
             uri = \"127.0.0.1:{port}\"\n periodicity = \"30s\"\n active = true\n}}\n"
        )
    };
    world.configure(&body("before"));
    let applied = world.terraform.apply().await.unwrap();
    let id = applied.state.value("service_tcp_monitor.m", "id").clone();
    let status = async || {
        let answer = world.rpc(MONITORS, "GetMonitorStatus", json!({ "id": id })).await;
        answer["status"].as_str().unwrap().to_owned()
    };
    let planned = applied.state.value("service_tcp_monitor.m", "status").clone();
    world.plan(&body("after")).await;
    while planned == status().await {
        tokio::task::yield_now().await;
    }
    world.apply_planned().await;
    world.must_be_settled().await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_with_its_address() {
    let mut world = World::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://127.0.0.1:{}/rpc", listener.local_addr().unwrap().port());
    drop(listener);
    world.terraform.set("SERVICE_API_URL", &url);
    world.configure(
        "provider \"service\" {\n  max_retries = 0\n}\ndata \"service_whoami\" \"this\" {}\n",
    );
    let error = world.terraform.plan().await.unwrap_err();
    let said = error.shown()[0].to_string();
    assert!(said.contains(&url) && said.contains("SERVICE_API_URL"), "{said}");
}
