//! Tests of the Go client. They run in Go, with addresses and keys of servers started here.
//! `clients/go/test/` contains the assertions that need a server; the others are beside its code.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::{with_scenarios, with_server};

/// Folder of the client.
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/go");
/// The test that plays the scenarios, and those of the published module.
const SCENARIOS: &str = "^TestEveryScenarioPasses$";
const PACKAGE: &str = "^Test(PublishedModule|GoTools|Module)";
/// All of these.
const OWN_GROUPS: &str = "^Test(EveryScenarioPasses$|PublishedModule|GoTools|Module)";

/// Runs tests in Go. Panics with their output if one fails or is skipped, or if there are none.
fn go(args: &[&str], workspaces: &Value, format: &str) {
    let output = Command::new("go")
        .args(["test", "-count=1", "-v"])
        .args(args)
        .current_dir(CLIENT)
        .env("ALOFT_CLIENT_TESTS", workspaces.to_string())
        .env("ALOFT_CLIENT_FORMAT", format)
        // The developer's environment must not influence a test.
        .env_remove("SERVICE_API_KEY")
        .env_remove("SERVICE_API_URL")
        .env_remove("GOFLAGS")
        .env("GOWORK", "off")
        .stdin(Stdio::null())
        .output()
        .expect("these tests start Go: run `cargo xtask setup`");
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?} ended with {}:\n{printed}", output.status);
    assert!(printed.contains("--- PASS: "), "{args:?} ran no test:\n{printed}");
    assert!(!printed.contains("--- SKIP: "), "{args:?} skipped a test:\n{printed}");
}

#[test]
fn offline_tests_of_go_client_pass() {
    go(&["."], &Value::Null, "");
}

#[test]
fn every_scenario_passes_through_go_client() {
    for format in ["protobuf", "json"] {
        with_scenarios(|workspaces| go(&["./test", "-run", SCENARIOS], workspaces, format));
    }
}

#[test]
fn go_client_passes_with_real_server() {
    with_server(|workspaces| go(&["./test", "-skip", OWN_GROUPS], workspaces, ""));
}

#[test]
fn published_go_module_works_and_is_checked() {
    with_server(|workspaces| go(&["./test", "-run", PACKAGE], workspaces, ""));
}
