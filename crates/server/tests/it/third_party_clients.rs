//! Third-party clients: grpcurl and buf find the services by reflection, without any files, and
//! call them.
//!
//! `cargo xtask setup` installs both.

use std::path::PathBuf;

use serde_json::Value;
use testkit::server::TestServer;
use tokio::process::Command;

/// Returns the output of a tool installed by the setup.
async fn output_of(tool: &str, args: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "only tests need the location of tools")]
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
    printed.into_owned()
}

/// Returns the output of a tool as JSON.
async fn answer_of(tool: &str, args: &[&str]) -> Value {
    let printed = output_of(tool, args).await;
    serde_json::from_str(&printed).unwrap_or_else(|why| panic!("{why}: {printed}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn grpcurl_lists_monitors_without_files() {
    // issue 3, point 4; without the prefix `/rpc`, which stock gRPC clients cannot send
    let server = TestServer::start().await;
    let caller = server.caller(rules::Scope::Read);
    let key = format!("x-service-key: {}", caller.key().unwrap());
    let address = server.address().to_string();
    let method = "monitor.v1.MonitorService/ListMonitors";
    let args = ["-plaintext", "-emit-defaults", "-H", &key, "-d", "{}", &address, method];
    let answer = answer_of("grpcurl", &args).await;
    assert_eq!(answer["httpMonitors"], Value::Array(Vec::new()), "{answer}");
}

// issue 16 point 17: "Serve proto comments through reflection"
#[tokio::test(flavor = "multi_thread")]
async fn grpcurl_describe_shows_comments() {
    let server = TestServer::start().await;
    let address = server.address().to_string();
    let describe =
        async |symbol| output_of("grpcurl", &["-plaintext", &address, "describe", symbol]).await;
    insta::assert_snapshot!(describe("region.v1.RegionService").await, @"
    region.v1.RegionService is a service:
    // Lists the regions.
    service RegionService {
      // Lists the 28 regions in the order of the specification, then the private ones of the workspace that have a probe.
      rpc ListRegions ( .region.v1.ListRegionsRequest ) returns ( .region.v1.ListRegionsResponse ) {
        option idempotency_level = NO_SIDE_EFFECTS;
      }
    }
    ");
    let message = describe("monitor.v1.StatusCodeAssertion").await;
    assert!(message.contains("// Status code to compare with: 100 to 599. Required."), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn buf_curl_lists_monitors_in_every_protocol() {
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
