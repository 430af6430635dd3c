//! All resource kinds that callers can create, for tests that iterate over them. Each kind has its
//! methods and example fields.

use serde_json::{Value, json};
use testkit::server::{
    Caller, MAINTENANCES, MONITORS, NOTIFICATIONS, STATUS_PAGES, STATUS_REPORTS,
};

use super::camel;
use crate::protocols::a_monitor;

/// Resource kind.
pub(super) struct Kind {
    pub(super) service: &'static str,
    /// Name in `Create…` and `Update…`, such as `HttpMonitor`.
    pub(super) name: &'static str,
    /// Name of the field that holds a resource in requests and responses, in snake case.
    field: &'static str,
    /// List method and the field of its response.
    pub(super) list: (&'static str, &'static str),
    /// Fields of a resource, except the unique ones.
    fields: Value,
}

/// Returns all kinds. Creates a page and a monitor for the kinds that need one.
pub(super) async fn all(caller: &Caller) -> Vec<Kind> {
    let page = json!({ "statusPage": { "title": "Acme", "slug": "acme" } });
    let page = created(caller, STATUS_PAGES, "CreateStatusPage", page, "statusPage").await;
    let monitor = json!({ "monitor": a_monitor("tcp") });
    let monitor = created(caller, MONITORS, "CreateTcpMonitor", monitor, "monitor").await;
    let (page, monitor) = (&page["id"], &monitor["id"]);
    let kind = |service, name, field, list, fields| Kind { service, name, field, list, fields };
    let monitors = [
        ("HttpMonitor", "httpMonitors", "http"),
        ("TcpMonitor", "tcpMonitors", "tcp"),
        ("DnsMonitor", "dnsMonitors", "dns"),
        ("HeartbeatMonitor", "heartbeatMonitors", "heartbeat"),
    ];
    let mut all = Vec::from(monitors.map(|(name, list, word)| {
        kind(MONITORS, name, "monitor", ("ListMonitors", list), a_monitor(word))
    }));
    all.extend([
        kind(
            NOTIFICATIONS,
            "Notification",
            "notification",
            ("ListNotifications", "notifications"),
            json!({ "name": "ntfy", "providerType": "ntfy", "ntfy": { "topic": "alerts" } }),
        ),
        kind(
            STATUS_PAGES,
            "StatusPage",
            "status_page",
            ("ListStatusPages", "statusPages"),
            json!({ "title": "Status" }),
        ),
        kind(
            STATUS_PAGES,
            "Component",
            "component",
            ("ListComponents", "components"),
            json!({ "pageId": page, "type": "static", "name": "API" }),
        ),
        kind(
            STATUS_PAGES,
            "ComponentGroup",
            "component_group",
            ("ListComponentGroups", "componentGroups"),
            json!({ "pageId": page, "name": "EU" }),
        ),
        kind(
            STATUS_REPORTS,
            "StatusReport",
            "status_report",
            ("ListStatusReports", "statusReports"),
            json!({ "pageId": page, "title": "Disks" }),
        ),
        kind(
            STATUS_REPORTS,
            "ReportTemplate",
            "template",
            ("ListReportTemplates", "templates"),
            json!({ "name": "Disks" }),
        ),
        kind(
            MAINTENANCES,
            "Maintenance",
            "maintenance",
            ("ListMaintenances", "maintenances"),
            json!({ "title": "Moving", "startsAt": "2100-01-01T00:00:00Z", "duration": "1h",
                "monitorIds": [monitor] }),
        ),
    ]);
    all
}

impl Kind {
    /// Returns the name of the field that holds a resource in requests and responses, in JSON case.
    pub(super) fn field(&self) -> String {
        camel(self.field)
    }

    /// Returns the name of the field with the display name.
    pub(super) fn title(&self) -> &'static str {
        if self.fields.get("title").is_some() { "title" } else { "name" }
    }

    /// Creates a resource. `number` is unique within its kind.
    pub(super) async fn create(&self, caller: &Caller, number: usize) -> Value {
        let mut resource = self.fields.clone();
        if self.name == "StatusPage" {
            resource["slug"] = json!(format!("page-{number}"));
        }
        let mut request = json!({ self.field(): resource });
        if self.name == "StatusReport" {
            request["update"] = json!({ "status": "investigating", "text": "We look." });
        }
        let method = format!("Create{}", self.name);
        created(caller, self.service, &method, request, &self.field()).await
    }
}

async fn created(
    caller: &Caller,
    service: &str,
    method: &str,
    request: Value,
    field: &str,
) -> Value {
    let reply = caller.call(service, method, request).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    reply.json()[field].clone()
}
