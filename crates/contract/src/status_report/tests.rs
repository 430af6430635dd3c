//! Conversions of reports, updates and templates to the wire and back.

use std::collections::BTreeSet;

use rules::field::Resource;
use rules::report::{Impact, ReportStatus, TemplateSettings, UpdateSettings};
use rules::{ComponentId, PageId, ReportId, TemplateId, UpdateId, WorkspaceId, tables};

use super::*;
use crate::rpc::field_names;

const AT: Timestamp = Timestamp::from_millis(1_500);
const IMPACT: ComponentImpact =
    ComponentImpact { component: ComponentId::from_bits(7), impact: Impact::Down };

/// Creates a report with every argument set.
fn full() -> Report {
    let update = ReportUpdate {
        id: UpdateId::from_bits(7),
        status: ReportStatus::Resolved,
        text: "*Over*".to_owned(),
        at: AT,
        components: vec![IMPACT],
        notified: true,
        created_at: AT,
        updated_at: AT,
    };
    Report {
        id: ReportId::from_bits(7),
        workspace: WorkspaceId::from_bits(1),
        page: PageId::from_bits(7),
        title: "Disks".to_owned(),
        updates: vec![update],
        started_at: AT,
        created_at: AT,
        updated_at: AT,
    }
}

#[test]
fn encoded_report_decodes_equal() {
    // design: §4, a created object reads back equal
    let json = serde_json::to_string(&encode(&full())).unwrap();
    insta::assert_snapshot!(json, @r#"{"id":"rpt_0000000000007","pageId":"page_0000000000007","title":"Disks","components":[{"componentId":"cmp_0000000000007","impact":"down"}],"status":"resolved","updates":[{"id":"upd_0000000000007","status":"resolved","text":"*Over*","at":"1970-01-01T00:00:01.500Z","components":[{"componentId":"cmp_0000000000007","impact":"down"}],"notified":true,"createdAt":"1970-01-01T00:00:01.500Z","updatedAt":"1970-01-01T00:00:01.500Z"}],"startedAt":"1970-01-01T00:00:01.500Z","resolvedAt":"1970-01-01T00:00:01.500Z","createdAt":"1970-01-01T00:00:01.500Z","updatedAt":"1970-01-01T00:00:01.500Z","revision":"1500"}"#);
    let read: wire::StatusReport = serde_json::from_str(&json).unwrap();
    let encoded = read.updates[0].clone();
    assert_eq!(read.into_draft(), ReportDraft::from(&full().settings()));
    let update = &full().updates[0];
    let settings = UpdateSettings {
        status: update.status,
        text: update.text.clone(),
        at: update.at,
        components: update.components.clone(),
    };
    assert_eq!(encoded.into_draft(), UpdateDraft::from(&settings));
}

#[test]
fn encoded_template_decodes_equal() {
    let settings = TemplateSettings {
        name: "Disks".to_owned(),
        title: Some("Disks fail".to_owned()),
        status: Some(ReportStatus::Identified),
        text: Some("We know".to_owned()),
        components: vec![IMPACT],
    };
    let template = ReportTemplate {
        id: TemplateId::from_bits(7),
        workspace: WorkspaceId::from_bits(1),
        settings,
        created_at: AT,
        updated_at: AT,
    };
    let json = serde_json::to_string(&encode_template(&template)).unwrap();
    let read: wire::ReportTemplate = serde_json::from_str(&json).unwrap();
    assert_eq!(read.into_draft(), TemplateDraft::from(&template.settings));
}

#[test]
fn instant_out_of_range_is_rejected() {
    let at = wire::Timestamp { seconds: i64::MAX, ..Default::default() };
    let given = wire::StatusReportUpdate { at: at.into(), ..Default::default() };
    assert_eq!(given.into_draft().at, Some(UNCOUNTED));
}

#[test]
fn wire_fields_match_the_tables() {
    // Fails if only one side has a new field. A report contains its updates, which no resource
    // table contains.
    let of = |table: &'static Resource, beside: &[&'static str]| -> BTreeSet<&'static str> {
        let fields = table.fields.iter().chain(table.beyond).map(|field| field.name);
        fields.chain(table.blocks.iter().map(|it| it.name)).chain(beside.iter().copied()).collect()
    };
    for (message, expected) in [
        ("StatusReport", of(&tables::STATUS_REPORT, &["updates"])),
        ("StatusReportUpdate", of(&tables::REPORT_UPDATE, &[])),
        ("ReportTemplate", of(&tables::REPORT_TEMPLATE, &[])),
    ] {
        let message = format!("status_report.v1.{message}");
        let on_the_wire: BTreeSet<_> = field_names(&message).unwrap().collect();
        assert_eq!(on_the_wire, expected, "{message}");
    }
}
