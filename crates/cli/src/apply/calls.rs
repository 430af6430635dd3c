//! Methods of the service by kind of resource.

use configuration::Kind;
use rules::MonitorKind;

/// Names of a kind in the contract.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    service: &'static str,
    /// Noun of creations and changes.
    written: &'static str,
    /// Noun of deletions.
    deleted: &'static str,
    /// Field of requests and responses with the resource.
    pub(super) field: &'static str,
}

/// Returns the names of a kind.
pub(super) fn of(kind: Kind) -> Calls {
    let monitor = |written| Calls {
        service: "monitor.v1.MonitorService",
        written,
        deleted: "Monitor",
        field: "monitor",
    };
    let page_part = |noun, field| Calls {
        service: "status_page.v1.StatusPageService",
        written: noun,
        deleted: noun,
        field,
    };
    match kind {
        Kind::Monitor(MonitorKind::Http) => monitor("HttpMonitor"),
        Kind::Monitor(MonitorKind::Tcp) => monitor("TcpMonitor"),
        Kind::Monitor(MonitorKind::Dns) => monitor("DnsMonitor"),
        Kind::Monitor(MonitorKind::Heartbeat) => monitor("HeartbeatMonitor"),
        Kind::Page => page_part("StatusPage", "statusPage"),
        Kind::Group => page_part("ComponentGroup", "componentGroup"),
        Kind::Component => page_part("Component", "component"),
        Kind::Channel => Calls {
            service: "notification.v1.NotificationService",
            written: "Notification",
            deleted: "Notification",
            field: "notification",
        },
    }
}

impl Calls {
    pub(super) fn create(&self) -> String {
        format!("/{}/Create{}", self.service, self.written)
    }

    pub(super) fn update(&self) -> String {
        format!("/{}/Update{}", self.service, self.written)
    }

    pub(super) fn delete(&self) -> String {
        format!("/{}/Delete{}", self.service, self.deleted)
    }
}

#[cfg(test)]
mod tests {
    use contract::rpc;
    use rules::field::json_name;

    use super::*;

    #[test]
    fn contract_has_each_method_and_field() {
        for kind in Kind::all() {
            let calls = of(kind);
            for path in [calls.create(), calls.update(), calls.delete()] {
                let method = rpc::method(&path).unwrap_or_else(|| panic!("{path}"));
                let wants = if path == calls.delete() { "id" } else { calls.field };
                let mut fields = rpc::field_names(&method.request).unwrap();
                assert!(fields.any(|name| json_name(name) == wants), "{path} has no {wants}");
            }
        }
    }
}
