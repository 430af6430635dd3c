//! The binary as a process in its own folder: runs commands, and starts servers and waits until
//! they listen.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

/// Timeout that is longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// Text that a server logs when it listens.
const ANSWERING: &str = "answering on http://";
/// Prefixes of the lines that name the database or service in use.
const PLACES: [&str; 5] = ["data folder: ", "database: ", "service: ", "from: ", "to: "];
const MONITORS: &str = "monitor.v1.MonitorService";

/// A folder in which commands run. Its database is in `data`.
pub(crate) struct Home(TempDir);

/// The result of a command.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    /// Standard error without the lines of `place`.
    pub(crate) err: String,
    /// Lines that name the folder, the database or the service in use.
    pub(crate) place: String,
}

/// A running server. Dropping it kills it.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Its output, line by line.
    pub(crate) out: Receiver<String>,
    /// Its log until it listened.
    log: String,
    /// Lines of its log since then.
    err: Receiver<String>,
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Creates a home whose name has a space and a quotation mark. The program is in it too.
    pub(crate) fn with_a_space() -> Self {
        let folder = tempfile::Builder::new().prefix("a user's home ").tempdir().unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_aloft"), folder.path().join("aloft"))
            .unwrap();
        Self(folder)
    }

    /// Creates a home with an empty database, which only a server creates.
    pub(crate) fn with_database() -> Self {
        let home = Self::new();
        assert!(home.serve().stop().success());
        home
    }

    /// Creates a home with the workspace `acme` and a write key.
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

    /// Returns a text with this folder replaced by `[home]`.
    pub(crate) fn masked(&self, text: &str) -> String {
        text.replace(&self.path().display().to_string(), "[home]")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Runs a command to completion.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    /// Runs a command with environment variables.
    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        Ran::from(self.command(args).envs(variables.iter().copied()).output().unwrap())
    }

    /// Runs a command that prints JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&ran.out)
            .unwrap_or_else(|why| panic!("{why}: {} {}", ran.out, ran.err))
    }

    /// Creates a key of the workspace `acme`.
    pub(crate) fn new_key(&self, flags: &[&str]) -> Value {
        self.json(&[&["keys", "create", "--workspace", "acme", "--name", "test"], flags].concat())
    }

    /// Starts a server on a free port and waits until it listens. Checks may connect to loopback.
    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&["--allow-private-networks"])
    }

    /// Starts a server with these flags.
    pub(crate) fn serve_with(&self, flags: &[&str]) -> Server {
        started(self.command(&[&["serve", "--listen", "127.0.0.1:0"], flags].concat()))
    }

    /// Starts a server at this address, to which others connect again.
    pub(crate) fn serve_at(&self, address: SocketAddr) -> Server {
        started(self.command(&["serve", "--listen", &address.to_string()]))
    }

    /// Starts a server with these flags and variables.
    pub(crate) fn serve_as(&self, flags: &[&str], variables: &[(&str, &str)]) -> Server {
        let mut command = self.command(&[&["serve"], flags].concat());
        command.envs(variables.iter().copied());
        started(command)
    }

    /// Starts a server with a limit of open files.
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

    /// Starts a server with these variables.
    pub(crate) fn serve_under(&self, variables: &[(&str, &str)]) -> Server {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.arg("--allow-private-networks").envs(variables.iter().copied());
        started(command)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let own = self.path().join("aloft");
        let program = if own.exists() { own } else { env!("CARGO_BIN_EXE_aloft").into() };
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        // The developer's environment must not influence a test. All settings come from here.
        command.env_clear().env("ALOFT_DATA", "data");
        command
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let stderr = String::from_utf8(output.stderr).unwrap();
        let (place, err): (Vec<_>, Vec<_>) = stderr
            .split_inclusive('\n')
            .partition(|line| PLACES.iter().any(|place| line.starts_with(place)));
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: err.concat(),
            place: place.concat(),
        }
    }
}

impl Server {
    /// Returns the log of its start.
    pub(crate) fn log(&self) -> String {
        self.log.clone()
    }

    /// Waits until it logs a line that contains this text, after those that earlier calls found.
    pub(crate) fn wait_for_log(&self, text: &str) {
        wait_for_line(&self.err, text);
    }

    /// Returns its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM and waits until it exits.
    pub(crate) fn stop(mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }

    /// Like [`Self::stop`], and returns the log since it listened.
    pub(crate) fn stop_with_log(mut self) -> String {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap();
        self.err.iter().collect::<Vec<_>>().join("\n")
    }

    /// Waits until it exits by itself.
    pub(crate) fn ended(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Kills it with SIGKILL, which has the effect of a power cut.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn get(&self, path: &str, key: Option<&str>) -> Reply {
        call(self.address, "GET", path, key, "").unwrap()
    }

    /// Calls a method of the monitor service, which must succeed.
    pub(crate) fn rpc(&self, key: &str, method: &str, request: &Value) -> Value {
        let reply = rpc(self.address, key, method, request).unwrap();
        assert_eq!(reply.status, 200, "{method} {request}: {}", reply.body);
        reply.json()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.body))
    }
}

/// Starts a server and waits until it listens.
fn started(mut command: Command) -> Server {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let out = lines(child.stdout.take().unwrap());
    let err = lines(child.stderr.take().unwrap());
    let mut log_text = String::new();
    let address = loop {
        let Ok(line) = err.recv_timeout(PATIENCE) else {
            child.kill().unwrap();
            panic!("the server did not start: {log_text}");
        };
        log_text.push_str(&line);
        log_text.push('\n');
        if let Some((_, after)) = line.split_once(ANSWERING) {
            break after.split(' ').next().unwrap().parse().unwrap();
        }
    };
    Server { child, address, out, log: log_text, err }
}

/// Calls a method of the monitor service with Connect JSON.
pub(crate) fn rpc(
    address: SocketAddr,
    key: &str,
    method: &str,
    request: &Value,
) -> std::io::Result<Reply> {
    call_service(address, key, MONITORS, method, request)
}

/// Calls a method of any service with Connect JSON.
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

/// Sends a GET request without a key.
pub(crate) fn get(address: SocketAddr, path: &str) -> std::io::Result<Reply> {
    call(address, "GET", path, None, "")
}

/// Sends a request over its own connection.
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
    let broken = || std::io::Error::other(format!("incomplete response: {text}"));
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

/// Decodes a chunked body. `None` if its end is missing.
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

/// Repeats a question until it has an answer, and panics after a timeout. Each question is a call,
/// so nothing else depends on time.
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

/// Waits for a line that contains this text.
pub(crate) fn wait_for_line(lines: &Receiver<String>, text: &str) {
    let end = Instant::now() + PATIENCE;
    let mut seen = String::new();
    loop {
        let rest = end.saturating_duration_since(Instant::now());
        match lines.recv_timeout(rest) {
            Ok(line) if line.contains(text) => return,
            Ok(line) => seen = format!("{seen}\n{line}"),
            Err(why) => panic!("no line with `{text}` within {PATIENCE:?} ({why}) after: {seen}"),
        }
    }
}

/// Returns an active HTTP monitor with this URL and these regions.
pub(crate) fn http_monitor(name: &str, url: &str, regions: &[&str]) -> Value {
    json!({
        "name": name, "url": url, "periodicity": "30s", "active": true, "retry": 0,
        "regions": regions,
    })
}

/// Reads a stream line by line. The channel closes at the end of the stream.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        // Keep reading without a receiver, because a full pipe would block the process.
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}
