//! Clients that are not ours: grpcurl and buf find the services by reflection, without any files, and
//! call them. `cargo xtask setup` installs both.

use std::path::PathBuf;

use serde_json::Value;
use testkit::server::TestServer;
use tokio::process::Command;

/// What a tool of the set-up prints, as JSON.
async fn answer_of(tool: &str, args: &[&str]) -> Value {
    #[expect(clippy::disallowed_methods, reason = "where tools are is told to tests alone")]
    let folder = std::env::var("ALOFT_TOOLS_DIR").map_or_else(
        |_| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools")),
        PathBuf::from,
    );
    let program = folder.join("bin").join(tool);
    let output = Command::new(&program)
        .args(args)
        .output()
        .await
        .unwrap_or_else(|why| panic!("{} ({why}): run `cargo xtask setup`", program.display()));
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool} {args:?}: {printed}{complaint}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {printed}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn grpcurl_lists_monitors_without_files() {
    // issue 3, point 4; the prefix `/rpc` is left out, which stock gRPC clients cannot send
    let server = TestServer::start().await;
    let caller = server.caller(rules::Scope::Read);
    let key = format!("x-service-key: {}", caller.key().unwrap());
    let address = server.address().to_string();
    let method = "monitor.v1.MonitorService/ListMonitors";
    let args = ["-plaintext", "-emit-defaults", "-H", &key, "-d", "{}", &address, method];
    let answer = answer_of("grpcurl", &args).await;
    assert_eq!(answer["httpMonitors"], Value::Array(Vec::new()), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn buf_curl_lists_monitors_in_each_protocol_without_files() {
    // issue 3, point 4
    let server = TestServer::start().await;
    let caller = server.caller(rules::Scope::Read);
    let key = format!("x-service-key: {}", caller.key().unwrap());
    let address = server.address();
    let url = format!("http://{address}/rpc/monitor.v1.MonitorService/ListMonitors");
    for protocol in ["connect", "grpc", "grpcweb"] {
        let how = ["curl", "--http2-prior-knowledge", "--protocol", protocol];
        let args = [&how[..], &["--emit-defaults", "-H", &key, "-d", "{}", &url]].concat();
        let answer = answer_of("buf", &args).await;
        assert_eq!(answer["httpMonitors"], Value::Array(Vec::new()), "{protocol}: {answer}");
    }
}
