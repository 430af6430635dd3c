//! Tests of the TypeScript client against real servers. They run in Node.js, one group after the
//! other, with addresses and keys of servers started here. `clients/typescript/test/` contains the
//! assertions. `go` and `python` do the same for the Go and the Python client. `scenarios` checks that the
//! scenarios are complete.

#![expect(clippy::unwrap_used, reason = "clippy takes helpers of tests for product code")]

mod build;
mod go;
#[path = "../it/process.rs"]
#[expect(dead_code, reason = "the tests of the binary use more of it")]
mod process;
mod python;
mod scenarios;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use self::build::CLIENT;
use self::scenarios::Scenario;
use crate::process::{Home, Server};

/// Maximum time of one file of tests in Node.js, in milliseconds, so that Node.js reports what
/// hangs.
const NODE_TIMEOUT_MS: u32 = 300_000;
/// Kinds of keys that tests use; see `clients/scenarios/README.md`.
const KEYS: [&str; 7] = ["write", "read", "other", "unknown", "expired", "revoked", "spare"];
/// Name server that never responds, so that lookups do not depend on the machine's network.
const NO_NAMESERVER: [&str; 2] = ["--nameservers", "127.0.0.1:1"];

/// A server with workspaces and keys, and the values to pass to Node.js.
struct Stage {
    home: Home,
    server: Server,
    /// Key issued by another server.
    elsewhere: String,
}

impl Stage {
    fn set(flags: &[&str]) -> Self {
        let (_elsewhere, stranger) = Home::with_key();
        let home = Home::new();
        let flags = [&NO_NAMESERVER[..], &["--allow-private-networks"], flags].concat();
        let server = home.serve_with(&flags);
        Self { home, server, elsewhere: stranger }
    }

    /// Creates a workspace with keys of these kinds.
    fn workspace(&self, slug: &str, kinds: &BTreeSet<&str>) -> Value {
        self.make_workspace(slug);
        let key = |kind: &&str| ((*kind).to_owned(), Value::from(self.key(slug, kind)));
        let keys: Map<String, Value> = kinds.iter().map(key).collect();
        let host = format!("http://{}", self.server.address);
        json!({ "baseUrl": format!("{host}/rpc"), "host": host, "keys": keys })
    }

    fn key(&self, slug: &str, kind: &str) -> String {
        match kind {
            "write" => self.make_key(slug, &["--scope", "write"]).1,
            "read" | "spare" => self.make_key(slug, &["--scope", "read"]).1,
            "expired" => self.make_key(slug, &["--scope", "read", "--expires", "1s"]).1,
            "revoked" => {
                let (id, key) = self.make_key(slug, &["--scope", "read"]);
                assert_eq!(self.home.run(&["keys", "revoke", &id]).code, Some(0));
                key
            }
            "other" => {
                let other = format!("{slug}-other");
                self.make_workspace(&other);
                self.make_key(&other, &["--scope", "write"]).1
            }
            "unknown" => self.elsewhere.clone(),
            kind => panic!("unknown kind of key `{kind}`"),
        }
    }

    fn make_workspace(&self, slug: &str) {
        let made = self.home.run(&["workspaces", "create", "--slug", slug, "--name", slug]);
        assert_eq!(made.code, Some(0), "{}", made.err);
    }

    /// Creates a key and returns its id and its text.
    fn make_key(&self, slug: &str, flags: &[&str]) -> (String, String) {
        let command = ["keys", "create", "--workspace", slug, "--name", "client test"];
        let made = self.home.json(&[&command, flags].concat());
        let text = |field: &str| made[field].as_str().unwrap().to_owned();
        (text("id"), text("key"))
    }
}

/// Runs files of tests in Node.js. Panics with their output if one fails.
fn node(files: &[&str], workspaces: &Value) {
    build::assert_new();
    let timeout = format!("--test-timeout={NODE_TIMEOUT_MS}");
    let mut args = vec!["--test".to_owned(), "--test-reporter=spec".to_owned(), timeout];
    args.extend(files.iter().map(|file| format!("test/{file}")));
    run_node(&args, workspaces);
}

fn run_node(args: &[String], workspaces: &Value) {
    let output = Command::new("node")
        .args(args)
        .current_dir(CLIENT)
        .env("ALOFT_CLIENT_TESTS", workspaces.to_string())
        // The developer's environment must not influence a test.
        .env_remove("SERVICE_API_KEY")
        .env_remove("SERVICE_API_URL")
        .env_remove("NODE_OPTIONS")
        .stdin(Stdio::null())
        .output()
        .expect("these tests start Node.js: run `cargo xtask setup`");
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?} ended with {}:\n{printed}", output.status);
}

/// Runs files of tests with one server and a workspace with every kind of key.
fn node_with_server(files: &[&str]) {
    with_server(|workspaces| node(files, workspaces));
}

/// Runs files of tests with a workspace for each scenario, and one more for all other tests.
fn node_with_scenarios(files: &[&str]) {
    with_scenarios(|workspaces| node(files, workspaces));
}

/// Runs tests with one server and a workspace with every kind of key.
fn with_server(run: impl FnOnce(&Value)) {
    let stage = Stage::set(&[]);
    run(&json!({ "server": stage.workspace("client", &BTreeSet::from(KEYS)) }));
}

/// Runs tests with a workspace for each scenario, on servers with its settings, and one more workspace
/// for all other tests.
fn with_scenarios(run: impl FnOnce(&Value)) {
    let scenarios = Scenario::all();
    let plain = Stage::set(&[]);
    let (mut workspaces, mut others) = (Map::new(), Vec::new());
    workspaces.insert("server".to_owned(), plain.workspace("client", &BTreeSet::from(["write"])));
    for scenario in &scenarios {
        let keys = scenario.keys();
        let flags = scenario.flags();
        let given = if flags.is_empty() {
            plain.workspace(&scenario.name, &keys)
        } else {
            let other = Stage::set(&flags.iter().map(String::as_str).collect::<Vec<_>>());
            let given = other.workspace(&scenario.name, &keys);
            others.push(other);
            given
        };
        if scenario.is_operator() {
            let made = plain.home.run(&["workspaces", "operator", "--slug", &scenario.name]);
            assert_eq!(made.code, Some(0), "{}", made.err);
        }
        workspaces.insert(scenario.name.clone(), given);
    }
    run(&Value::Object(workspaces));
}

#[test]
fn types_and_offline_tests_pass() {
    run_node(&["scripts/unit.mjs".to_owned()], &Value::Null);
}

#[test]
fn every_scenario_passes_through_the_client() {
    // issue 8, point 2: every method of every service, every error class
    node_with_scenarios(&["patterns.test.mjs", "scenarios.test.mjs"]);
}

#[test]
fn third_party_transports_carry_the_same_calls() {
    // issue 8, point 1: `createServiceClient({ transport })`
    node_with_scenarios(&["transports.test.mjs"]);
}

#[test]
fn key_and_address_come_from_option_or_environment() {
    // spec: §5.3, §5.4
    node_with_server(&["settings.test.mjs"]);
}

#[test]
fn calls_time_out_paginate_and_retry() {
    node_with_server(&["calls.test.mjs", "errors.test.mjs"]);
}

#[test]
fn misbehaving_servers_do_not_harm_the_client() {
    node(&["faults.test.mjs", "retries.test.mjs"], &json!({}));
}

#[test]
fn webhooks_of_the_server_verify() {
    node_with_server(&["webhooks.test.mjs"]);
}

#[test]
fn installed_package_runs_everywhere() {
    node_with_server(&["package.test.mjs"]);
}
