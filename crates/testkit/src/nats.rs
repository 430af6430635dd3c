//! A NATS server with JetStream for tests, in a process with a temporary folder. `cargo xtask setup`
//! installs the program. It is killed with the test, and can be killed and started again before.

mod operator;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use self::operator::{NatsOperator, UserExpiry};
use crate::tools;

/// Timeout that is longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Maximum number of starts, because another process may take a chosen port.
const STARTS: usize = 5;

#[derive(Clone, Copy, Debug)]
enum Features {
    JetStream,
    /// JetStream that may store 1 MiB.
    Cramped,
    None,
}

/// A NATS server. Dropping it kills the process and removes its folder.
#[derive(Debug)]
pub struct NatsServer {
    address: SocketAddr,
    folder: TempDir,
    features: Features,
    /// `None` while it is down.
    process: Option<Child>,
}

impl NatsServer {
    /// Starts a server with JetStream on a free port. `further` has further lines of its configuration file,
    /// such as its users.
    pub fn start(further: &str) -> Self {
        Self::start_with(further, Features::JetStream)
    }

    /// Starts a server without JetStream.
    pub fn start_without_jetstream() -> Self {
        Self::start_with("", Features::None)
    }

    /// Starts a server whose JetStream may store almost nothing.
    pub fn start_without_storage() -> Self {
        Self::start_with("", Features::Cramped)
    }

    fn start_with(further: &str, features: Features) -> Self {
        for _ in 0..STARTS {
            let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
            let address = listener.local_addr().expect("a listener has an address");
            drop(listener);
            let folder = tempfile::tempdir().expect("a temporary folder can be created");
            let mut server = Self { address, folder, features, process: None };
            server.configure(further);
            if server.try_run() {
                return server;
            }
        }
        panic!("nats-server did not start in {STARTS} attempts");
    }

    /// Returns its URL.
    pub fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    /// Returns its URL with TLS, for a certificate of `localhost`.
    pub fn tls_url(&self) -> String {
        format!("tls://localhost:{}", self.address.port())
    }

    /// Returns its process ID.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// Returns its folder, for files such as credentials.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Replaces the further lines of its configuration, from the next start on.
    pub fn configure(&self, further: &str) {
        let (address, store) = (self.address, self.folder().join("jetstream"));
        let jetstream = match self.features {
            Features::JetStream => format!("jetstream {{ store_dir: \"{}\" }}", store.display()),
            Features::Cramped => {
                let store = store.display();
                format!("jetstream {{ store_dir: \"{store}\", max_file_store: 1048576 }}")
            }
            Features::None => String::new(),
        };
        let text = format!("listen: \"{address}\"\n{jetstream}\n{further}\n");
        fs::write(self.folder().join("nats.conf"), text).expect("the folder is writable");
    }

    /// Kills the process with SIGKILL, which has the effect of a crash.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have exited already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Starts the process again, with the same port and folder.
    pub fn restart(&mut self) {
        self.kill();
        assert!(self.try_run(), "nats-server does not start again: {}", self.log());
    }

    /// Returns its log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder().join("nats.log")).unwrap_or_default()
    }

    /// Starts the process. Returns whether it answers.
    fn try_run(&mut self) -> bool {
        let log = fs::File::create(self.folder().join("nats.log")).expect("the folder is writable");
        let process = Command::new(program())
            .arg("-c")
            .arg(self.folder().join("nats.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("nats-server is a program");
        let process = self.process.insert(process);
        #[expect(clippy::disallowed_methods, reason = "waits for another process")]
        let end = Instant::now() + PATIENCE;
        loop {
            let has_exited = !matches!(process.try_wait(), Ok(None));
            if has_exited {
                return false;
            }
            if answers(self.address) {
                return true;
            }
            #[expect(clippy::disallowed_methods, reason = "waits for another process")]
            let now = Instant::now();
            if now > end {
                return false;
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the path of the program.
pub fn program() -> PathBuf {
    tools::installed("bin/nats-server", "NATS")
}

/// Returns the lines of a configuration with the server's user, `server:secret`, and those of probes. Each
/// has the name of its probe's ID and a password of its own, and only the rights that it needs.
pub fn users(probes: &[ProbeUser<'_>]) -> String {
    let probes: String = probes.iter().map(ProbeUser::line).collect();
    format!("authorization {{ users = [\n{{ user: server, password: secret }}\n{probes}] }}")
}

/// A user of NATS for a probe.
#[derive(Clone, Copy, Debug)]
pub struct ProbeUser<'a> {
    /// ID of the probe, which is also the name of the user.
    pub probe: &'a str,
    pub password: &'a str,
    pub region: &'a str,
}

impl ProbeUser<'_> {
    /// Returns the content of its credentials file.
    pub fn credentials(&self) -> String {
        format!("{}:{}\n", self.probe, self.password)
    }

    /// Returns the subjects to which it may publish.
    fn publish(&self) -> [String; 5] {
        let Self { probe, region, .. } = self;
        [
            format!("aloft.probes.{probe}.*"),
            format!("aloft.results.{probe}"),
            format!("$JS.API.CONSUMER.INFO.ALOFT_JOBS_{region}.aloft"),
            format!("$JS.API.CONSUMER.MSG.NEXT.ALOFT_JOBS_{region}.aloft"),
            format!("$JS.ACK.ALOFT_JOBS_{region}.aloft.>"),
        ]
    }

    /// Returns the subjects to which it may subscribe.
    fn subscribe(&self) -> [String; 1] {
        [format!("aloft.inbox.{}.>", self.probe)]
    }

    fn line(&self) -> String {
        let Self { probe, password, .. } = self;
        let (publish, subscribe) = (self.publish(), self.subscribe());
        format!(
            "{{ user: \"{probe}\", password: \"{password}\", permissions: {{ \
             publish: {publish:?}, subscribe: {subscribe:?} }} }}\n"
        )
    }
}

/// Returns whether a server introduces itself at this address.
fn answers(address: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else { return false };
    let mut begin = [0; 5];
    let read = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.read_exact(&mut begin));
    // The server closes the connection after malformed input.
    let _ = stream.write_all(b"\r\n");
    read.is_ok() && &begin == b"INFO "
}
