//! The server's side of the socket: `POST /control` with an operation as JSON. The file belongs to
//! the server's user alone; who may open it may do everything.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use super::operation::{Answer, Operation};
use super::{Desk, SOCKET_FILE, SocketPath};

/// Longest time that commands under way have to end once the server stops.
const DRAIN_WITHIN: Duration = Duration::from_secs(2);

/// The open socket of a data folder.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Opens the socket in the folder, which the caller holds the lock of: a file that is there
    /// already was left by a server that is gone.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(SOCKET_FILE);
        let unfinished_name = format!("{SOCKET_FILE}.new");
        let unfinished = folder.join(&unfinished_name);
        for left in [&path, &unfinished] {
            match fs::remove_file(left) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        // Nobody can connect between bind and chmod: the name is not the one that is looked for.
        let listener = UnixListener::bind(SocketPath::of(folder, &unfinished_name)?.path)?;
        fs::set_permissions(&unfinished, Permissions::from_mode(0o600))?;
        fs::rename(&unfinished, &path)?;
        Ok(Self { listener, path })
    }

    /// Answers until it is cancelled, then takes the file away.
    pub(crate) async fn serve(self, desk: Desk, stop: CancellationToken) {
        let router = Router::new().route("/control", post(answer)).with_state(desk);
        let serving = axum::serve(self.listener, router)
            .with_graceful_shutdown(stop.clone().cancelled_owned())
            .into_future();
        let late = async {
            stop.cancelled().await;
            tokio::time::sleep(DRAIN_WITHIN).await;
        };
        tokio::select! {
            served = serving => if let Err(error) = served {
                tracing::error!(%error, "the control socket failed: {error}");
            },
            () = late => tracing::warn!("a command did not finish in time and was cancelled"),
        }
        // The next server takes it away where this one cannot.
        let _ = fs::remove_file(&self.path);
    }
}

async fn answer(State(desk): State<Desk>, Json(operation): Json<Operation>) -> Json<Answer> {
    Json(match desk.perform(operation).await {
        Ok(answer) => answer,
        Err(error) => Answer::Refused(error.to_string()),
    })
}
