//! A mail server for tests: a process that requires STARTTLS and a login, as operators' servers do.
//! It parses each accepted message with a third-party parser and sends it back to the test.
//! `cargo xtask setup` installs the packages. It stops with the test or the test's process.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::Secret;
use serde_json::{Value, json};
use server::config::{MailAccount, MailServer as MailSettings, MailTls, Settings};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::target::{Authority, Validity};
use crate::tools;

/// Account of the server.
pub const USER: &str = "aloft@example.com";
/// Password of the account, with characters that need encoding in URLs.
pub const PASSWORD: &str = "p@ss:w/ord%";
/// Timeout that is longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running mail server.
#[derive(Debug)]
pub struct MailServer {
    port: u16,
    authority: Authority,
    folder: TempDir,
    stdin: tokio::sync::Mutex<ChildStdin>,
    seen: Arc<Seen>,
    reader: JoinHandle<()>,
    /// Killed on drop.
    _process: Child,
}

/// An accepted email, as a third-party parser reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedMail {
    /// Sender in the envelope.
    pub from: String,
    /// Recipients in the envelope.
    pub to: Vec<String>,
    /// Account of the login.
    pub user: String,
    /// Whether it arrived over TLS.
    pub secure: bool,
    /// Header lines in order, names in lower case, values unchanged.
    pub headers: Vec<(String, String)>,
    /// Decoded subject.
    pub subject: String,
    /// Decoded plain-text part.
    pub text: String,
    /// Decoded HTML part.
    pub html: String,
    /// Raw message, decoded as Latin-1.
    pub raw: String,
}

/// Command that the server rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedAt {
    /// Login.
    Auth,
    /// Recipient of the message.
    Receiver,
    /// Message itself.
    Message,
}

#[derive(Debug, Default)]
struct Seen {
    state: Mutex<MailboxState>,
    lines: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct MailboxState {
    accepted: Vec<AcceptedMail>,
    refused: usize,
    configured: usize,
}

impl AcceptedMail {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl MailServer {
    /// Starts the process on a free loopback port.
    pub async fn start() -> Self {
        let authority = Authority::new("mail authority");
        let identity = authority.issue(&["localhost", "127.0.0.1"], Validity::Valid);
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        std::fs::write(folder.path().join("authority.pem"), authority.pem())
            .expect("the folder was just created");
        let options = json!({
            "packages": packages(), "key": identity.key_pem(), "cert": identity.chain_pem(),
            "user": USER, "password": PASSWORD,
        });
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/mail/server.mjs");
        let mut process = Command::new("node")
            .args([script, &options.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("these tests start a mail server on Node.js: run `cargo xtask setup`");
        let stdin = process.stdin.take().expect("stdin is piped");
        let stdout = process.stdout.take().expect("stdout is piped");
        let mut lines = BufReader::new(stdout).lines();
        let port = port_of(&mut lines).await;
        let seen = Arc::new(Seen::default());
        let reader = tokio::spawn(read(lines, Arc::clone(&seen)));
        let stdin = tokio::sync::Mutex::new(stdin);
        Self { port, authority, folder, stdin, seen, reader, _process: process }
    }

    /// Configures a server to send its emails here.
    pub fn set_up(&self, settings: &mut Settings) {
        settings.vendors.has_mail = true;
        settings.mail = Some(MailSettings {
            host: "localhost".to_owned(),
            port: self.port,
            tls: MailTls::Starttls,
            account: Some(MailAccount {
                user: USER.to_owned(),
                password: Secret::new(PASSWORD.to_owned()),
            }),
            from: "Aloft <aloft@example.com>".parse().expect("the address is valid"),
        });
        settings.extra_ca_file = Some(self.authority_file());
    }

    /// Returns its port on 127.0.0.1. Its certificate is valid for `localhost` and for that
    /// address.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the file of the authority that issued its certificate.
    pub fn authority_file(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// Returns the authority that issued its certificate.
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Rejects the next `times` commands with this code and text.
    pub async fn refuse(&self, at: RefusedAt, times: usize, code: u16, text: &str) {
        let at = match at {
            RefusedAt::Auth => "auth",
            RefusedAt::Receiver => "rcpt",
            RefusedAt::Message => "data",
        };
        let before = self.seen.state().configured;
        let line = json!({ "at": at, "code": code, "text": text, "times": times }).to_string();
        let mut stdin = self.stdin.lock().await;
        let written = stdin.write_all((line + "\n").as_bytes()).await;
        written.expect("the mail server reads commands");
        self.once(|state| (state.configured > before).then_some(())).await;
    }

    /// Returns the accepted emails in order.
    pub fn taken(&self) -> Vec<AcceptedMail> {
        self.seen.state().accepted.clone()
    }

    /// Waits for this number of accepted emails and returns them.
    pub async fn takes(&self, count: usize) -> Vec<AcceptedMail> {
        self.once(|state| (state.accepted.len() >= count).then(|| state.accepted.clone())).await
    }

    /// Waits for this number of rejections.
    pub async fn wait_for_rejected(&self, count: usize) {
        self.once(|state| (state.refused >= count).then_some(())).await;
    }

    async fn once<T>(&self, look: impl Fn(&MailboxState) -> Option<T>) -> T {
        let mut lines = self.seen.lines.subscribe();
        let found = lines.wait_for(|_| look(&self.seen.state()).is_some());
        let came = tokio::time::timeout(PATIENCE, found).await.is_ok();
        assert!(came, "the mail server only received {:#?}", self.seen.state());
        look(&self.seen.state()).expect("received messages are kept")
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Seen {
    fn state(&self) -> MutexGuard<'_, MailboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the folder of the packages that `cargo xtask setup` installs.
fn packages() -> PathBuf {
    let package = tools::installed("mail/node_modules/smtp-server", "a mail server");
    package.ancestors().nth(2).expect("the path has two parent folders").to_owned()
}

async fn port_of(lines: &mut Lines<BufReader<ChildStdout>>) -> u16 {
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.ok();
    let line = line.and_then(Result::ok).flatten().unwrap_or_default();
    let message: Value = serde_json::from_str(&line).unwrap_or_default();
    let port = message["port"].as_u64().and_then(|port| u16::try_from(port).ok());
    port.unwrap_or_else(|| panic!("the mail server did not start; it printed `{line}`"))
}

async fn read(mut lines: Lines<BufReader<ChildStdout>>, seen: Arc<Seen>) {
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        {
            let mut state = seen.state();
            match (message.get("mail"), message.get("configured")) {
                (Some(mail), _) => state.accepted.push(read_mail(mail)),
                (None, Some(_)) => state.configured += 1,
                (None, None) => state.refused += usize::from(message.get("refused").is_some()),
            }
        }
        seen.lines.send_modify(|lines| *lines += 1);
    }
}

fn read_mail(mail: &Value) -> AcceptedMail {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |name: &str| mail[name].as_array().cloned().unwrap_or_default();
    let header = |pair: &Value| (text(&pair[0]), text(&pair[1]));
    AcceptedMail {
        from: text(&mail["from"]),
        to: list("to").iter().map(text).collect(),
        user: text(&mail["user"]),
        secure: mail["secure"] == true,
        headers: list("headers").iter().map(header).collect(),
        subject: text(&mail["subject"]),
        text: text(&mail["text"]),
        html: text(&mail["html"]),
        raw: text(&mail["raw"]),
    }
}
