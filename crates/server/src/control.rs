//! control: what an operator does to workspaces, keys and the database from the command line. With
//! a server running it is asked through a socket in its data folder, so that what it remembers of
//! keys is true at once; without one the same operations are done on the store directly.

mod connect;
mod database;
mod desk;
mod details;
mod operation;
mod socket;

pub use self::connect::{Admin, connect};
pub use self::database::{Place, migrate, restore};
pub use self::desk::Desk;
pub use self::details::{WorkspaceDetails, WorkspaceUsage};
pub use self::operation::{
    AuditRow, ControlError, CreateKey, CreateWorkspace, CreatedKey, KeepResults, KeyRow,
    RenameWorkspace, UnreadableRow, WorkspaceRow,
};
pub(crate) use self::socket::Socket;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// The socket's name in the data folder.
const SOCKET_FILE: &str = "control.sock";
/// The longest path that a socket can have (`sun_path` in unix(7)), without the zero at its end.
const SOCKET_PATH_MAX: usize = 107;

/// A path at which a socket is bound or reached. The system takes short ones only; a longer one goes
/// through the open folder.
struct SocketPath {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketPath {
    fn of(folder: &Path, name: &str) -> io::Result<Self> {
        let path = folder.join(name);
        if path.as_os_str().len() <= SOCKET_PATH_MAX {
            return Ok(Self { path, _folder: None });
        }
        let folder = File::open(folder)?;
        let path = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
        Ok(Self { path: path.into(), _folder: Some(folder) })
    }
}
