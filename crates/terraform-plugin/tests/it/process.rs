//! The provider as a process: what it says when it is started, whom it lets in, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, PKCS_ECDSA_P521_SHA512};
use rustix::process::{Pid, Signal, kill_process};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use terraform_plugin::harness::Terraform;

use crate::notebook::{NOTE, note, program};

const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");
/// After which a test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

/// A host's certificate, as go-plugin makes them.
struct Identity {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Identity {
    fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P521_SHA512).unwrap();
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { certificate: params.self_signed(&key).unwrap(), key }
    }
}

/// A provider that was started, and the parts of what it said.
struct Started {
    child: Child,
    out: BufReader<ChildStdout>,
    parts: Vec<String>,
}

impl Started {
    /// As a host of this certificate starts it.
    fn by_host(identity: Option<&Identity>, further: &[(&str, &str)]) -> Self {
        let mut command = bare();
        command.env(COOKIE.0, COOKIE.1).env("PLUGIN_PROTOCOL_VERSIONS", "5,6");
        if let Some(identity) = identity {
            command.env("PLUGIN_CLIENT_CERT", identity.certificate.pem());
        }
        let mut child = command.envs(further.iter().copied()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let parts = line.trim_end().split('|').map(str::to_owned).collect();
        Self { child, out, parts }
    }

    fn socket(&self) -> PathBuf {
        PathBuf::from(&self.parts[3])
    }

    /// Asks it to end, and tells how it did and what else it had said.
    fn end(mut self) -> (ExitStatus, String) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        (status, rest)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Of a process that has ended there is nothing to end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The provider with nothing of the tests' environment that would be said by a host.
fn bare() -> Command {
    let mut command = Command::new(program("notebook"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in [COOKIE.0, "PLUGIN_CLIENT_CERT", "PLUGIN_MULTIPLEX_GRPC", "TF_LOG"] {
        command.env_remove(name);
    }
    command
}

/// Connects as a client with or without a certificate, and tells the first byte that it is sent.
fn first_byte(started: &Started, identity: Option<&Identity>) -> std::io::Result<u8> {
    let mut roots = RootCertStore::empty();
    let own = STANDARD_NO_PAD.decode(&started.parts[5]).unwrap();
    roots.add(CertificateDer::from(own)).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(Identity { certificate, key }) => {
            let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
            config.with_client_auth_cert(vec![certificate.der().clone()], key).unwrap()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = UnixStream::connect(started.socket())?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut stream = StreamOwned::new(client, socket);
    // A server of HTTP/2 speaks as soon as it lets one in.
    let mut byte = [0];
    stream.read_exact(&mut byte)?;
    Ok(byte[0])
}

#[test]
fn a_person_who_starts_it_is_told_what_it_is() {
    let output = bare().output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("This program is a Terraform provider."), "{said}");
    assert!(said.contains("terraform init") && said.contains("--debug"), "{said}");
}

#[test]
fn only_the_host_is_let_in() {
    let host = Identity::new();
    let started = Started::by_host(Some(&host), &[]);
    assert_eq!(started.parts[..3], ["1", "6", "unix"]);
    assert_eq!((started.parts[4].as_str(), started.parts.len()), ("grpc", 6));
    // The first frame of HTTP/2 is short, so its length begins with zero.
    assert_eq!(first_byte(&started, Some(&host)).unwrap(), 0);
    let without = first_byte(&started, None).unwrap_err();
    assert!(without.to_string().contains("CertificateRequired"), "{without}");
    let another = first_byte(&started, Some(&Identity::new())).unwrap_err();
    assert!(another.to_string().contains("AccessDenied"), "{another}");
    let mut plain = UnixStream::connect(started.socket()).unwrap();
    plain.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    let mut answered = Vec::new();
    // An alert of TLS or nothing, and in no case a frame.
    drop(plain.read_to_end(&mut answered));
    assert!(answered.first().is_none_or(|byte| *byte == 0x15), "{answered:?}");
    // Those who were refused have not disturbed it.
    assert_eq!(first_byte(&started, Some(&host)).unwrap(), 0);
}

#[test]
fn it_says_nothing_more_on_stdout_and_leaves_nothing_behind() {
    let started = Started::by_host(Some(&Identity::new()), &[("PLUGIN_MULTIPLEX_GRPC", "true")]);
    assert_eq!(started.parts[6], "false");
    let socket = started.socket();
    assert!(socket.exists());
    let (status, rest) = started.end();
    assert!(status.success(), "{status}");
    assert_eq!(rest, "");
    assert!(!socket.parent().unwrap().exists());
}

#[test]
fn sockets_go_where_the_host_says() {
    let folder = tempfile::tempdir().unwrap();
    let told = [("PLUGIN_UNIX_SOCKET_DIR", folder.path().to_str().unwrap())];
    let started = Started::by_host(Some(&Identity::new()), &told);
    assert!(started.socket().starts_with(folder.path()));
}

#[test]
fn a_certificate_that_is_none_lets_nobody_in() {
    let told = [(COOKIE.0, COOKIE.1), ("PLUGIN_CLIENT_CERT", "no certificate")];
    let output = bare().envs(told).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("`PLUGIN_CLIENT_CERT` holds no certificate"), "{said}");
}

#[test]
fn an_interrupt_is_the_hosts_to_answer() {
    let host = Identity::new();
    let started = Started::by_host(Some(&host), &[]);
    kill_process(Pid::from_child(&started.child), Signal::INT).unwrap();
    assert_eq!(first_byte(&started, Some(&host)).unwrap(), 0);
}

#[test]
fn it_ends_when_the_host_has_gone_without_a_word() {
    let mut shell = Command::new("sh");
    // The shell stands for the host: it starts the provider, and is killed.
    shell.args(["-c", "\"$0\" & wait"]).arg(program("notebook"));
    shell.env(COOKIE.0, COOKIE.1).env("PLUGIN_CLIENT_CERT", Identity::new().certificate.pem());
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut host = shell.spawn().unwrap();
    let mut out = BufReader::new(host.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let socket = PathBuf::from(line.split('|').nth(3).unwrap());
    host.kill().unwrap();
    host.wait().unwrap();
    // The provider is the last to hold it.
    let mut held = host.stderr.take().unwrap();
    let (say, hear) = channel();
    std::thread::spawn(move || say.send(held.read_to_end(&mut Vec::new()).is_ok()));
    assert_eq!(hear.recv_timeout(PATIENCE), Ok(true), "it outlives its host");
    assert!(!socket.parent().unwrap().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn terraform_attaches_to_one_that_runs_in_a_debugger() {
    let folder = tempfile::tempdir().unwrap();
    // A provider writes where it was started, and Terraform did not start this one.
    let mut child = bare().arg("--debug").current_dir(folder.path()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut variable = String::new();
    while !variable.contains("TF_REATTACH_PROVIDERS='") {
        variable.clear();
        assert_ne!(out.read_line(&mut variable).unwrap(), 0, "it says no variable");
    }
    let (_, value) = variable.trim().split_once('=').unwrap();
    let mut terraform = Terraform::new(&[]).unwrap();
    terraform.set("TF_REATTACH_PROVIDERS", value.trim_matches('\''));
    terraform.configure(&note("title = \"a\"")).unwrap();
    let applied = terraform.apply().await.unwrap();
    assert_eq!(applied.state.value(NOTE, "title"), "a");
    // It goes on after each command, until the person at the debugger ends it.
    assert!(terraform.plan().await.unwrap().is_empty());
    assert!(child.try_wait().unwrap().is_none());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(child.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn terraform_shows_the_log_of_the_level_that_is_asked_for() {
    let mut terraform = crate::notebook::terraform();
    terraform.configure(&note("title = \"a\"")).unwrap();
    for (level, shown) in [("DEBUG", true), ("WARN", false)] {
        terraform.set("TF_LOG_PROVIDER", level);
        let output = terraform.execute(&["plan"]).await.unwrap();
        let lines = output.stderr.lines();
        let ended = lines.filter(|line| line.contains("the host is done with this provider"));
        let read =
            ended.filter(|line| line.contains("[DEBUG] provider.terraform-provider-notebook"));
        assert_eq!(read.count() > 0, shown, "{level}: {}", output.stderr);
    }
}
