//! Tests of the Python client against real servers. They run in Python, one group after the other, with
//! addresses and keys of servers started here. `clients/python/tests/` contains the assertions.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{with_scenarios, with_server};

/// Folder of the client.
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/python");

/// Runs files of tests in Python. Panics with their output if one fails.
fn pytest(files: &[&str], workspaces: &Value, variables: &[(&str, &str)]) {
    let mut command = Command::new(testkit::tools::python_of_client());
    command.args(["-m", "pytest"]).args(files.iter().map(|file| format!("tests/{file}")));
    let output = command
        .current_dir(CLIENT)
        .env("ALOFT_CLIENT_TESTS", workspaces.to_string())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(variables.iter().copied())
        // The developer's environment must not influence a test.
        .env_remove("PYTHONPATH")
        .env_remove("PYTEST_ADDOPTS")
        .stdin(Stdio::null())
        .output()
        .expect("these tests start Python: run `cargo xtask setup`");
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{files:?} ended with {}:\n{printed}", output.status);
}

#[test]
fn python_client_passes_every_scenario() {
    with_scenarios(|workspaces| {
        let files = ["test_patterns.py", "test_scenarios.py"];
        pytest(&files, workspaces, &[("ALOFT_CLIENT_STYLE", "sync")]);
    });
}

#[test]
fn async_python_client_passes_every_scenario() {
    with_scenarios(|workspaces| {
        pytest(&["test_scenarios.py"], workspaces, &[("ALOFT_CLIENT_STYLE", "asyncio")]);
    });
}

#[test]
fn python_client_takes_settings_and_calls() {
    // spec: §5.3, §5.4
    with_server(|server| {
        pytest(&["test_settings.py", "test_calls.py", "test_errors.py"], server, &[]);
    });
}

#[test]
fn misbehaving_servers_do_not_harm_python_client() {
    pytest(&["test_faults.py", "test_retries.py"], &json!({}), &[]);
}

#[test]
fn python_client_runs_with_the_older_httpx() {
    // Python 3.10 has no httpx2.
    let httpx = [("ALOFT_CLIENT_HTTP", "httpx")];
    with_server(|server| pytest(&["test_retries.py", "test_calls.py"], server, &httpx));
}

#[test]
fn webhooks_verify_in_python() {
    with_server(|server| pytest(&["test_webhooks.py"], server, &[]));
}

#[test]
fn python_package_installs_and_type_checks() {
    with_server(|server| pytest(&["test_package.py"], server, &[]));
}
