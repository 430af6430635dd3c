//! The provider as a process: its output at the start, the clients that it accepts, and its
//! shutdown.

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
/// Timeout of a test.
const PATIENCE: Duration = Duration::from_mins(1);

/// A host's certificate as go-plugin creates it.
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

/// A running provider, and the fields of its handshake.
struct Started {
    child: Child,
    out: BufReader<ChildStdout>,
    parts: Vec<String>,
}

impl Started {
    /// Starts the provider as a host with this certificate does.
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

    /// Asks the provider to stop. Returns its exit status and the rest of its output.
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
        // The process may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns a command for the provider without variables that a host would set.
fn bare() -> Command {
    let mut command = Command::new(program("notebook"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in [COOKIE.0, "PLUGIN_CLIENT_CERT", "PLUGIN_MULTIPLEX_GRPC", "TF_LOG"] {
        command.env_remove(name);
    }
    command
}

/// Connects with or without a client certificate, and returns the first byte received.
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
    // An HTTP/2 server sends a frame as soon as it accepts a client.
    let mut byte = [0];
    stream.read_exact(&mut byte)?;
    Ok(byte[0])
}

#[test]
fn start_by_hand_prints_instructions() {
    let output = bare().output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"");
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.starts_with("This program is a Terraform provider."), "{printed}");
    assert!(printed.contains("terraform init") && printed.contains("--debug"), "{printed}");
}

#[test]
fn only_the_host_is_accepted() {
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
    // A TLS alert or nothing, but never a frame.
    drop(plain.read_to_end(&mut answered));
    assert!(answered.first().is_none_or(|byte| *byte == 0x15), "{answered:?}");
    // Rejected clients do not affect the provider.
    assert_eq!(first_byte(&started, Some(&host)).unwrap(), 0);
}

#[test]
fn shutdown_leaves_no_output_and_no_socket() {
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
fn socket_is_in_the_folder_of_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("PLUGIN_UNIX_SOCKET_DIR", folder.path().to_str().unwrap())];
    let started = Started::by_host(Some(&Identity::new()), &variables);
    assert!(started.socket().starts_with(folder.path()));
}

#[test]
fn invalid_host_certificate_prevents_start() {
    let variables = [(COOKIE.0, COOKIE.1), ("PLUGIN_CLIENT_CERT", "no certificate")];
    let output = bare().envs(variables).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.contains("invalid certificate in `PLUGIN_CLIENT_CERT`"), "{printed}");
}

#[test]
fn interrupt_does_not_stop_provider() {
    let host = Identity::new();
    let started = Started::by_host(Some(&host), &[]);
    kill_process(Pid::from_child(&started.child), Signal::INT).unwrap();
    assert_eq!(first_byte(&started, Some(&host)).unwrap(), 0);
}

#[test]
fn provider_stops_when_host_is_killed() {
    let mut shell = Command::new("sh");
    // The shell acts as the host: it starts the provider and is killed.
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
    // The provider is the last process that holds the pipe.
    let mut held = host.stderr.take().unwrap();
    let (say, hear) = channel();
    std::thread::spawn(move || say.send(held.read_to_end(&mut Vec::new()).is_ok()));
    assert_eq!(hear.recv_timeout(PATIENCE), Ok(true), "it outlives its host");
    assert!(!socket.parent().unwrap().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn terraform_attaches_to_provider_in_debug_mode() {
    let folder = tempfile::tempdir().unwrap();
    // The provider writes to its working directory, because Terraform does not start it.
    let mut child = bare().arg("--debug").current_dir(folder.path()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut variable = String::new();
    while !variable.contains("TF_REATTACH_PROVIDERS='") {
        variable.clear();
        assert_ne!(out.read_line(&mut variable).unwrap(), 0, "it prints no variable");
    }
    let (_, value) = variable.trim().split_once('=').unwrap();
    let mut terraform = Terraform::new(&[]).unwrap();
    terraform.set("TF_REATTACH_PROVIDERS", value.trim_matches('\''));
    terraform.configure(&note("title = \"a\"")).unwrap();
    let applied = terraform.apply().await.unwrap();
    assert_eq!(applied.state.value(NOTE, "title"), "a");
    // The provider continues after each command until the person with the debugger stops it.
    assert!(terraform.plan().await.unwrap().is_empty());
    assert!(child.try_wait().unwrap().is_none());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(child.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn terraform_shows_log_of_requested_level() {
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
