//! The kinds of resource, and their names in the service.

use contract::monitor::wire::{DnsMonitor, HeartbeatMonitor, HttpMonitor, TcpMonitor};
use contract::notification::wire::Notification;
use contract::status_page::wire::{Component, ComponentGroup, StatusPage};
use rules::MonitorKind;

use super::{Service, request_check};

const MONITOR_SERVICE: &str = "/monitor.v1.MonitorService";
const STATUS_PAGE_SERVICE: &str = "/status_page.v1.StatusPageService";

/// The calls for each HTTP monitor.
pub static HTTP_MONITORS: Service = Service {
    noun: "HTTP monitor",
    validate: request_check::monitor::<HttpMonitor>,
    check_types: request_check::check_types::<HttpMonitor>,
    path: MONITOR_SERVICE,
    write_noun: "HttpMonitor",
    read_noun: "Monitor",
    field: "monitor",
    list_field: "httpMonitors",
    kind: Some(MonitorKind::Http),
};

/// The calls for each TCP monitor.
pub static TCP_MONITORS: Service = Service {
    noun: "TCP monitor",
    validate: request_check::monitor::<TcpMonitor>,
    check_types: request_check::check_types::<TcpMonitor>,
    path: MONITOR_SERVICE,
    write_noun: "TcpMonitor",
    read_noun: "Monitor",
    field: "monitor",
    list_field: "tcpMonitors",
    kind: Some(MonitorKind::Tcp),
};

/// The calls for each DNS monitor.
pub static DNS_MONITORS: Service = Service {
    noun: "DNS monitor",
    validate: request_check::monitor::<DnsMonitor>,
    check_types: request_check::check_types::<DnsMonitor>,
    path: MONITOR_SERVICE,
    write_noun: "DnsMonitor",
    read_noun: "Monitor",
    field: "monitor",
    list_field: "dnsMonitors",
    kind: Some(MonitorKind::Dns),
};

/// The calls for each heartbeat monitor.
pub static HEARTBEAT_MONITORS: Service = Service {
    noun: "heartbeat monitor",
    validate: request_check::monitor::<HeartbeatMonitor>,
    check_types: request_check::check_types::<HeartbeatMonitor>,
    path: MONITOR_SERVICE,
    write_noun: "HeartbeatMonitor",
    read_noun: "Monitor",
    field: "monitor",
    list_field: "heartbeatMonitors",
    kind: Some(MonitorKind::Heartbeat),
};

/// Returns the calls for monitors of this kind.
pub(super) const fn monitors(kind: MonitorKind) -> &'static Service {
    match kind {
        MonitorKind::Http => &HTTP_MONITORS,
        MonitorKind::Tcp => &TCP_MONITORS,
        MonitorKind::Dns => &DNS_MONITORS,
        MonitorKind::Heartbeat => &HEARTBEAT_MONITORS,
    }
}

/// The calls for each notification channel.
pub static NOTIFICATIONS: Service = Service {
    noun: "notification channel",
    validate: request_check::channel,
    check_types: request_check::check_types::<Notification>,
    path: "/notification.v1.NotificationService",
    write_noun: "Notification",
    read_noun: "Notification",
    field: "notification",
    list_field: "notifications",
    kind: None,
};

/// The calls for each status page.
pub static PAGES: Service = Service {
    noun: "status page",
    validate: request_check::page,
    check_types: request_check::check_types::<StatusPage>,
    path: STATUS_PAGE_SERVICE,
    write_noun: "StatusPage",
    read_noun: "StatusPage",
    field: "statusPage",
    list_field: "statusPages",
    kind: None,
};

/// The calls for each component.
pub static COMPONENTS: Service = Service {
    noun: "component",
    validate: request_check::component,
    check_types: request_check::check_types::<Component>,
    path: STATUS_PAGE_SERVICE,
    write_noun: "Component",
    read_noun: "Component",
    field: "component",
    list_field: "components",
    kind: None,
};

/// The calls for each component group.
pub static GROUPS: Service = Service {
    noun: "component group",
    validate: request_check::group,
    check_types: request_check::check_types::<ComponentGroup>,
    path: STATUS_PAGE_SERVICE,
    write_noun: "ComponentGroup",
    read_noun: "ComponentGroup",
    field: "componentGroup",
    list_field: "componentGroups",
    kind: None,
};
