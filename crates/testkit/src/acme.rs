//! A real ACME server for tests: Pebble, in a process with its own authority. It resolves names
//! with the test's DNS server and validates challenges through proxies that lead to the server
//! under test. `cargo xtask setup` installs the program. It stops with the test or the test's
//! process.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::target::{Authority, Validity};
use crate::tls::TlsCaller;

/// Timeout that is longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Maximum number of starts, because another process may take a chosen port.
const STARTS: usize = 5;
/// Lifetime of its certificates in seconds: 90 days.
const LIFE: u64 = 7_776_000;

/// Behaviour of the server.
#[derive(Clone, Copy, Debug)]
pub struct AcmeBehaviour {
    /// Percentage of valid nonces that it rejects.
    pub bad_nonces: u8,
    /// Name for which it issues no certificate.
    pub rejected_name: &'static str,
}

impl Default for AcmeBehaviour {
    /// Returns Pebble's defaults: it rejects one nonce in twenty.
    fn default() -> Self {
        Self { bad_nonces: 5, rejected_name: "refused.example" }
    }
}

/// A running ACME server.
#[derive(Debug)]
pub struct AcmeServer {
    address: SocketAddr,
    management: SocketAddr,
    authority: Authority,
    folder: TempDir,
    http: ProxyPort,
    tls: ProxyPort,
    output: Arc<ProcessOutput>,
    reader: JoinHandle<()>,
    /// Killed on drop.
    _process: Child,
}

/// A proxy port whose target the test sets.
#[derive(Debug)]
struct ProxyPort {
    port: u16,
    to: watch::Sender<ProxyTarget>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

/// Target of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProxyTarget {
    /// Not set yet. Connections wait until it is set.
    Unset,
    /// None. Connections are closed.
    Closed,
    /// This address.
    To(SocketAddr),
}

/// Output of the process.
#[derive(Debug, Default)]
struct ProcessOutput {
    lines: Mutex<Vec<String>>,
    count: watch::Sender<usize>,
}

impl AcmeServer {
    /// Starts the process. It resolves names with the DNS server at `dns`.
    pub async fn start(dns: SocketAddr) -> Self {
        Self::start_with(dns, AcmeBehaviour::default()).await
    }

    /// Starts the process like [`AcmeServer::start`], with other behaviour.
    pub async fn start_with(dns: SocketAddr, manners: AcmeBehaviour) -> Self {
        let authority = Authority::new("ACME server's authority");
        let identity = authority.issue(&["localhost", "127.0.0.1"], Validity::Valid);
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("the folder was just created");
        };
        write("authority.pem", &authority.pem());
        write("certificate.pem", &identity.chain_pem());
        write("key.pem", &identity.key_pem());
        let (http, tls) = (ProxyPort::open().await, ProxyPort::open().await);
        for _ in 0..STARTS {
            let (address, management) = (free().await, free().await);
            let config = config(&folder, (address, management), (http.port, tls.port), manners);
            write("config.json", &config);
            let started = spawn(&folder, dns, manners, address).await;
            let Some((process, output, reader)) = started else { continue };
            return Self {
                address,
                management,
                authority,
                folder,
                http,
                tls,
                output,
                reader,
                _process: process,
            };
        }
        panic!("Pebble did not start in {STARTS} tries");
    }

    /// Returns the URL of its directory.
    pub fn directory(&self) -> String {
        format!("https://{}/dir", self.address)
    }

    /// Returns the file of the authority that issued the server's own certificate.
    pub fn authority_file(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// Sets the targets of challenge validation, for any name. `None` closes connections. Until the
    /// first call, validation waits.
    pub fn set_targets(&self, http: Option<SocketAddr>, tls: Option<SocketAddr>) {
        self.http.to.send_replace(http.map_or(ProxyTarget::Closed, ProxyTarget::To));
        self.tls.to.send_replace(tls.map_or(ProxyTarget::Closed, ProxyTarget::To));
    }

    /// Returns the number of validations over HTTP and over TLS.
    pub fn validations(&self) -> (usize, usize) {
        let came = |proxy_port: &ProxyPort| proxy_port.connections.load(Ordering::Relaxed);
        (came(&self.http), came(&self.tls))
    }

    /// Returns the authority of the certificates that it issues.
    pub async fn roots(&self) -> RootCertStore {
        let mut own = RootCertStore::empty();
        own.add_parsable_certificates(CertificateDer::from_pem_slice(
            self.authority.pem().as_bytes(),
        ));
        let caller = TlsCaller::new(own, &["http/1.1"]);
        let reply = caller.get(self.management, "localhost", "/roots/0").await;
        let reply = reply.expect("Pebble returns its authority");
        let mut roots = RootCertStore::empty();
        let found = CertificateDer::pem_slice_iter(&reply.body).filter_map(Result::ok);
        let (added, _) = roots.add_parsable_certificates(found);
        assert_eq!(added, 1, "{reply}");
        roots
    }

    /// Waits until the process has printed a line that contains this text.
    pub async fn wait_for_output(&self, text: &str) {
        let count_lines = |output: &ProcessOutput| {
            let lines = output.lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.iter().any(|line| line.contains(text))
        };
        let mut count = self.output.count.subscribe();
        let waiting = count.wait_for(|_| count_lines(&self.output));
        let came = tokio::time::timeout(PATIENCE, waiting).await.is_ok();
        assert!(came, "Pebble did not print `{text}`: {:#?}", self.output.lines);
    }
}

impl Drop for AcmeServer {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Drop for ProxyPort {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ProxyPort {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let port = listener.local_addr().expect("the socket is bound").port();
        let (to, leads) = watch::channel(ProxyTarget::Unset);
        let came = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&came);
        let task = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(forward(near, leads.clone()));
            }
        });
        Self { port, to, connections: came, task }
    }
}

/// Connects a client to the target of the proxy once it is set.
async fn forward(mut near: TcpStream, mut leads: watch::Receiver<ProxyTarget>) {
    let leads = leads.wait_for(|to| *to != ProxyTarget::Unset).await.map(|to| *to);
    let Ok(ProxyTarget::To(to)) = leads else { return };
    if let Ok(mut far) = TcpStream::connect(to).await {
        // The proxy ends both directions when either side closes.
        let _ = copy_bidirectional(&mut near, &mut far).await;
    }
}

/// Returns an address that is free at this moment.
async fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    listener.local_addr().expect("the socket is bound")
}

fn config(
    folder: &TempDir,
    (address, management): (SocketAddr, SocketAddr),
    (http, tls): (u16, u16),
    manners: AcmeBehaviour,
) -> String {
    let path = |name: &str| folder.path().join(name);
    json!({ "pebble": {
        "listenAddress": address, "managementListenAddress": management,
        "certificate": path("certificate.pem"), "privateKey": path("key.pem"),
        "httpPort": http, "tlsPort": tls, "ocspResponderURL": "",
        "externalAccountBindingRequired": false, "domainBlocklist": [manners.rejected_name],
        "certificateValidityPeriod": LIFE, "retryAfter": { "authz": 0, "order": 0 },
    } })
    .to_string()
}

type Started = (Child, Arc<ProcessOutput>, JoinHandle<()>);

/// Returns the process once it responds. Returns `None` if it exited because another process took
/// its port.
async fn spawn(
    folder: &TempDir,
    dns: SocketAddr,
    manners: AcmeBehaviour,
    address: SocketAddr,
) -> Option<Started> {
    let mut process = Command::new(crate::tools::installed("bin/pebble", "Pebble"))
        .args(["-config", "config.json", "-dnsserver", &dns.to_string()])
        .current_dir(folder.path())
        .env("PEBBLE_VA_NOSLEEP", "1")
        .env("PEBBLE_WFE_NONCEREJECT", manners.bad_nonces.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("these tests start Pebble: run `cargo xtask setup`");
    let stdout = process.stdout.take().expect("stdout is piped");
    let output = Arc::new(ProcessOutput::default());
    let count_lines = Arc::clone(&output);
    let reader = tokio::spawn(async move {
        let mut lines = BufReader::new(stdout).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            count_lines.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            count_lines.count.send_modify(|count| *count += 1);
        }
    });
    let answers = async {
        while TcpStream::connect(address).await.is_err() {
            if process.try_wait().is_ok_and(|ended| ended.is_some()) {
                return false;
            }
            tokio::task::yield_now().await;
        }
        true
    };
    let answers = tokio::time::timeout(PATIENCE, answers).await.unwrap_or(false);
    answers.then_some((process, output, reader))
}
