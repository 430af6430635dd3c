//! control: operations on workspaces, keys, probes and the database from the command line.
//!
//! A running server executes them through a socket in its data folder, so that its cached keys are
//! current at once. Without a server they run directly on the store.

mod audit;
mod connect;
mod database;
mod details;
mod exposed;
mod operation;
mod probe_operation;
mod probes;
mod service;
mod socket;
mod users;

pub use self::connect::{Admin, connect};
pub use self::database::{DatabaseUrl, migrate, restore};
pub use self::operation::{
    AuditQuery, AuditRow, ControlError, CreateKey, CreateWorkspace, CreatedKey, KeepResults,
    KeyRow, NewPassword, RenameWorkspace, UnreadableRow, UserRow, WorkspaceDetails, WorkspaceRow,
    WorkspaceUsage,
};
pub use self::probe_operation::{CreateProbe, CreatedProbe, ProbeRow};
pub use self::service::ControlService;
pub(crate) use self::service::IssuedKey;
pub(crate) use self::socket::Socket;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// File name of the socket in the data folder.
const SOCKET_FILE: &str = "control.sock";
/// Maximum length of a socket's path (`sun_path` in unix(7)), without the final zero.
const SOCKET_PATH_MAX: usize = 107;

/// A path to bind a socket or to connect to it. A path that is too long is replaced by one through the
/// open folder in `/proc/self/fd`.
struct SocketPath {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketPath {
    fn new(folder: &Path, name: &str) -> io::Result<Self> {
        let path = folder.join(name);
        if path.as_os_str().len() <= SOCKET_PATH_MAX {
            return Ok(Self { path, _folder: None });
        }
        let folder = File::open(folder)?;
        let path = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
        Ok(Self { path: path.into(), _folder: Some(folder) })
    }
}
