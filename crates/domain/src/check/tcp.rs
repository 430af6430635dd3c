//! TCP checks: connect to `host:port` (design §5, "TCP").

use rules::monitor::TcpCheck;

use super::TcpSeen;
use super::assess::Findings;

/// Where a TCP monitor connects to.
#[derive(Debug)]
pub struct TcpPlan {
    /// Name (as A-label) or address, without brackets.
    pub host: String,
    /// 1 to 65535.
    pub port: u16,
}

impl TcpPlan {
    /// The plan for this check, or why there is none.
    pub(super) fn of(check: &TcpCheck) -> Result<Self, String> {
        let (host, port) = check.uri.rsplit_once(':').ok_or("no port")?;
        Ok(Self { host: host.to_owned(), port: port.parse().map_err(|_| "no port")? })
    }
}

pub(super) fn assess(_plan: &TcpPlan, _seen: &TcpSeen) -> Findings {
    Findings::default()
}
