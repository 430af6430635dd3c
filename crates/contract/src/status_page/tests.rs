//! Tests that wire and `rules` agree on pages, components and groups: an encoded object decodes to
//! itself.

use std::collections::BTreeSet;

use rules::field::Resource;
use rules::status_page::{
    Component, ComponentDraft, ComponentGroup, ComponentSettings, GroupDraft, GroupSettings,
    PageDraft, PageSettings, StatusPage,
};
use rules::{
    AccessType, ComponentId, ComponentType, GroupId, MonitorId, PageId, Secret, Theme, Timestamp,
    WorkspaceId, tables,
};

use super::{encode_component, encode_group, encode_page, wire};
use crate::IntoDraft as _;
use crate::fields::SecretVisibility;
use crate::rpc::field_names;

const AT: Timestamp = Timestamp::from_millis(1_500);

#[expect(clippy::unnecessary_wraps, reason = "a page holds what may be absent")]
fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Creates a page with every argument set.
fn page() -> StatusPage {
    StatusPage {
        id: PageId::from_bits(7),
        workspace: WorkspaceId::from_bits(1),
        settings: PageSettings {
            title: "Acme".to_owned(),
            slug: "acme".to_owned(),
            description: text(""),
            homepage_url: text("https://example.com"),
            contact_url: text("mailto:ops@example.com"),
            icon: text("https://example.com/icon.png"),
            custom_domain: text("Status.Bücher.example"),
            access_type: Some(AccessType::Password),
            password: Some(Secret::new("hunter2".to_owned())),
            auth_email_domains: vec!["b.example".to_owned(), "a.example".to_owned()],
        },
        published: false,
        theme: Theme::Dark,
        allow_indexing: false,
        created_at: AT,
        updated_at: AT,
    }
}

fn component() -> Component {
    Component {
        id: ComponentId::from_bits(7),
        workspace: WorkspaceId::from_bits(1),
        settings: ComponentSettings {
            page_id: PageId::from_bits(7),
            kind: ComponentType::Monitor,
            monitor_id: Some(MonitorId::from_bits(7)),
            name: text(""),
            description: text("d"),
            order: Some(0),
            group_id: Some(GroupId::from_bits(7)),
            group_order: Some(-1),
        },
        created_at: AT,
        updated_at: AT,
    }
}

fn group() -> ComponentGroup {
    ComponentGroup {
        id: GroupId::from_bits(7),
        workspace: WorkspaceId::from_bits(1),
        settings: GroupSettings { page_id: PageId::from_bits(7), name: "Core".to_owned() },
        created_at: AT,
        updated_at: AT,
    }
}

#[test]
fn encoded_page_decodes_equal() {
    // design: §4: conversions change no value
    let (page, component, group) = (page(), component(), group());
    let draft = encode_page(&page, SecretVisibility::Visible).into_draft();
    assert_eq!(draft, PageDraft::from(&page.settings));
    assert_eq!(draft.parse().unwrap(), page.settings);
    let draft = encode_component(&component).into_draft();
    assert_eq!(draft, ComponentDraft::from(&component.settings));
    assert_eq!(draft.parse().unwrap(), component.settings);
    let draft = encode_group(&group).into_draft();
    assert_eq!(draft, GroupDraft::from(&group.settings));
    assert_eq!(draft.parse().unwrap(), group.settings);
}

#[test]
fn omitted_fields_are_absent() {
    // design: §4: access_type, order, group_id
    let mut page = page();
    page.settings =
        PageDraft { title: text("t"), slug: text("s"), ..PageDraft::default() }.parse().unwrap();
    let shown = serde_json::to_string(&encode_page(&page, SecretVisibility::Visible)).unwrap();
    insta::assert_snapshot!(shown, @r#"{"id":"page_0000000000007","title":"t","slug":"s","authEmailDomains":[],"published":false,"theme":"dark","createdAt":"1970-01-01T00:00:01.500Z","updatedAt":"1970-01-01T00:00:01.500Z","allowIndexing":false,"revision":"1500"}"#);
    let mut component = component();
    let bare = ComponentDraft {
        page_id: Some(component.settings.page_id.to_string()),
        kind: text("static"),
        name: text("Mail"),
        ..ComponentDraft::default()
    };
    component.settings = bare.parse().unwrap();
    let shown = serde_json::to_string(&encode_component(&component)).unwrap();
    insta::assert_snapshot!(shown, @r#"{"id":"cmp_0000000000007","pageId":"page_0000000000007","type":"static","name":"Mail","createdAt":"1970-01-01T00:00:01.500Z","updatedAt":"1970-01-01T00:00:01.500Z","revision":"1500"}"#);
}

#[test]
fn read_key_gets_page_without_password() {
    // spec: §2.8; design: §4
    let shown = encode_page(&page(), SecretVisibility::Redacted);
    assert_eq!(shown.password, None);
    assert_eq!(
        wire::StatusPage { password: text("hunter2"), ..shown },
        encode_page(&page(), SecretVisibility::Visible)
    );
}

#[test]
fn wire_fields_match_the_tables() {
    // spec: §2.5–2.7: fails if only one side has a new field
    let messages: [(&str, &Resource); 4] = [
        ("StatusPage", &tables::STATUS_PAGE),
        ("Component", &tables::STATUS_PAGE_COMPONENT),
        ("ComponentGroup", &tables::STATUS_PAGE_COMPONENT_GROUP),
        ("Subscriber", &tables::SUBSCRIBER),
    ];
    for (message, table) in messages {
        let fields = table.fields.iter().chain(table.beyond).map(|field| field.name);
        let message = format!("status_page.v1.{message}");
        let on_the_wire = field_names(&message).unwrap();
        assert_eq!(on_the_wire.collect::<BTreeSet<_>>(), fields.collect(), "{message}");
    }
}
