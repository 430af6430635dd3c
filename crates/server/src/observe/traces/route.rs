//! The route of a request in traces: few different texts, and none of the secrets that paths contain.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// First parts of paths that are not the dashboard's.
const OWN: [&str; 10] =
    ["status", "v1", "docs", "mcp", "metrics", "healthz", "readyz", "probe", "heartbeat", "rpc"];

static FIRST_PARTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let dashboard = dashboard::paths().filter_map(|path| path.split('/').nth(1));
    dashboard.chain(OWN).filter(|part| !part.is_empty()).collect()
});

/// Returns the method of the contract that a path names, or else its first part.
pub(super) fn route_of(path: &str) -> String {
    let method = path.strip_prefix("/rpc").unwrap_or(path);
    if contract::rpc::method(method).is_some() {
        return method.to_owned();
    }
    let first = path.split('/').nth(1).unwrap_or_default();
    match first {
        "" => "/".to_owned(),
        known if FIRST_PARTS.contains(known) => format!("/{known}"),
        _ => "/*".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_name_no_secret_of_a_path() {
        let method = "/monitor.v1.MonitorService/GetMonitor";
        for (path, route) in [
            ("/rpc/monitor.v1.MonitorService/GetMonitor", method),
            (method, method),
            ("/rpc/monitor.v1.MonitorService/Secret", "/rpc"),
            ("/reset/secret", "/reset"),
            ("/heartbeat/secret", "/heartbeat"),
            ("/w/acme/monitors/mon_1", "/w"),
            ("/", "/"),
            ("/secret", "/*"),
            ("", "/"),
        ] {
            assert_eq!(route_of(path), route, "{path}");
        }
    }
}
