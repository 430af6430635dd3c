//! Methods of the contract, read from its description. Permissions and the JSON schema of requests
//! follow only from this list.

use std::sync::LazyLock;

use buffa_descriptor::generated::descriptor::method_options::IdempotencyLevel;
use buffa_descriptor::{
    DescriptorPool, FieldDescriptor, MessageIndex, MethodDescriptor, ServiceDescriptor,
};

/// Method of a service.
#[derive(Debug)]
pub struct Method {
    /// Full name of the service, such as `monitor.v1.MonitorService`.
    pub service: String,
    /// Name, such as `GetMonitor`.
    pub name: String,
    /// Path below the base URL, such as `/monitor.v1.MonitorService/GetMonitor`.
    pub path: String,
    /// Whether the method has no side effects: `idempotency_level = NO_SIDE_EFFECTS` in the proto.
    /// Read keys may call exactly these methods (spec §5.5).
    pub reads_only: bool,
    /// Whether a repeated call has no further effect: every method that only reads, and
    /// `idempotency_level = IDEMPOTENT`.
    pub is_idempotent: bool,
    /// Whether either direction may have more than one message.
    pub streams: bool,
    /// Full name of the request.
    pub request: String,
    /// Full name of the response.
    pub response: String,
    /// Index of the request in the description.
    pub(super) request_index: MessageIndex,
}

/// Returns all methods of the contract, in the order of the proto files.
pub fn methods() -> &'static [Method] {
    &METHODS
}

/// Returns the method with this path, with or without a leading slash.
pub fn method(path: &str) -> Option<&'static Method> {
    let path = path.strip_prefix('/').unwrap_or(path);
    METHODS.iter().find(|method| &method.path[1..] == path)
}

/// Returns the full names of the contract's services, such as `monitor.v1.MonitorService`.
pub fn service_names() -> impl Iterator<Item = &'static str> {
    services().map(ServiceDescriptor::full_name)
}

/// Returns the names of a message's fields, in the proto's order. Returns `None` if the contract
/// does not contain the message.
pub fn field_names(message: &str) -> Option<impl Iterator<Item = &'static str>> {
    let message = POOL.message_by_name(message)?;
    Some(message.fields().iter().map(FieldDescriptor::name))
}

/// Returns the fields that read keys read in part or not at all, each as `package.Message.field`.
/// The proto marks them with `debug_redact`, so that logs and debuggers of other languages hide
/// them too.
pub fn redacted_fields() -> Vec<String> {
    let fields = POOL.messages().iter().flat_map(|message| {
        let redacted = message.fields().iter().filter(|field| {
            field.options().and_then(|options| options.debug_redact).unwrap_or_default()
        });
        redacted.map(|field| format!("{}.{}", message.full_name(), field.name()))
    });
    fields.collect()
}

/// Description of the contract.
pub(super) static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(super::DESCRIPTORS).expect("codegen wrote a whole description")
});

static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| {
    services()
        .flat_map(|service| service.methods().iter().map(|it| describe(service.full_name(), it)))
        .collect()
});

/// Returns this project's services. Those of gRPC are described for reflection only, and need no
/// permission.
fn services() -> impl Iterator<Item = &'static ServiceDescriptor> {
    POOL.services().iter().filter(|service| !service.full_name().starts_with("grpc."))
}

fn describe(service: &str, method: &MethodDescriptor) -> Method {
    let level = method.options().and_then(|options| options.idempotency_level);
    Method {
        service: service.to_owned(),
        name: method.name().to_owned(),
        path: format!("/{service}/{}", method.name()),
        reads_only: level == Some(IdempotencyLevel::NO_SIDE_EFFECTS),
        is_idempotent: matches!(
            level,
            Some(IdempotencyLevel::NO_SIDE_EFFECTS | IdempotencyLevel::IDEMPOTENT)
        ),
        streams: method.is_client_streaming() || method.is_server_streaming(),
        request: POOL.message(method.input()).full_name().to_owned(),
        response: POOL.message(method.output()).full_name().to_owned(),
        request_index: method.input(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "it has a line for each method")]
    fn read_key_may_call_exactly_the_reading_methods() {
        // spec: §5.5; design: §4
        let shown: Vec<String> = methods()
            .iter()
            .map(|it| format!("{} {}", if it.reads_only { "reads " } else { "writes" }, it.path))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @"
        reads  /api_key.v1.ApiKeyService/ListApiKeys
        writes /api_key.v1.ApiKeyService/RevokeApiKey
        reads  /audit.v1.AuditService/ListAuditEntries
        reads  /configuration.v1.ConfigurationService/ListConfigurations
        reads  /configuration.v1.ConfigurationService/ListConfiguredResources
        writes /configuration.v1.ConfigurationService/RecordConfiguredResources
        writes /configuration.v1.ConfigurationService/DeleteConfiguration
        writes /monitor.v1.MonitorService/CreateHttpMonitor
        writes /monitor.v1.MonitorService/CreateTcpMonitor
        writes /monitor.v1.MonitorService/CreateDnsMonitor
        writes /monitor.v1.MonitorService/CreateHeartbeatMonitor
        writes /monitor.v1.MonitorService/UpdateHttpMonitor
        writes /monitor.v1.MonitorService/UpdateTcpMonitor
        writes /monitor.v1.MonitorService/UpdateDnsMonitor
        writes /monitor.v1.MonitorService/UpdateHeartbeatMonitor
        writes /monitor.v1.MonitorService/RotateHeartbeatUrl
        reads  /monitor.v1.MonitorService/GetMonitor
        reads  /monitor.v1.MonitorService/ListMonitors
        writes /monitor.v1.MonitorService/DeleteMonitor
        writes /monitor.v1.MonitorService/TriggerMonitor
        reads  /monitor.v1.MonitorService/GetMonitorStatus
        reads  /monitor.v1.MonitorService/GetMonitorSummary
        reads  /monitor.v1.MonitorService/ListResponseLogs
        reads  /monitor.v1.MonitorService/ListMissedSlots
        reads  /monitor.v1.MonitorService/GetResponseLog
        reads  /incident.v1.IncidentService/ListIncidents
        reads  /incident.v1.IncidentService/GetIncident
        writes /incident.v1.IncidentService/AcknowledgeIncident
        writes /incident.v1.IncidentService/ResolveIncident
        writes /incident.v1.IncidentService/CommentIncident
        writes /maintenance.v1.MaintenanceService/CreateMaintenance
        reads  /maintenance.v1.MaintenanceService/GetMaintenance
        reads  /maintenance.v1.MaintenanceService/ListMaintenances
        writes /maintenance.v1.MaintenanceService/UpdateMaintenance
        writes /maintenance.v1.MaintenanceService/EndMaintenance
        writes /maintenance.v1.MaintenanceService/DeleteMaintenance
        reads  /member.v1.MemberService/ListMembers
        writes /member.v1.MemberService/UpdateMember
        writes /member.v1.MemberService/RemoveMember
        reads  /member.v1.MemberService/ListInvitations
        writes /member.v1.MemberService/CreateInvitation
        writes /member.v1.MemberService/RevokeInvitation
        writes /notification.v1.NotificationService/CreateNotification
        reads  /notification.v1.NotificationService/GetNotification
        reads  /notification.v1.NotificationService/ListNotifications
        writes /notification.v1.NotificationService/UpdateNotification
        writes /notification.v1.NotificationService/DeleteNotification
        writes /notification.v1.NotificationService/TestNotification
        reads  /notification.v1.NotificationService/ListDeliveries
        reads  /notification.v1.NotificationService/GetDelivery
        writes /notification.v1.NotificationService/ReplayDelivery
        reads  /notification.v1.NotificationService/ListSigningSecrets
        writes /notification.v1.NotificationService/RotateSigningSecret
        reads  /probe.v1.ProbeService/ListProbes
        writes /probe.v1.ProbeService/CreateProbe
        writes /probe.v1.ProbeService/RotateProbeToken
        writes /probe.v1.ProbeService/DeleteProbe
        reads  /region.v1.RegionService/ListRegions
        writes /status_page.v1.StatusPageService/CreateStatusPage
        reads  /status_page.v1.StatusPageService/GetStatusPage
        reads  /status_page.v1.StatusPageService/ListStatusPages
        writes /status_page.v1.StatusPageService/UpdateStatusPage
        writes /status_page.v1.StatusPageService/DeleteStatusPage
        writes /status_page.v1.StatusPageService/PublishStatusPage
        writes /status_page.v1.StatusPageService/UnpublishStatusPage
        writes /status_page.v1.StatusPageService/SetStatusPageTheme
        writes /status_page.v1.StatusPageService/SetStatusPageIndexing
        writes /status_page.v1.StatusPageService/CreateComponent
        reads  /status_page.v1.StatusPageService/GetComponent
        reads  /status_page.v1.StatusPageService/ListComponents
        writes /status_page.v1.StatusPageService/UpdateComponent
        writes /status_page.v1.StatusPageService/DeleteComponent
        writes /status_page.v1.StatusPageService/CreateComponentGroup
        reads  /status_page.v1.StatusPageService/GetComponentGroup
        reads  /status_page.v1.StatusPageService/ListComponentGroups
        writes /status_page.v1.StatusPageService/UpdateComponentGroup
        writes /status_page.v1.StatusPageService/DeleteComponentGroup
        reads  /status_page.v1.StatusPageService/ListSubscribers
        writes /status_page.v1.StatusPageService/AddSubscriber
        writes /status_page.v1.StatusPageService/RemoveSubscriber
        reads  /status_page.v1.StatusPageService/GetStatusPageOverview
        reads  /status_page.v1.StatusPageService/GetComponentSummary
        writes /status_report.v1.StatusReportService/CreateStatusReport
        reads  /status_report.v1.StatusReportService/GetStatusReport
        reads  /status_report.v1.StatusReportService/ListStatusReports
        writes /status_report.v1.StatusReportService/UpdateStatusReport
        writes /status_report.v1.StatusReportService/DeleteStatusReport
        writes /status_report.v1.StatusReportService/AddStatusReportUpdate
        writes /status_report.v1.StatusReportService/EditStatusReportUpdate
        writes /status_report.v1.StatusReportService/DeleteStatusReportUpdate
        writes /status_report.v1.StatusReportService/CreateReportTemplate
        reads  /status_report.v1.StatusReportService/ListReportTemplates
        writes /status_report.v1.StatusReportService/UpdateReportTemplate
        writes /status_report.v1.StatusReportService/DeleteReportTemplate
        reads  /workspace.v1.WorkspaceService/GetWorkspace
        writes /workspace.v1.WorkspaceService/UpdateWorkspace
        writes /workspace.v1.WorkspaceService/DeleteWorkspace
        writes /workspace.v1.WorkspaceService/CancelDeletion
        ");
    }

    // issue 16 point 17: "set `go_package` and the other language options"
    #[test]
    fn each_proto_has_the_options_of_all_languages() {
        let mut taken = std::collections::HashSet::new();
        let ours = POOL.files().iter().filter(|file| !file.service.is_empty());
        let ours =
            ours.filter(|file| !file.package.as_deref().unwrap_or_default().starts_with("grpc."));
        let mut files = 0;
        for file in ours {
            let options = file.options.as_option().expect("a file has options");
            assert_eq!(options.java_multiple_files, Some(true), "{:?}", file.name);
            for (option, value) in [
                ("csharp_namespace", &options.csharp_namespace),
                ("go_package", &options.go_package),
                ("java_outer_classname", &options.java_outer_classname),
                ("java_package", &options.java_package),
                ("objc_class_prefix", &options.objc_class_prefix),
                ("php_namespace", &options.php_namespace),
                ("ruby_package", &options.ruby_package),
            ] {
                let value = value.as_deref().filter(|value| !value.is_empty());
                let value = value.unwrap_or_else(|| panic!("{:?} has no {option}", file.name));
                let is_new = taken.insert((option, value.to_owned()));
                // The default of `buf` for Objective-C is the initial letter, which packages share.
                assert!(is_new || option == "objc_class_prefix", "{:?}: {option}", file.name);
            }
            files += 1;
        }
        assert_eq!(files, service_names().count());
    }

    #[test]
    fn method_is_found_without_leading_slash() {
        let path = "/monitor.v1.MonitorService/GetMonitor";
        assert_eq!(method(path).unwrap().name, "GetMonitor");
        assert_eq!(method(&path[1..]).unwrap().request, "monitor.v1.GetMonitorRequest");
        assert!(method("/monitor.v1.MonitorService/Nonsense").is_none());
    }

    #[test]
    fn create_methods_and_no_others_begin_with_create() {
        let creates = methods().iter().filter(|it| it.name.starts_with("Create"));
        assert!(creates.clone().all(|it| !it.reads_only && !it.streams));
        assert_eq!(creates.count(), 13);
    }
}
