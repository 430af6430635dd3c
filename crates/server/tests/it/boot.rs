//! Orderly start and stop.

use std::time::Duration;

use rules::Scope;
use serde_json::json;
use server::boot::{self, BootError};
use server::config::Settings;
use testkit::server::{Caller, MONITORS, Reply, START, TestServer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use web::context::Context;

use crate::pipeline::{PATIENCE, until};
use crate::protocols::{a_monitor, framed};

#[tokio::test]
async fn restart_keeps_stored_data() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = TestServer::start_with(|settings| settings.data.clone_from(&data)).await;
    let caller = server.caller(Scope::Write);
    let created = caller.rpc("CreateTcpMonitor", json!({ "monitor": a_monitor("tcp") })).await;
    let key = caller.key().unwrap().to_owned();
    let settings = Settings { listen: ([127, 0, 0, 1], 0).into(), ..server.settings().clone() };
    server.stop().await;

    let running = boot::start(&settings, Context::system()).await.unwrap();
    let caller = Caller::at(running.address(), Some(key));
    let id = &created.json()["monitor"]["id"];
    let read = caller.rpc("GetMonitor", json!({ "id": id })).await;
    assert_eq!(read.json()["monitor"]["tcp"], created.json()["monitor"]);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn running_server_deletes_expired_data() {
    // issue 3, point 8: a create is remembered for a day, so a retry returns the same resource
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = TestServer::start_with(|settings| settings.data.clone_from(&data)).await;
    let create = async |caller: &Caller| {
        let request = http::Request::post(format!("/rpc/{MONITORS}/CreateTcpMonitor"))
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("idempotency-key", "once")
            .body(json!({ "monitor": a_monitor("tcp") }).to_string().into_bytes().into())
            .unwrap();
        caller.request(request).await.json()["monitor"]["id"].as_str().unwrap().to_owned()
    };
    let caller = server.caller(Scope::Write);
    let first = create(&caller).await;
    assert_eq!(create(&caller).await, first);
    let settings = Settings { listen: ([127, 0, 0, 1], 0).into(), ..server.settings().clone() };
    server.stop().await;

    let (ctx, _clock) = Context::manual(START + Duration::from_hours(25));
    let running = boot::start(&settings, ctx).await.unwrap();
    let caller = Caller::at(running.address(), caller.key().map(ToOwned::to_owned));
    until(async || (create(&caller).await != first).then_some(())).await;
    running.stop().await.unwrap();
}

#[tokio::test]
async fn second_server_on_the_same_folder_is_refused() {
    let server = TestServer::start().await;
    let settings = Settings { listen: ([127, 0, 0, 1], 0).into(), ..server.settings().clone() };
    let refusal = boot::start(&settings, Context::system()).await.unwrap_err();
    assert!(matches!(refusal, BootError::Store(store::StoreError::Locked { .. })), "{refusal}");
    assert_eq!(server.nobody().get("/readyz").await.status, 200, "the first goes on");
}

#[tokio::test]
async fn an_address_that_is_taken_is_named() {
    let server = TestServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let settings = Settings { listen: server.address(), data, ..Settings::defaults() };
    let refusal = boot::start(&settings, Context::system()).await.unwrap_err().to_string();
    assert!(refusal.starts_with(&format!("cannot listen on {}: ", server.address())), "{refusal}");
}

#[tokio::test]
async fn running_call_is_answered_during_server_stop() {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let monitor = json!({
        "name": "slow", "url": format!("http://{}/", target.local_addr().unwrap()),
        "periodicity": "1h", "retry": 0, "regions": ["fly-ams"],
    });
    let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
    let id = &created["monitor"]["id"];
    let answering = async {
        let (mut connection, _) = target.accept().await.unwrap();
        // A response sent before the request is invalid, so read the request first.
        assert!(connection.read(&mut [0; 1_024]).await.unwrap() > 0);
        // The call is in progress. Stop the server first, then respond.
        let stopping = tokio::spawn(server.stop());
        connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        stopping.await.unwrap();
    };
    let (reply, ()) = tokio::join!(caller.rpc("TriggerMonitor", json!({ "id": id })), answering);
    assert_eq!(reply.json()["results"][0]["statusCode"], 204, "{reply}");
}

/// Watches the health of a service until the server stops, and returns the reply.
async fn watched_until_the_end(request: &[u8]) -> Reply {
    let server = TestServer::start().await;
    let nobody = server.nobody();
    let path = "/grpc.health.v1.Health/Watch";
    let watching = nobody.send_h2(path, "application/grpc", framed(request));
    let stopping = async {
        // The metric counts the call once its stream has responded. A server that stops earlier
        // rejects the call.
        until(async || {
            let page = server.nobody().get("/metrics").await.to_string();
            page.contains("method=\"other\"").then_some(())
        })
        .await;
        server.stop().await;
    };
    tokio::join!(watching, stopping).0
}

#[tokio::test]
async fn health_watcher_does_not_delay_shutdown() {
    let seen = watched_until_the_end(b"").await;
    assert!(
        seen.body.ends_with(&framed(b"\x08\x02")),
        "not serving is the last that it sees: {seen}"
    );
}

// issue 16 point 16: "`Health/Watch` of an unknown service stays open"
#[tokio::test]
async fn watch_of_an_unknown_service_stays_open() {
    let seen = watched_until_the_end(b"\x0a\x04nope").await;
    assert_eq!(seen.body, framed(b"\x08\x03"), "one message, SERVICE_UNKNOWN: {seen}");
    assert_eq!(seen.grpc_status(), Some(0), "{seen}");
}

#[tokio::test]
async fn unfinished_command_does_not_block_server_stop() {
    let server = TestServer::start().await;
    let socket = server.settings().data.join("control.sock");
    let mut command = UnixStream::connect(&socket).await.unwrap();
    let half = b"POST /control HTTP/1.1\r\nhost: control\r\ncontent-length: 100\r\n\r\n{";
    command.write_all(half).await.unwrap();
    tokio::time::timeout(PATIENCE, server.stop()).await.unwrap();
}

#[tokio::test]
async fn stopped_server_closes_its_port_and_frees_folder() {
    let folder = tempfile::tempdir().unwrap();
    // Use an address of this test alone: another test may reuse a freed port.
    let settings = Settings {
        data: folder.path().join("data"),
        listen: ([127, 0, 0, 9], 0).into(),
        ..Settings::defaults()
    };
    let running = boot::start(&settings, Context::system()).await.unwrap();
    let address = running.address();
    running.stop().await.unwrap();
    // A process forked by another test inherits the socket until it calls `exec`.
    until(async || TcpStream::connect(address).await.is_err().then_some(())).await;
    boot::start(&settings, Context::system()).await.unwrap().stop().await.unwrap();
}
