//! Opens the socket for the host: a Unix socket in a private folder that is removed at the end.
//! Systems without Unix sockets use a loopback port.

use std::io;

use futures_util::Stream;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::connection::{Connection, Io};
use super::environment::Environment;
use super::error::ServeError;
use super::tls::Tls;

/// Maximum number of connections waiting to be served. Hosts open one, debuggers a few.
const WAITING: usize = 16;
/// Time for a client's TLS handshake.
const HANDSHAKE: std::time::Duration = std::time::Duration::from_secs(5);
/// Pause after a connection could not be accepted, for example because the process has no free file
/// descriptors.
const ACCEPT_RETRY_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// A listening socket.
pub(super) struct Listener {
    socket: Socket,
    /// Folder of the Unix socket. Dropping it removes the folder, so it must outlive all
    /// connections.
    pub(super) folder: Option<tempfile::TempDir>,
    /// `unix` or `tcp`.
    pub(super) network: &'static str,
    /// Path, or address with port.
    pub(super) address: String,
}

enum Socket {
    #[cfg(unix)]
    Unix(tokio::net::UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Opens a Unix socket, or a port if that fails. Every user of the machine can connect to a
    /// port, so this requires client certificates.
    #[cfg(unix)]
    pub(super) async fn open(
        environment: &Environment,
        encrypted: bool,
    ) -> Result<Self, ServeError> {
        match Self::unix(environment) {
            Ok(listener) => Ok(listener),
            Err(why) if encrypted => {
                tracing::warn!("failed to open a unix socket, using a port instead: {why}");
                Self::tcp(environment).await
            }
            Err(why) => Err(ServeError::Listen(why)),
        }
    }

    /// Opens a loopback port, because hosts of this system use no Unix sockets. A port without
    /// client certificates is only allowed for debugging.
    #[cfg(not(unix))]
    pub(super) async fn open(
        environment: &Environment,
        encrypted: bool,
    ) -> Result<Self, ServeError> {
        if encrypted || environment.debug {
            return Self::tcp(environment).await;
        }
        Err(ServeError::Listen(io::Error::other("the host sent no certificate")))
    }

    #[cfg(unix)]
    fn unix(environment: &Environment) -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt;
        let parent = environment.socket_folder.clone().unwrap_or_else(std::env::temp_dir);
        // Short names, because the path of a socket is limited to about a hundred bytes.
        let folder = tempfile::Builder::new()
            .prefix("plugin")
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir_in(parent)?;
        let path = folder.path().join("s");
        let listener = tokio::net::UnixListener::bind(&path)?;
        let address = path.to_string_lossy().into_owned();
        let socket = Socket::Unix(listener);
        Ok(Self { socket, folder: Some(folder), network: "unix", address })
    }

    async fn tcp(environment: &Environment) -> Result<Self, ServeError> {
        let [low, high] = ports(environment)?;
        for port in low..=high {
            if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await {
                let address = listener.local_addr().map_err(ServeError::Listen)?.to_string();
                let socket = Socket::Tcp(listener);
                return Ok(Self { socket, folder: None, network: "tcp", address });
            }
        }
        Err(ServeError::NoPort { low, high })
    }

    /// Returns the connections to serve. With TLS, only those that completed the handshake.
    /// Handshakes run concurrently, so a slow client does not delay others.
    pub(super) fn connections(
        self,
        tls: Option<Tls>,
    ) -> impl Stream<Item = io::Result<Connection>> + Send {
        let (ready, mut waiting) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            loop {
                let connection = tokio::select! {
                    () = ready.closed() => return,
                    accepted = self.accept() => accepted,
                };
                match connection {
                    Ok(raw) => drop(tokio::spawn(secured(raw, tls.clone(), ready.clone()))),
                    Err(why) => {
                        tracing::warn!("failed to accept a connection: {why}");
                        tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
                    }
                }
            }
        });
        futures_util::stream::poll_fn(move |context| waiting.poll_recv(context))
    }

    async fn accept(&self) -> io::Result<Box<dyn Io>> {
        match &self.socket {
            #[cfg(unix)]
            Socket::Unix(listener) => Ok(Box::new(listener.accept().await?.0)),
            Socket::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Box::new(stream))
            }
        }
    }
}

/// Completes the TLS handshake and passes the connection on.
async fn secured(raw: Box<dyn Io>, tls: Option<Tls>, ready: mpsc::Sender<io::Result<Connection>>) {
    let connection = match tls {
        None => Ok(Connection::new(raw)),
        Some(tls) => tokio::time::timeout(HANDSHAKE, tls.acceptor.accept(raw))
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map(|stream| Connection::new(Box::new(stream))),
    };
    match connection {
        // The receiver is gone if the server has stopped.
        Ok(connection) => drop(ready.send(Ok(connection)).await),
        Err(why) => tracing::warn!("rejected a client that is not the host: {why}"),
    }
}

/// Returns the range of ports to try. By default the system chooses a free port.
fn ports(environment: &Environment) -> Result<[u16; 2], ServeError> {
    let given = environment.ports.each_ref().map(|text| text.as_deref().unwrap_or("0"));
    let read = given.map(str::parse);
    match read {
        [Ok(low), Ok(high)] if low <= high => Ok([low, high]),
        [Ok(_) | Err(_), Ok(_) | Err(_)] => {
            Err(ServeError::Ports { low: given[0].to_owned(), high: given[1].to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(ports: [Option<&str>; 2]) -> Environment {
        let ports = ports.map(|port| port.map(str::to_owned));
        Environment { ports, ..Environment::default() }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn socket_folder_is_private_and_removed() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let folder = Some(parent.path().to_owned());
        let environment = Environment { socket_folder: folder, ..Environment::default() };
        let listener = Listener::open(&environment, false).await.unwrap();
        assert_eq!(listener.network, "unix");
        let socket = std::path::Path::new(&listener.address);
        assert!(socket.starts_with(parent.path()) && socket.exists());
        let mode = socket.parent().unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(listener);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn long_socket_path_uses_port_only_with_tls() {
        let parent = tempfile::tempdir().unwrap();
        let long = parent.path().join("x".repeat(120));
        std::fs::create_dir(&long).unwrap();
        let environment = Environment { socket_folder: Some(long), ..Environment::default() };
        let listener = Listener::open(&environment, true).await.unwrap();
        assert_eq!(listener.network, "tcp");
        assert!(listener.address.starts_with("127.0.0.1:"));
        assert!(matches!(Listener::open(&environment, false).await, Err(ServeError::Listen(_))));
    }

    #[tokio::test]
    async fn port_is_within_the_range_of_the_host() {
        let held = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = held.local_addr().unwrap().port();
        let (low, high) = (port.to_string(), (port + 100).to_string());
        let only = with([Some(&low), Some(&low)]);
        assert!(matches!(Listener::tcp(&only).await, Err(ServeError::NoPort { .. })));
        // Other processes cannot use all of the hundred ports.
        let listener = Listener::tcp(&with([Some(&low), Some(&high)])).await.unwrap();
        let taken: std::net::SocketAddr = listener.address.parse().unwrap();
        assert!(
            taken.ip().is_loopback() && (port + 1..=port + 100).contains(&taken.port()),
            "{taken}"
        );
    }

    #[test]
    fn invalid_port_range_is_rejected() {
        assert_eq!(ports(&with([None, None])).unwrap(), [0, 0]);
        assert_eq!(ports(&with([Some("10000"), Some("25000")])).unwrap(), [10_000, 25_000]);
        for broken in [[Some("x"), Some("1")], [Some("2"), Some("1")], [Some("1"), Some("70000")]] {
            assert!(matches!(ports(&with(broken)), Err(ServeError::Ports { .. })), "{broken:?}");
        }
    }
}
