//! The binary as a process in a folder of its own: commands with their output, and a server that is
//! waited for by what it says.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

/// Longest time that anything is waited for: more than anything takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// What a server says when it answers.
const ANSWERING: &str = "answering on http://";
/// Beginnings of the lines that name the place in use.
const PLACES: [&str; 5] = ["data folder: ", "database: ", "service: ", "from: ", "to: "];
const MONITORS: &str = "monitor.v1.MonitorService";

/// A folder in which commands are run; its database is in `data`.
pub(crate) struct Home(TempDir);

/// The outcome of a command.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    /// The standard error, without the lines of `place`.
    pub(crate) err: String,
    /// The lines that name the folder, the database or the service in use.
    pub(crate) place: String,
}

/// A running server; killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// What it has printed and will print, line by line.
    pub(crate) out: Receiver<String>,
    /// What it logged until it answered.
    log: String,
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A home with an empty database, which only a server creates.
    pub(crate) fn with_database() -> Self {
        let home = Self::new();
        assert!(home.serve().stop().success());
        home
    }

    /// A home with the workspace `acme` and a key that may write.
    pub(crate) fn with_key() -> (Self, String) {
        let home = Self::with_database();
        let made = home.run(&["workspaces", "create", "--slug", "acme", "--name", "Acme"]);
        assert_eq!(made.code, Some(0), "{}", made.err);
        let key = home.new_key(&["--scope", "write"]);
        (home, key["key"].as_str().unwrap().to_owned())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A text with this folder as `[home]`.
    pub(crate) fn masked(&self, text: &str) -> String {
        text.replace(&self.path().display().to_string(), "[home]")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    /// The same, with variables of the environment.
    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let output = self.command(args).envs(variables.iter().copied()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let (place, err): (Vec<_>, Vec<_>) = said
            .split_inclusive('\n')
            .partition(|line| PLACES.iter().any(|place| line.starts_with(place)));
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: err.concat(),
            place: place.concat(),
        }
    }

    /// Runs a command that prints JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&ran.out)
            .unwrap_or_else(|why| panic!("{why}: {} {}", ran.out, ran.err))
    }

    /// A new key of the workspace `acme`.
    pub(crate) fn new_key(&self, flags: &[&str]) -> Value {
        self.json(&[&["keys", "create", "--workspace", "acme", "--name", "test"], flags].concat())
    }

    /// Starts a server on a free port and waits until it answers. Checks may reach loopback.
    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&["--allow-private-networks"])
    }

    /// The same, with these flags.
    pub(crate) fn serve_with(&self, flags: &[&str]) -> Server {
        started(self.command(&[&["serve", "--listen", "127.0.0.1:0"], flags].concat()))
    }

    /// The same, with so many open files.
    pub(crate) fn serve_with_files(&self, files: u32) -> Server {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit -n {files} && exec \"$0\" serve --listen 127.0.0.1:0")])
            .arg(env!("CARGO_BIN_EXE_aloft"))
            .current_dir(self.path())
            .stdin(Stdio::null())
            .env_clear()
            .env("ALOFT_DATA", "data");
        started(command)
    }

    /// The same, with these variables.
    pub(crate) fn serve_under(&self, variables: &[(&str, &str)]) -> Server {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.arg("--allow-private-networks").envs(variables.iter().copied());
        started(command)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aloft"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        // What the developer has set must not decide a test; all settings are from here.
        command.env_clear().env("ALOFT_DATA", "data");
        command
    }
}

impl Server {
    /// The log of its start.
    pub(crate) fn log(&self) -> String {
        self.log.clone()
    }

    /// What a process is known by.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end (SIGTERM) and waits until it did.
    pub(crate) fn stop(mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }

    /// Waits until it has ended by itself.
    pub(crate) fn ended(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Ends it as a power cut would (SIGKILL).
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn get(&self, path: &str, key: Option<&str>) -> Reply {
        call(self.address, "GET", path, key, "").unwrap()
    }

    /// Calls a method of the monitors' service; what it answers must be a success.
    pub(crate) fn rpc(&self, key: &str, method: &str, request: &Value) -> Value {
        let reply = rpc(self.address, key, method, request).unwrap();
        assert_eq!(reply.status, 200, "{method} {request}: {}", reply.body);
        reply.json()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Of a process that has ended there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.body))
    }
}

/// Starts a server and waits until it answers.
fn started(mut command: Command) -> Server {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let out = lines(child.stdout.take().unwrap());
    let err = lines(child.stderr.take().unwrap());
    let mut said = String::new();
    let address = loop {
        let Ok(line) = err.recv_timeout(PATIENCE) else {
            child.kill().unwrap();
            panic!("the server did not start: {said}");
        };
        said.push_str(&line);
        said.push('\n');
        if let Some((_, after)) = line.split_once(ANSWERING) {
            break after.split(' ').next().unwrap().parse().unwrap();
        }
    };
    Server { child, address, out, log: said }
}

/// Calls a method of the monitors' service in Connect's JSON.
pub(crate) fn rpc(
    address: SocketAddr,
    key: &str,
    method: &str,
    request: &Value,
) -> std::io::Result<Reply> {
    call_service(address, key, MONITORS, method, request)
}

/// The same, of any service.
pub(crate) fn call_service(
    address: SocketAddr,
    key: &str,
    service: &str,
    method: &str,
    request: &Value,
) -> std::io::Result<Reply> {
    let path = format!("/rpc/{service}/{method}");
    call(address, "POST", &path, Some(key), &request.to_string())
}

/// Asks for a path without a key.
pub(crate) fn get(address: SocketAddr, path: &str) -> std::io::Result<Reply> {
    call(address, "GET", path, None, "")
}

/// A request over a connection of its own.
fn call(
    address: SocketAddr,
    method: &str,
    path: &str,
    key: Option<&str>,
    body: &str,
) -> std::io::Result<Reply> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let key = key.map(|key| format!("x-service-key: {key}\r\n")).unwrap_or_default();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{key}\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let broken = || std::io::Error::other(format!("no whole answer: {text}"));
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(broken)?;
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    };
    let body = match header("content-length").map(str::parse::<usize>) {
        Some(length) => (length == Ok(body.len())).then(|| body.to_owned()),
        None if header("transfer-encoding") == Some("chunked") => unchunked(body),
        None => None,
    };
    Ok(Reply { status, body: body.ok_or_else(broken)? })
}

/// The body that was sent in chunks, where its end came.
fn unchunked(mut rest: &str) -> Option<String> {
    let mut body = String::new();
    loop {
        let (length, after) = rest.split_once("\r\n")?;
        let length = usize::from_str_radix(length, 16).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.push_str(after.get(..length)?);
        rest = after.get(length..)?.strip_prefix("\r\n")?;
    }
}

/// Asks again and again until what was asked for is there. Each question is a call of its own, so
/// nothing waits for the clock but the end of patience.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < end, "not within {PATIENCE:?}: {what}");
        std::thread::yield_now();
    }
}

/// An active HTTP monitor of this URL in these regions.
pub(crate) fn http_monitor(name: &str, url: &str, regions: &[&str]) -> Value {
    json!({
        "name": name, "url": url, "periodicity": "30s", "active": true, "retry": 0,
        "regions": regions,
    })
}

/// What is read, line by line, as it comes; an end of the channel is the end of the text.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        // Read on when nobody listens: a full pipe would stop the process.
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}
