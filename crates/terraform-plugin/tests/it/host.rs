//! Terraform's side of the wire: builds and runs `tests/wire/`, a client based on go-plugin's own
//! module. It covers features that the `terraform` on the `PATH` may lack.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::notebook::program;

/// Timeout of a test.
const PATIENCE: Duration = Duration::from_mins(1);

/// A host with a provider that it started.
pub(crate) struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages received while waiting for another one.
    aside: Vec<Value>,
    calls: u64,
}

/// A call under way.
pub(crate) struct Call(u64);

impl Host {
    /// Starts the notebook example with certificates and full logging.
    pub(crate) fn start() -> Self {
        Self::start_example("notebook")
    }

    /// Starts an example provider.
    pub(crate) fn start_example(example: &str) -> Self {
        let mut command = Command::new(client());
        command.arg("--provider").arg(program(example)).arg("--proto").arg(folder("proto"));
        command.env("TF_LOG", "TRACE").env_remove("TF_LOG_PROVIDER");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let line =
                    serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}"));
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let mut host = Self { child, stdin, messages, aside: Vec::new(), calls: 0 };
        let ready = host.until(|received| !received["ready"].is_null());
        assert_eq!(ready["ready"]["version"], 6, "{ready}");
        host
    }

    /// Starts the notebook example, configured with a file in `folder`.
    pub(crate) fn configured(folder: &Path) -> Self {
        let mut host = Self::start();
        let file = folder.join("notes.json");
        let answer =
            host.call("ConfigureProvider", json!({ "config": value(json!({ "file": file })) }));
        assert_eq!(answer, json!({}));
        host
    }

    /// Makes a call and waits for its response. An error of the call is returned as
    /// `{"status":…,"error":…}`.
    pub(crate) fn call(&mut self, method: &str, request: Value) -> Value {
        let call = self.begin(method, request);
        self.end(&call)
    }

    /// Returns all messages of a stream.
    pub(crate) fn stream(&mut self, method: &str, request: Value) -> Vec<Value> {
        let call = self.begin(method, request);
        let mut events = Vec::new();
        loop {
            let mut received = self.of_call(&call);
            if received["event"].is_null() {
                assert_eq!(received["answer"]["events"], events.len(), "{received}");
                return events;
            }
            events.push(received["event"].take());
        }
    }

    /// Starts a call without waiting for it.
    #[expect(clippy::needless_pass_by_value, reason = "callers build a request for one call")]
    pub(crate) fn begin(&mut self, method: &str, request: Value) -> Call {
        self.calls += 1;
        let call = json!({ "id": self.calls, "method": method, "request": request });
        let stdin = self.stdin.as_mut().expect("stdin is open until `finish`");
        writeln!(stdin, "{call}").unwrap();
        Call(self.calls)
    }

    /// Waits for the response of a call.
    pub(crate) fn end(&mut self, call: &Call) -> Value {
        let mut received = self.of_call(call);
        if received["status"].is_null() { received["answer"].take() } else { received }
    }

    /// Waits for a log line with this message.
    pub(crate) fn logged(&mut self, message: &str) -> Value {
        self.until(|received| received["log"]["@message"] == message)["log"].take()
    }

    /// Stops the host and its provider. Returns all messages until then, and whether the provider
    /// stopped by itself.
    pub(crate) fn finish(mut self) -> (Vec<Value>, bool) {
        self.stdin = None;
        let ended = self.until(|received| !received["ended"].is_null());
        (std::mem::take(&mut self.aside), ended["ended"]["by_itself"] == true)
    }

    fn of_call(&mut self, call: &Call) -> Value {
        self.until(|received| received["id"] == call.0)
    }

    /// Returns the first matching message, and stores the others for later.
    fn until(&mut self, looked_for: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.aside.iter().position(&looked_for) {
            return self.aside.remove(at);
        }
        loop {
            let received =
                self.messages.recv_timeout(PATIENCE).expect("the host sends a message in time");
            let failed = received["failed"].as_str();
            assert!(failed.is_none(), "{} {:#?}", failed.unwrap_or_default(), self.aside);
            if looked_for(&received) {
                return received;
            }
            self.aside.push(received);
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // When stdin closes, the host stops the provider and then itself.
        self.stdin = None;
        drop(self.child.wait());
    }
}

/// Encodes a value as the client expects it.
#[expect(clippy::needless_pass_by_value, reason = "callers build a value for one call")]
pub(crate) fn value(value: Value) -> Value {
    json!({ "$value": value })
}

/// Returns a value that is known only after apply.
pub(crate) fn unknown() -> Value {
    json!({ "$unknown": true })
}

/// Returns the path of the client's program, which is built once.
fn client() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terraform-plugin-wire");
        let mut build = Command::new("go");
        build.args(["build", "-o"]).arg(&program).arg(".").current_dir(folder("tests/wire"));
        let output = build.output().expect("`go` is on the PATH: install Go 1.19 or newer");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        program
    })
}

fn folder(name: &str) -> PathBuf {
    // Tests of the provider crate include this file, so the path is relative to the other crate.
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../terraform-plugin").join(name)
}
