//! control: what an operator does to workspaces, keys and the database from the command line. With
//! a server running it is asked through a socket in its data folder, so that what it remembers of
//! keys is true at once; without one the same operations are done on the store directly.

mod connect;
mod database;
mod desk;
mod operation;
mod socket;

pub use self::connect::{Admin, connect};
pub use self::database::{Place, migrate, restore};
pub use self::desk::Desk;
pub use self::operation::{
    ControlError, CreateKey, CreateWorkspace, CreatedKey, KeepResults, KeyRow, WorkspaceRow,
};
pub(crate) use self::socket::Socket;

/// The socket's name in the data folder.
const SOCKET_FILE: &str = "control.sock";
