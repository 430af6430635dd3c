//! Generated types that determine how people write their programs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::generate;
use crate::shell;

static FILES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let files = generate(shell::workspace()).unwrap();
    files.into_iter().map(|(name, code)| (name, String::from_utf8(code).unwrap())).collect()
});

/// Returns the declaration with this beginning, without its comments.
fn declared(file: &str, beginning: &str) -> String {
    let code = &FILES[file];
    let start = code.find(beginning).unwrap_or_else(|| panic!("`{beginning}` not found in {file}"));
    let end = start + code[start..].find("\n\n").unwrap_or(code.len() - start);
    let lines = code[start..end].lines().filter(|line| {
        let line = line.trim_start();
        !line.starts_with("/**") && !line.starts_with('*')
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn header_value_is_required_only_in_input() {
    assert_eq!(
        declared("monitor.ts", "export interface Header {"),
        "export interface Header {\n  key: string;\n  value?: string;\n}"
    );
    assert_eq!(
        declared("monitor.ts", "export interface HeaderInput {"),
        "export interface HeaderInput {\n  key: string;\n  value: string;\n}"
    );
}

#[test]
fn input_requires_arguments_and_excludes_outputs() {
    let written = declared("monitor.ts", "export interface HttpMonitorInput {");
    for line in [
        "  url: string;",
        "  periodicity: Periodicity;",
        "  retry?: number | undefined;",
        "  regions?: readonly Region[] | undefined;",
        "  headers?: readonly HeaderInput[] | undefined;",
    ] {
        assert!(written.lines().any(|it| it == line), "{line} is missing in {written}");
    }
    assert!(!written.contains("status:") && !written.contains("  id"), "{written}");
    let answered = declared("monitor.ts", "export interface HttpMonitor {");
    for line in
        ["  id: string;", "  status: MonitorStatus;", "  retry: number;", "  degradedAt?: number;"]
    {
        assert!(answered.lines().any(|it| it == line), "{line} is missing in {answered}");
    }
}

#[test]
fn channel_has_exactly_one_block_of_its_kind() {
    let written = declared("notification.ts", "export type NotificationInput =");
    assert!(written.contains(r#"| { providerType: "google_chat"; googleChat: GoogleChatInput }"#));
    assert_eq!(written.matches("providerType").count(), rules::ProviderType::ALL.len());
}

#[test]
fn update_takes_whole_resource_or_masked_part() {
    let written = declared("status_page.ts", "export type UpdateComponentRequest =");
    assert!(written.contains(r#"component: WholeBut<ComponentInput, "pageId" | "type">;"#));
    assert!(written.contains("component: Part<ComponentInput>;"));
    assert!(written.contains("updateMask: FieldMask<ComponentInput>;"));
}

#[test]
fn only_keyed_methods_accept_an_idempotency_key() {
    let table = &FILES["methods.ts"];
    let creates =
        table.lines().filter_map(|line| line.trim().strip_suffix("],")?.split_once(": [3,"));
    let creates: Vec<_> = creates.map(|(name, _)| name).collect();
    assert_eq!(
        creates.join(" "),
        "CreateHttpMonitor CreateTcpMonitor CreateDnsMonitor CreateHeartbeatMonitor \
         CommentIncident CreateMaintenance CreateInvitation CreateNotification CreateProbe CreateStatusPage CreateComponent \
         CreateComponentGroup AddSubscriber CreateStatusReport AddStatusReportUpdate \
         CreateReportTemplate"
    );
    // `DeleteStatusReportUpdate` returns the report.
    for line in [
        "TriggerMonitor: [8,",
        "ListMonitors: [5,",
        "RotateSigningSecret: [0,",
        "DeleteMonitor: [18,",
        "RemoveSubscriber: [18,",
        "DeleteStatusReportUpdate: [2,",
    ] {
        assert!(table.contains(line), "{line}");
    }
}

#[test]
fn limits_match_the_tables() {
    let limits = &FILES["limits.ts"];
    for line in [
        "name: { min: 1, max: 256 },",
        "timeout: { min: 0, max: 120000, default: 45000 },",
        "WAITING_CALL_MS = 150000;",
    ] {
        assert!(limits.contains(line), "{line}");
    }
}
