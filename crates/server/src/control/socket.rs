//! The server's side of the control socket: `POST /control` with an operation as JSON.
//!
//! Only the server's user can open the file, and may then execute every operation.

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

use super::operation::{Operation, OperationReply};
use super::{ControlService, SOCKET_FILE, SocketPath};

/// Time limit for running commands when the server stops.
const DRAIN_WITHIN: Duration = Duration::from_secs(2);

/// The open socket of a data folder.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Opens the socket in a folder that the caller has locked. An existing file belongs to a server
    /// that is gone, and is replaced.
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
        // No client can connect between bind and chmod, because the temporary name is unknown.
        let listener = UnixListener::bind(SocketPath::new(folder, &unfinished_name)?.path)?;
        fs::set_permissions(&unfinished, Permissions::from_mode(0o600))?;
        fs::rename(&unfinished, &path)?;
        Ok(Self { listener, path })
    }

    /// Serves requests until `stop`, then removes the file.
    pub(crate) async fn serve(self, service: ControlService, stop: CancellationToken) {
        let router = Router::new().route("/control", post(handle)).with_state(service);
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
        // If this fails, the next server removes the file.
        let _ = fs::remove_file(&self.path);
    }
}

async fn handle(
    State(service): State<ControlService>,
    Json(operation): Json<Operation>,
) -> Json<OperationReply> {
    Json(match service.perform(operation).await {
        Ok(answer) => answer,
        Err(error) => OperationReply::Refused(error.to_string()),
    })
}
