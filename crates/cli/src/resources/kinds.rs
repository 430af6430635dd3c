//! The kinds of resources that commands name, as data.

use rules::{
    ChannelId, ComponentId, GroupId, InvitationId, KeyId, MaintenanceId, MonitorId, PageId,
    ProbeId, ReportId, TemplateId, UserId, tables,
};

use super::Kind;

const STATUS_PAGES: &str = "/status_page.v1.StatusPageService/";
const STATUS_REPORTS: &str = "/status_report.v1.StatusReportService/";
const MEMBER_SERVICE: &str = "/member.v1.MemberService/";

pub(crate) static MONITORS: Kind = Kind {
    noun: "monitor",
    service: "/monitor.v1.MonitorService/",
    method: "Monitor",
    list_method: "ListMonitors",
    field: "monitor",
    lists: &["httpMonitors", "tcpMonitors", "dnsMonitors", "heartbeatMonitors"],
    id: "id",
    names: &["name"],
    is_id: |text| MonitorId::parse(text).is_ok(),
    is_paged: true,
    columns: &[("MONITOR", "id"), ("NAME", "name")],
    table: None,
};

pub(crate) static CHANNELS: Kind = Kind {
    noun: "channel",
    service: "/notification.v1.NotificationService/",
    method: "Notification",
    list_method: "ListNotifications",
    field: "notification",
    lists: &["notifications"],
    id: "id",
    names: &["name"],
    is_id: |text| ChannelId::parse(text).is_ok(),
    is_paged: true,
    columns: &[("CHANNEL", "id"), ("KIND", "providerType"), ("NAME", "name")],
    table: None,
};

pub(crate) static PAGES: Kind = Kind {
    noun: "page",
    service: STATUS_PAGES,
    method: "StatusPage",
    list_method: "ListStatusPages",
    field: "status_page",
    lists: &["statusPages"],
    id: "id",
    names: &["slug", "title"],
    is_id: |text| PageId::parse(text).is_ok(),
    is_paged: true,
    columns: &[("PAGE", "id"), ("SLUG", "slug"), ("TITLE", "title")],
    table: Some(&tables::STATUS_PAGE),
};

pub(crate) static COMPONENTS: Kind = Kind {
    noun: "component",
    service: STATUS_PAGES,
    method: "Component",
    list_method: "ListComponents",
    field: "component",
    lists: &["components"],
    id: "id",
    names: &["name"],
    is_id: |text| ComponentId::parse(text).is_ok(),
    is_paged: true,
    columns: &[
        ("COMPONENT", "id"),
        ("PAGE", "pageId"),
        ("TYPE", "type"),
        ("MONITOR", "monitorId"),
        ("GROUP", "groupId"),
        ("NAME", "name"),
    ],
    table: Some(&tables::STATUS_PAGE_COMPONENT),
};

pub(crate) static GROUPS: Kind = Kind {
    noun: "group",
    service: STATUS_PAGES,
    method: "ComponentGroup",
    list_method: "ListComponentGroups",
    field: "component_group",
    lists: &["componentGroups"],
    id: "id",
    names: &["name"],
    is_id: |text| GroupId::parse(text).is_ok(),
    is_paged: true,
    columns: &[("GROUP", "id"), ("PAGE", "pageId"), ("NAME", "name")],
    table: Some(&tables::STATUS_PAGE_COMPONENT_GROUP),
};

pub(crate) static REPORTS: Kind = Kind {
    noun: "report",
    service: STATUS_REPORTS,
    method: "StatusReport",
    list_method: "ListStatusReports",
    field: "status_report",
    lists: &["statusReports"],
    id: "id",
    names: &["title"],
    is_id: |text| ReportId::parse(text).is_ok(),
    is_paged: true,
    columns: &[("REPORT", "id"), ("TITLE", "title")],
    table: None,
};

pub(crate) static TEMPLATES: Kind = Kind {
    noun: "template",
    service: STATUS_REPORTS,
    method: "ReportTemplate",
    list_method: "ListReportTemplates",
    field: "template",
    lists: &["templates"],
    id: "id",
    names: &["name"],
    is_id: |text| TemplateId::parse(text).is_ok(),
    is_paged: true,
    columns: &[("TEMPLATE", "id"), ("NAME", "name")],
    table: None,
};

pub(crate) static MAINTENANCES: Kind = Kind {
    noun: "maintenance",
    service: "/maintenance.v1.MaintenanceService/",
    method: "Maintenance",
    list_method: "ListMaintenances",
    field: "maintenance",
    lists: &["maintenances"],
    id: "id",
    names: &["title"],
    is_id: |text| MaintenanceId::parse(text).is_ok(),
    is_paged: true,
    columns: &[("MAINTENANCE", "id"), ("TITLE", "title")],
    table: Some(&tables::MAINTENANCE),
};

pub(crate) static KEYS: Kind = Kind {
    noun: "key",
    service: "/api_key.v1.ApiKeyService/",
    method: "ApiKey",
    list_method: "ListApiKeys",
    field: "api_key",
    lists: &["apiKeys"],
    id: "id",
    names: &["name", "prefix"],
    is_id: |text| KeyId::parse(text).is_ok(),
    is_paged: true,
    columns: &[
        ("KEY", "id"),
        ("NAME", "name"),
        ("SCOPE", "scope"),
        ("BEGINS", "prefix"),
        ("LAST USED", "lastUsedAt"),
        ("EXPIRES", "expiresAt"),
        ("REVOKED", "revokedAt"),
        ("CREATED BY", "createdByName"),
    ],
    table: None,
};

pub(crate) static PROBES: Kind = Kind {
    noun: "probe",
    service: "/probe.v1.ProbeService/",
    method: "Probe",
    list_method: "ListProbes",
    field: "probe",
    lists: &["probes"],
    id: "id",
    names: &["name"],
    is_id: |text| ProbeId::parse(text).is_ok(),
    is_paged: false,
    columns: &[
        ("PROBE", "id"),
        ("NAME", "name"),
        ("REGIONS", "regions"),
        ("CONNECTED", "connected"),
        ("LAST SEEN", "lastSeenAt"),
        ("VERSION", "version"),
        ("ADDRESS", "address"),
    ],
    table: None,
};

pub(crate) static MEMBERS: Kind = Kind {
    noun: "member",
    service: MEMBER_SERVICE,
    method: "Member",
    list_method: "ListMembers",
    field: "member",
    lists: &["members"],
    id: "userId",
    names: &["email", "name"],
    is_id: |text| UserId::parse(text).is_ok(),
    is_paged: true,
    columns: &[
        ("USER", "userId"),
        ("ROLE", "role"),
        ("NAME", "name"),
        ("EMAIL", "email"),
        ("SINCE", "since"),
        ("LAST SIGN-IN", "lastSignInAt"),
    ],
    table: None,
};

pub(crate) static INVITATIONS: Kind = Kind {
    noun: "invitation",
    service: MEMBER_SERVICE,
    method: "Invitation",
    list_method: "ListInvitations",
    field: "invitation",
    lists: &["invitations"],
    id: "id",
    names: &["email"],
    is_id: |text| InvitationId::parse(text).is_ok(),
    is_paged: true,
    columns: &[
        ("INVITATION", "id"),
        ("ROLE", "role"),
        ("EMAIL", "email"),
        ("INVITED BY", "invitedByName"),
        ("EXPIRES", "expiresAt"),
    ],
    table: None,
};
