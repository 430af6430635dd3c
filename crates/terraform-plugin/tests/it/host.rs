//! Terraform's side of the wire: `tests/wire/`, a client on go-plugin's own module, built and run here.
//! It reaches what the `terraform` on the PATH may be too old for.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::notebook::program;

/// After which a test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

/// A host with a provider that it started.
pub(crate) struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    said: Receiver<Value>,
    /// What was said while something else was waited for.
    aside: Vec<Value>,
    calls: u64,
}

/// A call that is under way.
pub(crate) struct Call(u64);

impl Host {
    /// Starts the notebook, with certificates, and everything logged.
    pub(crate) fn start() -> Self {
        Self::of("notebook")
    }

    /// Starts an example provider.
    pub(crate) fn of(example: &str) -> Self {
        let mut command = Command::new(client());
        command.arg("--provider").arg(program(example)).arg("--proto").arg(folder("proto"));
        command.env("TF_LOG", "TRACE").env_remove("TF_LOG_PROVIDER");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (say, said) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let line =
                    serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}"));
                if say.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let mut host = Self { child, stdin, said, aside: Vec::new(), calls: 0 };
        let ready = host.until(|said| !said["ready"].is_null());
        assert_eq!(ready["ready"]["version"], 6, "{ready}");
        host
    }

    /// The same, configured with a notebook in `folder`.
    pub(crate) fn configured(folder: &Path) -> Self {
        let mut host = Self::start();
        let file = folder.join("notes.json");
        let answer =
            host.call("ConfigureProvider", json!({ "config": value(json!({ "file": file })) }));
        assert_eq!(answer, json!({}));
        host
    }

    /// Makes a call to its end. An error of the call is an answer: `{"status":…,"error":…}`.
    pub(crate) fn call(&mut self, method: &str, request: Value) -> Value {
        let call = self.begin(method, request);
        self.end(&call)
    }

    /// All messages of a stream.
    pub(crate) fn stream(&mut self, method: &str, request: Value) -> Vec<Value> {
        let call = self.begin(method, request);
        let mut events = Vec::new();
        loop {
            let mut said = self.of_call(&call);
            if said["event"].is_null() {
                assert_eq!(said["answer"]["events"], events.len(), "{said}");
                return events;
            }
            events.push(said["event"].take());
        }
    }

    /// Begins a call, and goes on.
    #[expect(clippy::needless_pass_by_value, reason = "requests are made for their call")]
    pub(crate) fn begin(&mut self, method: &str, request: Value) -> Call {
        self.calls += 1;
        let call = json!({ "id": self.calls, "method": method, "request": request });
        let stdin = self.stdin.as_mut().expect("it takes calls until it is ended");
        writeln!(stdin, "{call}").unwrap();
        Call(self.calls)
    }

    /// Waits for the end of a call.
    pub(crate) fn end(&mut self, call: &Call) -> Value {
        let mut said = self.of_call(call);
        if said["status"].is_null() { said["answer"].take() } else { said }
    }

    /// Waits for a line of the log that says this.
    pub(crate) fn logged(&mut self, message: &str) -> Value {
        self.until(|said| said["log"]["@message"] == message)["log"].take()
    }

    /// Ends the host, and with it the provider; what was said until then, and whether it ended by
    /// itself.
    pub(crate) fn finish(mut self) -> (Vec<Value>, bool) {
        self.stdin = None;
        let ended = self.until(|said| !said["ended"].is_null());
        (std::mem::take(&mut self.aside), ended["ended"]["by_itself"] == true)
    }

    fn of_call(&mut self, call: &Call) -> Value {
        self.until(|said| said["id"] == call.0)
    }

    /// The first thing said that is looked for; others wait until they are.
    fn until(&mut self, looked_for: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.aside.iter().position(&looked_for) {
            return self.aside.remove(at);
        }
        loop {
            let said = self.said.recv_timeout(PATIENCE).expect("the host says nothing");
            let failed = said["failed"].as_str();
            assert!(failed.is_none(), "{} {:#?}", failed.unwrap_or_default(), self.aside);
            if looked_for(&said) {
                return said;
            }
            self.aside.push(said);
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // At the end of stdin it ends the provider, and then itself.
        self.stdin = None;
        drop(self.child.wait());
    }
}

/// A value, as the client packs it.
#[expect(clippy::needless_pass_by_value, reason = "as the one around it")]
pub(crate) fn value(value: Value) -> Value {
    json!({ "$value": value })
}

/// A value that is known after apply.
pub(crate) fn unknown() -> Value {
    json!({ "$unknown": true })
}

/// The client's program, built once.
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
    // Tests of providers beside this crate include this file.
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../terraform-plugin").join(name)
}
