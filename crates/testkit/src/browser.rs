//! Headless Chromium for tests of pages: with and without scripts, in light and dark colours, on a
//! phone and in print. Runs axe-core and takes pictures. A Node.js process controls it, with
//! packages that `cargo xtask setup` installs. It stops with the test or the test's process.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::tools;

/// Timeout that is longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// Time that the browser waits for a condition, in milliseconds. Shorter than the other timeout, so
/// that the browser reports the failure.
const UNTIL_MS: u32 = 100_000;

/// A running browser.
#[derive(Debug)]
pub struct Browser {
    connection: Arc<BrowserProcess>,
    reader: JoinHandle<()>,
    /// Killed on drop.
    _process: Child,
}

/// Window and preferences of a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Width of the window in CSS pixels.
    pub width: u32,
    /// Height of the window in CSS pixels.
    pub height: u32,
    pub dark: bool,
    pub scripts: bool,
    /// Whether to use the print style.
    pub print: bool,
    /// Visitor's language, such as `en`.
    pub language: &'static str,
    /// Visitor's time zone, such as `Europe/Berlin`.
    pub time_zone: &'static str,
}

/// A window with one page and its own cookies.
#[derive(Debug)]
pub struct Tab {
    connection: Arc<BrowserProcess>,
    number: u64,
    origin: String,
}

/// Connection to the process.
struct BrowserProcess {
    stdin: tokio::sync::Mutex<ChildStdin>,
    last: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, String>>>>,
}

impl View {
    /// A desktop window in light colours.
    pub const DESKTOP: Self = Self {
        width: 1_280,
        height: 900,
        dark: false,
        scripts: true,
        print: false,
        language: "en",
        time_zone: "UTC",
    };
    /// A small phone.
    pub const PHONE: Self = Self { width: 360, height: 740, ..Self::DESKTOP };

    /// Returns this view in dark colours.
    #[must_use]
    pub const fn dark(self) -> Self {
        Self { dark: true, ..self }
    }

    /// Returns this view without scripts.
    #[must_use]
    pub const fn without_scripts(self) -> Self {
        Self { scripts: false, ..self }
    }

    /// Returns this view in print style.
    #[must_use]
    pub const fn printed(self) -> Self {
        Self { print: true, ..self }
    }
}

impl Browser {
    /// Starts Chromium.
    pub async fn start() -> Self {
        let config = json!({ "packages": packages(), "program": program() });
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/browser/browser.mjs");
        let mut process = Command::new("node")
            .args([script, &config.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("these tests start a browser with Node.js: run `cargo xtask setup`");
        let stdin = process.stdin.take().expect("stdin is piped");
        let stdout = process.stdout.take().expect("stdout is piped");
        let mut lines = BufReader::new(stdout).lines();
        let first = tokio::time::timeout(PATIENCE, lines.next_line()).await.ok();
        let first = first.and_then(Result::ok).flatten().unwrap_or_default();
        assert!(first.contains("ready"), "the browser did not start; it printed `{first}`");
        let (stdin, waiting) = (tokio::sync::Mutex::new(stdin), Mutex::default());
        let connection = Arc::new(BrowserProcess { stdin, last: AtomicU64::new(0), waiting });
        let reader = tokio::spawn(read(lines, Arc::clone(&connection)));
        Self { connection, reader, _process: process }
    }

    /// Opens a window for pages of this origin, such as `http://127.0.0.1:80`, with this cookie
    /// (`name=value`).
    pub async fn open(&self, origin: &str, view: View, cookie: Option<&str>) -> Tab {
        let View { width, height, dark, scripts, print, language, time_zone } = view;
        let asked = json!({
            "command": "open", "width": width, "height": height, "dark": dark, "scripts": scripts,
            "print": print, "language": language, "timeZone": time_zone, "cookie": cookie,
            "origin": origin,
        });
        let number = self.connection.request(asked).await.as_u64().expect("tabs have numbers");
        Tab { connection: Arc::clone(&self.connection), number, origin: origin.to_owned() }
    }
}

impl Tab {
    /// Runs JavaScript in each page that is loaded from now on, before its own scripts.
    pub async fn prepare(&self, code: &str) {
        self.request("prepare", json!({ "code": code })).await;
    }

    /// Loads this path and returns the status of the response.
    pub async fn visit(&self, path: &str) -> u16 {
        let url = format!("{}{path}", self.origin);
        let status = self.request("visit", json!({ "url": url })).await;
        status
            .as_u64()
            .and_then(|status| u16::try_from(status).ok())
            .expect("a response has a status")
    }

    /// Evaluates JavaScript and returns its value. Works even if scripts of the page are disabled.
    pub async fn evaluate(&self, code: &str) -> Value {
        self.request("evaluate", json!({ "code": code })).await
    }

    /// Evaluates JavaScript and returns its value as text.
    pub async fn text(&self, code: &str) -> String {
        let value = self.evaluate(code).await;
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// Waits until this JavaScript returns a truthy value, and returns it.
    pub async fn until(&self, code: &str) -> Value {
        self.request("until", json!({ "code": code, "millis": UNTIL_MS })).await
    }

    /// Clicks the first element of a selector and waits for the next page.
    pub async fn click(&self, selector: &str) {
        self.request("click", json!({ "selector": selector })).await;
    }

    /// Fills in a field.
    pub async fn fill(&self, selector: &str, value: &str) {
        self.request("fill", json!({ "selector": selector, "value": value })).await;
    }

    /// Drags the first element of a selector onto the upper quarter of another one.
    pub async fn drag(&self, source: &str, target: &str) {
        self.request("drag", json!({ "source": source, "target": target })).await;
    }

    /// Presses a key, such as `Tab` or `ArrowLeft`.
    pub async fn press(&self, key: &str) {
        self.request("press", json!({ "key": key })).await;
    }

    /// Adds an authenticator that stores passkeys and approves every request, as a phone does whose
    /// owner is present.
    pub async fn add_authenticator(&self) {
        self.request("authenticator", json!({})).await;
    }

    /// Saves a picture of the whole page to this file.
    pub async fn picture(&self, file: &Path) {
        self.request("picture", json!({ "file": file })).await;
    }

    /// Returns the violations that axe-core finds, a line for each rule.
    pub async fn audit(&self) -> Vec<String> {
        lines(&self.request("audit", json!({})).await)
    }

    /// Returns the texts of the frames in the page, in order.
    pub async fn frames(&self) -> Vec<String> {
        lines(&self.request("frames", json!({})).await)
    }

    /// Returns all requested URLs.
    pub async fn asked(&self) -> Vec<String> {
        lines(&self.request("asked", json!({})).await)
    }

    /// Returns the browser's complaints: errors of scripts, and violations of the page's content
    /// security policy.
    pub async fn errors(&self) -> Vec<String> {
        lines(&self.request("complaints", json!({})).await)
    }

    /// Closes the window.
    pub async fn close(self) {
        self.request("close", json!({})).await;
    }

    async fn request(&self, command: &str, mut what: Value) -> Value {
        what["command"] = json!(command);
        what["tab"] = json!(self.number);
        self.connection.request(what).await
    }
}

impl BrowserProcess {
    async fn request(&self, mut what: Value) -> Value {
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        what["id"] = json!(id);
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        let written = self.stdin.lock().await.write_all(format!("{what}\n").as_bytes()).await;
        written.expect("the browser reads commands");
        let answer = tokio::time::timeout(PATIENCE, answer).await;
        let answer = answer.expect("the browser responds in time").expect("the browser is running");
        answer.unwrap_or_else(|why| panic!("{what}: {why}"))
    }
}

impl fmt::Debug for BrowserProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrowserProcess").field("last", &self.last).finish_non_exhaustive()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn read(mut lines: Lines<BufReader<ChildStdout>>, connection: Arc<BrowserProcess>) {
    while let Ok(Some(text)) = lines.next_line().await {
        let mut message: Value = serde_json::from_str(&text).unwrap_or_default();
        let id = message["id"].as_u64();
        let mut waiting = connection.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = id.and_then(|id| waiting.remove(&id)) else { continue };
        let answer = match message["error"].as_str() {
            Some(why) => Err(why.to_owned()),
            None => Ok(message["value"].take()),
        };
        // The test may no longer wait for it.
        drop(sender.send(answer));
    }
}

fn lines(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten();
    texts.map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the folder of the packages that `cargo xtask setup` installs.
fn packages() -> PathBuf {
    let package = tools::installed("browser/node_modules/playwright-core", "a browser");
    package.ancestors().nth(2).expect("the path has two parent folders").to_owned()
}

/// Returns the path of Chromium on this machine.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| {
            ["chromium", "chromium-browser", "google-chrome"].map(|it| folder.join(it))
        })
        .find(|program| program.exists());
    found.expect("these tests start Chromium: run `cargo xtask setup`")
}
