//! `service_tcp_monitor` (§2.2).

use super::monitor;
use crate::field::{Field, Resource, Shape};

/// A TCP monitor (§2.2).
pub static TCP_MONITOR: Resource = Resource {
    name: "service_tcp_monitor",
    description: "Opens a TCP connection from each of its regions.",
    fields: &[
        monitor::NAME,
        Field::required(
            "uri",
            Shape::HostPort { max: monitor::TARGET_CHARS_MAX },
            "Target as host:port, the host a name, an IPv4 address or an IPv6 address in brackets; \
             at most 2048 characters.",
        ),
        monitor::PERIODICITY,
        monitor::TIMEOUT,
        monitor::DEGRADED_AT,
        monitor::RETRY,
        monitor::IP_VERSION,
        monitor::ACTIVE,
        monitor::PUBLIC,
        monitor::DESCRIPTION,
        monitor::TAGS,
        monitor::REGIONS,
        monitor::ID,
        monitor::STATUS,
    ],
    beyond: monitor::BEYOND,
    blocks: &[],
    rules: &[],
    import: Some("<monitor_id>"),
};
