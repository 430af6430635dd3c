//! Clients of others while the server refuses their calls early: each call gets its response, and no
//! connection breaks in the middle of a body. `tests/refusals/` has a program for each client, which
//! prints the number of answered calls.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::tools;

use crate::attacks::attack;
use crate::process::{Home, Server};

/// Calls for each status and size of a body.
const CALLS: usize = 37;
/// A body that fits in the buffers of a connection, and one that does not.
const SMALL_BYTES: usize = 10;
const LARGE_BYTES: usize = 5_000_000;
/// Folder of the programs.
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/refusals");

/// Servers that refuse everything that a client sends.
struct Refusing {
    server: Server,
    /// Server whose keys have used up their calls.
    throttled: Server,
    read: String,
    write: String,
    /// Read key of the throttled server.
    spent: String,
    _homes: [Home; 2],
}

impl Refusing {
    fn start() -> Self {
        let (home, write) = Home::with_key();
        let read = home.new_key(&["--scope", "read"])["key"].as_str().unwrap().to_owned();
        let (other, _) = Home::with_key();
        let spent = other.new_key(&["--scope", "read"])["key"].as_str().unwrap().to_owned();
        let throttled = other.serve_with(&["--calls-per-second", "1", "--calls-burst", "1"]);
        Self { server: home.serve(), throttled, read, write, spent, _homes: [home, other] }
    }

    /// Returns a status for each reason to refuse a call, with bodies of both sizes.
    fn refusals(&self) -> Vec<Value> {
        let (address, throttled) = (self.server.address, self.throttled.address);
        let method =
            |address, name| format!("http://{address}/rpc/monitor.v1.MonitorService/{name}");
        let create = method(address, "CreateHttpMonitor");
        let whoami = format!("http://{address}/v1/whoami");
        let every = [
            (create.clone(), "", vec![401]),
            (create.clone(), &*self.read, vec![403]),
            (method(address, "Nonsense"), &*self.read, vec![404]),
            (whoami, &*self.read, vec![405]),
            // One call a second is not throttled, and refused because the key only reads.
            (method(throttled, "CreateHttpMonitor"), &*self.spent, vec![429, 403]),
        ];
        let of_size = |bytes| {
            every.iter().map(move |(url, key, statuses)| {
                json!({ "url": url, "key": key, "statuses": statuses, "bytes": bytes, "calls": CALLS })
            })
        };
        let large = json!({
            "url": create, "key": self.write, "statuses": [413], "bytes": LARGE_BYTES, "calls": CALLS
        });
        of_size(SMALL_BYTES).chain(of_size(LARGE_BYTES)).chain([large]).collect()
    }

    /// Uses up the calls of the key of the throttled server. They come back at one a second.
    fn exhaust(&self) {
        let list = |_| {
            crate::process::rpc(self.throttled.address, &self.spent, "ListMonitors", &json!({}))
        };
        assert!((0..1_000).map(list).any(|reply| reply.unwrap().status == 429));
    }
}

/// Lets a client make all calls and checks that each got its response.
fn check(client: &str, mut program: Command) {
    let servers = Refusing::start();
    servers.exhaust();
    let refusals = servers.refusals();
    let calls = refusals.len() * CALLS;
    assert!(calls >= 400, "{calls}");
    program.env("REFUSALS", Value::from(refusals).to_string());
    let output = program.output().unwrap_or_else(|why| panic!("{client}: {why}"));
    let failures = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{client}: {failures}");
    let answered = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answered.trim(), calls.to_string(), "{client}: {failures}");
}

fn program(interpreter: &str, file: &str) -> Command {
    let mut command = Command::new(interpreter);
    command.arg(Path::new(PROGRAMS).join(file));
    command
}

// issue 16, point 12: "400 of 400 with connect-es, connect-go, httpx and Node's `http`"
#[test]
fn connect_es_gets_all_early_refusals() {
    attack(|| {
        let mut program = program("node", "connect_es.mjs");
        program.arg(tools::connect_es());
        check("connect-es", program);
    });
}

#[test]
fn connect_go_gets_all_early_refusals() {
    attack(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("connect-go-refusals");
        let mut build = Command::new("go");
        build.args(["build", "-o"]).arg(&program).arg(".");
        let output = build.current_dir(Path::new(PROGRAMS).join("connect-go")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        check("connect-go", Command::new(program));
    });
}

#[test]
fn httpx_gets_all_early_refusals() {
    attack(|| {
        let mut program = program("python3", "httpx_calls.py");
        program.env("PYTHONPATH", tools::httpx()).env("PYTHONDONTWRITEBYTECODE", "1");
        check("httpx", program);
    });
}

#[test]
fn node_http_gets_all_early_refusals() {
    attack(|| {
        check("Node's http", program("node", "node_http.mjs"));
    });
}
