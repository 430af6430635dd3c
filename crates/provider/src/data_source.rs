//! The data sources of the specification (§2.8), and two of our own: regions and the identity of the key.

mod monitor;
mod monitors;
mod regions;
mod single;
mod whoami;

pub use self::monitor::MonitorData;
pub use self::monitors::MonitorsData;
pub use self::regions::RegionsData;
pub use self::single::SingleData;
pub use self::whoami::WhoamiData;
