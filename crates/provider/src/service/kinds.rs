//! The seven kinds of resource, and their names in the service.

use contract::monitor::wire::{DnsMonitor, HttpMonitor, TcpMonitor};
use contract::notification::wire::Notification;
use contract::status_page::wire::{Component, ComponentGroup, StatusPage};
use rules::MonitorKind;

use super::{Service, request_check};

const MONITOR_SERVICE: &str = "/monitor.v1.MonitorService";
const STATUS_PAGE_SERVICE: &str = "/status_page.v1.StatusPageService";

/// The calls for each HTTP monitor.
pub static HTTP_MONITORS: Service = Service {
    noun: "HTTP monitor",
    refused: request_check::monitor::<HttpMonitor>,
    held: request_check::held::<HttpMonitor>,
    path: MONITOR_SERVICE,
    written: "HttpMonitor",
    read: "Monitor",
    field: "monitor",
    list_field: "httpMonitors",
    kind: Some(MonitorKind::Http),
};

/// The calls for each TCP monitor.
pub static TCP_MONITORS: Service = Service {
    noun: "TCP monitor",
    refused: request_check::monitor::<TcpMonitor>,
    held: request_check::held::<TcpMonitor>,
    path: MONITOR_SERVICE,
    written: "TcpMonitor",
    read: "Monitor",
    field: "monitor",
    list_field: "tcpMonitors",
    kind: Some(MonitorKind::Tcp),
};

/// The calls for each DNS monitor.
pub static DNS_MONITORS: Service = Service {
    noun: "DNS monitor",
    refused: request_check::monitor::<DnsMonitor>,
    held: request_check::held::<DnsMonitor>,
    path: MONITOR_SERVICE,
    written: "DnsMonitor",
    read: "Monitor",
    field: "monitor",
    list_field: "dnsMonitors",
    kind: Some(MonitorKind::Dns),
};

/// The calls for each notification channel.
pub static NOTIFICATIONS: Service = Service {
    noun: "notification channel",
    refused: request_check::channel,
    held: request_check::held::<Notification>,
    path: "/notification.v1.NotificationService",
    written: "Notification",
    read: "Notification",
    field: "notification",
    list_field: "notifications",
    kind: None,
};

/// The calls for each status page.
pub static PAGES: Service = Service {
    noun: "status page",
    refused: request_check::page,
    held: request_check::held::<StatusPage>,
    path: STATUS_PAGE_SERVICE,
    written: "StatusPage",
    read: "StatusPage",
    field: "statusPage",
    list_field: "statusPages",
    kind: None,
};

/// The calls for each component.
pub static COMPONENTS: Service = Service {
    noun: "component",
    refused: request_check::component,
    held: request_check::held::<Component>,
    path: STATUS_PAGE_SERVICE,
    written: "Component",
    read: "Component",
    field: "component",
    list_field: "components",
    kind: None,
};

/// The calls for each component group.
pub static GROUPS: Service = Service {
    noun: "component group",
    refused: request_check::group,
    held: request_check::held::<ComponentGroup>,
    path: STATUS_PAGE_SERVICE,
    written: "ComponentGroup",
    read: "ComponentGroup",
    field: "componentGroup",
    list_field: "componentGroups",
    kind: None,
};
