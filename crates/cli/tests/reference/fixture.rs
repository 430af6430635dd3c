//! The environment of examples: a server, workspaces with keys, a site to check and a receiver of
//! alerts.

use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::target::{HttpTarget, Received, ScriptedResponse};
use tokio::runtime::Runtime;

use crate::process::{Home, Server};

/// Flags with a name server that never responds, so that lookups do not depend on the machine's
/// network.
const FLAGS: [&str; 3] = ["--allow-private-networks", "--nameservers", "127.0.0.1:1"];

pub(super) struct Stage {
    home: Home,
    server: Server,
    target: HttpTarget,
    receiver: HttpTarget,
    /// Runs both targets.
    _runtime: Runtime,
}

/// A workspace with its keys.
pub(super) struct Workspace {
    write: String,
    read: String,
    other: String,
    /// Id of a key that may be revoked.
    pub(super) spare_key: String,
}

impl Stage {
    pub(super) fn set() -> Self {
        let runtime = Runtime::new().unwrap();
        let site = |status| {
            move |request: &Received| ScriptedResponse::status(asked(request).unwrap_or(status))
        };
        let target = runtime.block_on(HttpTarget::start_with(site(200)));
        let receiver = runtime.block_on(HttpTarget::start_with(site(204)));
        let home = Home::new();
        let server = home.serve_with(&FLAGS);
        Self { home, server, target, receiver, _runtime: runtime }
    }

    /// Creates the workspace of a scenario.
    pub(super) fn workspace_of(&self, scenario: &Value) -> Workspace {
        let slug = scenario["name"].as_str().unwrap();
        let workspace = self.workspace(slug);
        if scenario["operator"] == true {
            let made = self.home.run(&["workspaces", "operator", "--slug", slug]);
            assert_eq!(made.code, Some(0), "{}", made.err);
        }
        workspace
    }

    /// Creates a workspace with this slug.
    pub(super) fn workspace(&self, slug: &str) -> Workspace {
        let other = format!("{slug}-other");
        for slug in [slug, &other] {
            let made = self.home.run(&["workspaces", "create", "--slug", slug, "--name", "Acme"]);
            assert_eq!(made.code, Some(0), "{}", made.err);
        }
        let key = |slug: &str, scope: &str, field: &str| {
            let words = ["keys", "create", "--workspace", slug, "--name", "Ada", "--scope"];
            let made = self.home.json(&[&words[..], &[scope]].concat());
            made[field].as_str().unwrap().to_owned()
        };
        Workspace {
            write: key(slug, "write", "key"),
            read: key(slug, "read", "key"),
            other: key(&other, "write", "key"),
            spare_key: key(slug, "read", "id"),
        }
    }

    /// Returns the base URL.
    pub(super) fn url(&self) -> String {
        format!("http://{}/rpc", self.server.address)
    }

    /// Returns the URLs of the site and the receiver, without a trailing slash.
    pub(super) fn places(&self) -> [(&'static str, String); 2] {
        [("target", self.target.url("")), ("receiver", self.receiver.url(""))]
    }

    /// Runs a printed block in a shell. Its output is JSON or empty.
    pub(super) fn shell(&self, text: &str, workspace: &Workspace, key: &str) -> Value {
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", text]);
        self.run(command.env("KEY_ID", &workspace.spare_key), workspace, key)
    }

    /// Calls a method with curl.
    pub(super) fn call(&self, workspace: &Workspace, step: &Value, request: &Value) -> Value {
        let mut command = Command::new("curl");
        let call = step["call"].as_str().unwrap();
        command.arg("-sS").arg(format!("{}/{call}", self.url()));
        command.args(["-H", "content-type: application/json"]);
        let key = step["key"].as_str().unwrap_or("write");
        if let Some(key) = workspace.key(key) {
            command.arg("-H").arg(format!("x-service-key: {key}"));
        }
        if let Some(key) = step["idempotencyKey"].as_str() {
            command.arg("-H").arg(format!("idempotency-key: {key}"));
        }
        // Arguments have a limit that the largest requests exceed.
        let body = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(body.path(), request.to_string()).unwrap();
        command.arg("--data-binary").arg(format!("@{}", body.path().display()));
        self.run(&mut command, workspace, key)
    }

    fn run(&self, command: &mut Command, workspace: &Workspace, key: &str) -> Value {
        let output = command
            .env("SERVICE_API_URL", self.url())
            .env("SERVICE_API_KEY", workspace.key(key).unwrap_or_default())
            .stdin(Stdio::null())
            .output()
            .expect("these tests start bash and curl: run `cargo xtask setup`");
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {text} {errors}");
        if text.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{command:?}: {why}: {text}"))
    }
}

impl Workspace {
    /// Returns the key of this kind. `None` means no key.
    pub(super) fn key(&self, kind: &str) -> Option<&str> {
        match kind {
            "write" => Some(&self.write),
            "read" => Some(&self.read),
            "other" => Some(&self.other),
            "none" => None,
            kind => panic!("examples and their steps use no key of the kind `{kind}`"),
        }
    }
}

/// Returns the status that a path requests.
fn asked(request: &Received) -> Option<u16> {
    request.target.strip_prefix("/status/")?.parse().ok()
}
