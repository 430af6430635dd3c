//! The data sources of the specification (§2.8), and our own: regions, the identity of the key, and its
//! workspace with members and keys.

mod access;
mod monitor;
mod monitors;
mod regions;
mod single;
mod whoami;
mod workspace;

pub use self::access::{API_KEYS, AccessData, MEMBERS};
pub use self::monitor::MonitorData;
pub use self::monitors::MonitorsData;
pub use self::regions::RegionsData;
pub use self::single::SingleData;
pub use self::whoami::WhoamiData;
pub use self::workspace::WorkspaceData;
