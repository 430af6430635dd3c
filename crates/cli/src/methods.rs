//! Tests that each method of the contract has a command, or a reason for none.

use clap::CommandFactory as _;

use crate::Cli;

/// Reason for methods that no key may call.
const PERSON: &str = "a key never may; `aloft open` opens the dashboard";

/// The command for each method of these services, or the reason why it has none.
const METHODS: &[(&str, Result<&[&str], &str>)] = &[
    ("CreateHttpMonitor", Ok(&["monitors", "create", "http"])),
    ("CreateTcpMonitor", Ok(&["monitors", "create", "tcp"])),
    ("CreateDnsMonitor", Ok(&["monitors", "create", "dns"])),
    ("CreateHeartbeatMonitor", Ok(&["monitors", "create", "heartbeat"])),
    ("UpdateHttpMonitor", Ok(&["monitors", "update"])),
    ("UpdateTcpMonitor", Ok(&["monitors", "update"])),
    ("UpdateDnsMonitor", Ok(&["monitors", "update"])),
    ("UpdateHeartbeatMonitor", Ok(&["monitors", "update"])),
    ("RotateHeartbeatUrl", Ok(&["monitors", "rotate-url"])),
    ("GetMonitor", Ok(&["monitors", "get"])),
    ("ListMonitors", Ok(&["monitors", "list"])),
    ("DeleteMonitor", Ok(&["monitors", "delete"])),
    ("TriggerMonitor", Ok(&["monitors", "trigger"])),
    ("GetMonitorStatus", Ok(&["monitors", "status"])),
    ("GetMonitorSummary", Err("the dashboard shows it, which `aloft monitors open` opens")),
    ("ListResponseLogs", Ok(&["monitors", "logs"])),
    ("ListMissedSlots", Ok(&["missed"])),
    ("GetResponseLog", Err("the dashboard shows it, which `aloft monitors open` opens")),
    ("CreateNotification", Ok(&["channels", "create"])),
    ("GetNotification", Ok(&["channels", "get"])),
    ("ListNotifications", Ok(&["channels", "list"])),
    ("UpdateNotification", Ok(&["channels", "update"])),
    ("DeleteNotification", Ok(&["channels", "delete"])),
    ("TestNotification", Ok(&["channels", "test"])),
    ("ListDeliveries", Ok(&["channels", "deliveries"])),
    ("GetDelivery", Err("`aloft channels deliveries --json` has the same fields")),
    ("ReplayDelivery", Ok(&["channels", "replay"])),
    ("ListSigningSecrets", Err("`aloft channels rotate-signing-secret` lists those in use")),
    ("RotateSigningSecret", Ok(&["channels", "rotate-signing-secret"])),
    ("ListRegions", Ok(&["regions", "list"])),
    ("ListConfigurations", Ok(&["apply"])),
    ("ListConfiguredResources", Ok(&["apply"])),
    ("RecordConfiguredResources", Ok(&["apply"])),
    ("DeleteConfiguration", Ok(&["apply"])),
    ("CreateStatusPage", Ok(&["pages", "create"])),
    ("GetStatusPage", Ok(&["pages", "get"])),
    ("ListStatusPages", Ok(&["pages", "list"])),
    ("UpdateStatusPage", Ok(&["pages", "update"])),
    ("DeleteStatusPage", Ok(&["pages", "delete"])),
    ("PublishStatusPage", Ok(&["pages", "publish"])),
    ("UnpublishStatusPage", Ok(&["pages", "unpublish"])),
    ("SetStatusPageTheme", Ok(&["pages", "theme"])),
    ("SetStatusPageIndexing", Ok(&["pages", "indexing"])),
    ("CreateComponent", Ok(&["components", "create"])),
    ("GetComponent", Ok(&["components", "get"])),
    ("ListComponents", Ok(&["components", "list"])),
    ("UpdateComponent", Ok(&["components", "update"])),
    ("DeleteComponent", Ok(&["components", "delete"])),
    ("CreateComponentGroup", Ok(&["groups", "create"])),
    ("GetComponentGroup", Ok(&["groups", "get"])),
    ("ListComponentGroups", Ok(&["groups", "list"])),
    ("UpdateComponentGroup", Ok(&["groups", "update"])),
    ("DeleteComponentGroup", Ok(&["groups", "delete"])),
    ("ListSubscribers", Ok(&["subscribers", "list"])),
    ("AddSubscriber", Ok(&["subscribers", "add"])),
    ("RemoveSubscriber", Ok(&["subscribers", "remove"])),
    ("GetStatusPageOverview", Ok(&["pages", "overview"])),
    ("GetComponentSummary", Ok(&["pages", "uptime"])),
    ("CreateStatusReport", Ok(&["reports", "create"])),
    ("GetStatusReport", Ok(&["reports", "show"])),
    ("ListStatusReports", Ok(&["reports", "list"])),
    ("UpdateStatusReport", Ok(&["reports", "edit"])),
    ("DeleteStatusReport", Ok(&["reports", "delete"])),
    ("AddStatusReportUpdate", Ok(&["reports", "add-update"])),
    ("EditStatusReportUpdate", Ok(&["reports", "edit-update"])),
    ("DeleteStatusReportUpdate", Ok(&["reports", "delete"])),
    ("CreateReportTemplate", Ok(&["reports", "templates", "create"])),
    ("ListReportTemplates", Ok(&["reports", "templates", "list"])),
    ("UpdateReportTemplate", Ok(&["reports", "templates", "edit"])),
    ("DeleteReportTemplate", Ok(&["reports", "templates", "delete"])),
    ("ListApiKeys", Ok(&["keys", "list"])),
    ("RevokeApiKey", Ok(&["keys", "revoke"])),
    ("ListIncidents", Ok(&["incidents", "list"])),
    ("GetIncident", Ok(&["incidents", "show"])),
    ("AcknowledgeIncident", Ok(&["incidents", "acknowledge"])),
    ("ResolveIncident", Ok(&["incidents", "resolve"])),
    ("CommentIncident", Ok(&["incidents", "comment"])),
    ("CreateMaintenance", Ok(&["maintenance", "plan"])),
    ("GetMaintenance", Ok(&["maintenance", "get"])),
    ("ListMaintenances", Ok(&["maintenance", "list"])),
    ("UpdateMaintenance", Ok(&["maintenance", "update"])),
    ("EndMaintenance", Ok(&["maintenance", "end"])),
    ("DeleteMaintenance", Ok(&["maintenance", "delete"])),
    ("ListMembers", Ok(&["members", "list"])),
    ("UpdateMember", Err(PERSON)),
    ("RemoveMember", Err(PERSON)),
    ("ListInvitations", Ok(&["members", "invitations"])),
    ("CreateInvitation", Err(PERSON)),
    ("RevokeInvitation", Err(PERSON)),
    ("ListProbes", Ok(&["probes", "list"])),
    ("CreateProbe", Ok(&["probes", "create"])),
    ("RotateProbeToken", Ok(&["probes", "rotate"])),
    ("DeleteProbe", Ok(&["probes", "delete"])),
    ("GetWorkspace", Ok(&["usage"])),
    (
        "UpdateWorkspace",
        Err("the dashboard does it, and an operator with `aloft workspaces rename`"),
    ),
    ("DeleteWorkspace", Err(PERSON)),
    ("CancelDeletion", Err(PERSON)),
];

#[test]
fn each_method_has_a_command_or_reason() {
    let ours = [
        "api_key.v1.ApiKeyService",
        "configuration.v1.ConfigurationService",
        "incident.v1.IncidentService",
        "maintenance.v1.MaintenanceService",
        "member.v1.MemberService",
        "monitor.v1.MonitorService",
        "notification.v1.NotificationService",
        "probe.v1.ProbeService",
        "region.v1.RegionService",
        "status_page.v1.StatusPageService",
        "status_report.v1.StatusReportService",
        "workspace.v1.WorkspaceService",
    ];
    let methods = contract::rpc::methods().iter().filter(|it| ours.contains(&&*it.service));
    for method in methods {
        let known = METHODS.iter().find(|(name, _)| *name == method.name);
        let (_, command) =
            known.unwrap_or_else(|| panic!("method {} not found in METHODS", method.name));
        let Ok(path) = command else { continue };
        let mut at = Cli::command();
        for word in *path {
            let next = at.find_subcommand(word).cloned();
            at = next.unwrap_or_else(|| panic!("command `aloft {}` not found", path.join(" ")));
        }
    }
}
