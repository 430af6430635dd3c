//! Page events as emails and webhooks, and their keys.

use rules::status_page::{ComponentScope, Language, SubscriberSettings};
use rules::{Timestamp, WorkspaceId};

use super::*;
use crate::notify::{ListLinks, Mail};

const AT: Timestamp = Timestamp::from_millis(1_795_271_700_000);

fn a_subscriber(destination: Destination, language: Language) -> Subscriber {
    Subscriber {
        id: SubscriberId::from_bits(9),
        workspace: WorkspaceId::from_bits(1),
        settings: SubscriberSettings {
            page_id: PageId::from_bits(2),
            destination,
            language,
            scope: ComponentScope::All,
            topics: Topic::BY_DEFAULT.to_vec(),
        },
        created_at: AT,
        confirmed_at: Some(AT),
        access_proof: rules::status_page::AccessProof::Owner,
    }
}

fn by_mail(language: Language) -> Subscriber {
    a_subscriber(Destination::Email("ada@example.com".to_owned()), language)
}

fn page_event(about: PageEventKind) -> PageEvent {
    let component =
        |id, name: &str| ComponentNamed { id: ComponentId::from_bits(id), name: name.to_owned() };
    PageEvent {
        page: PageNamed { id: PageId::from_bits(2), title: "Acme".to_owned() },
        at: AT,
        about,
        components: vec![component(3, "API"), component(4, "Shop <b>")],
    }
}

fn report(status: ReportStatus, update: u64) -> PageEvent {
    page_event(PageEventKind::Report(ReportEvent {
        report: ReportId::from_bits(5),
        update: UpdateId::from_bits(update),
        title: "Log-in is slow".to_owned(),
        status,
        is_first: update == 1,
        text: "We **look**.\r\n\r\nBcc: nobody".to_owned(),
        concerns: vec![ComponentId::from_bits(3)],
    }))
}

fn maintenance(stage: MaintenancePhase) -> PageEvent {
    page_event(PageEventKind::Maintenance(MaintenanceEvent {
        maintenance: MaintenanceId::from_bits(6),
        title: "New disks".to_owned(),
        description: None,
        from: AT,
        until: AT + std::time::Duration::from_hours(1),
        stage,
    }))
}

fn incident(is_over: bool) -> PageEvent {
    let incident = IncidentId::from_bits(7);
    page_event(PageEventKind::Incident(IncidentEvent { incident, began_at: AT, is_over }))
}

fn vendors() -> VendorConfig {
    VendorConfig { has_mail: true, ..VendorConfig::default() }
}

fn cover(key: &str) -> SubscriberEnvelope<'_> {
    let at = |rest: &str| format!("https://up.example/status/acme{rest}");
    let links = Links {
        page: at(""),
        confirm: at("/confirm/t1"),
        manage: at("/manage/t2"),
        unsubscribe: at("/unsubscribe/t3"),
    };
    SubscriberEnvelope { key, now: AT, signing: &[], links: Some(links) }
}

fn mail(language: Language, page_events: &[PageEvent]) -> Mail {
    let key = page_event_key(SubscriberId::from_bits(9), &page_events[0]);
    match compose_page_event(&by_mail(language), page_events, &vendors(), &cover(&key)).unwrap() {
        Message::Mail(mail) => mail,
        Message::Http(_) => panic!("expected an email"),
    }
}

// issue 7: "email with double opt-in and one-click unsubscribe headers"
#[test]
fn email_shows_event_reason_and_unsubscribe_link() {
    let mail = mail(Language::En, &[report(ReportStatus::Identified, 2)]);
    assert_eq!(mail.subject, "Acme: Identified: Log-in is slow");
    assert_eq!(
        mail.list,
        ListLinks::OneClick("https://up.example/status/acme/unsubscribe/t3".to_owned())
    );
    insta::assert_snapshot!(mail.text, @"
    Identified: Log-in is slow

    We **look**.

    Bcc: nobody

    Components: API, Shop <b>

    2026-11-21 14:35:00 UTC

    View status page: https://up.example/status/acme

    -- 
    You receive this email because you subscribed to the status page “Acme”.
    Manage subscription: https://up.example/status/acme/manage/t2
    Unsubscribe: https://up.example/status/acme/unsubscribe/t3
    ");
    assert!(mail.html.contains("Shop &lt;b&gt;") && !mail.html.contains("Shop <b>"));
}

#[test]
fn updates_of_one_report_share_a_thread() {
    let first = mail(Language::En, &[report(ReportStatus::Investigating, 1)]);
    let second = mail(Language::En, &[report(ReportStatus::Resolved, 2)]);
    assert_eq!(first.thread, second.thread);
    assert_ne!(first.id, second.id);
    assert_ne!(first.thread, mail(Language::En, &[maintenance(MaintenancePhase::Started)]).thread);
}

#[test]
fn confirmation_email_has_no_unsubscribe_link() {
    let asked = mail(
        Language::De,
        &[page_event(PageEventKind::ConfirmationRequested(SubscriberId::from_bits(9)))],
    );
    assert_eq!(asked.subject, "Bestätige dein Abonnement von „Acme“");
    assert_eq!(asked.list, ListLinks::None);
    assert!(asked.text.contains("/confirm/t1"), "{}", asked.text);
    assert!(!asked.text.contains("/unsubscribe/") && !asked.html.contains("/manage/"));
}

// issue 7: "seven languages"
#[test]
fn every_language_has_its_own_texts() {
    let all = [maintenance(MaintenancePhase::Scheduled), incident(false), incident(true)];
    let subjects: Vec<String> = Language::ALL
        .iter()
        .flat_map(|language| {
            all.iter().map(|page_event| mail(*language, std::slice::from_ref(page_event)).subject)
        })
        .collect();
    let mut distinct = subjects.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), Language::ALL.len() * all.len(), "{subjects:?}");
    assert!(subjects.iter().all(|subject| !subject.contains("{}")), "{subjects:?}");
}

#[test]
fn digest_email_contains_all_events() {
    let mail = mail(Language::En, &[incident(false), incident(true)]);
    assert_eq!(mail.subject, "Acme: 2 messages");
    assert!(mail.text.contains("• API, Shop <b> are down"), "{}", mail.text);
    assert!(mail.text.contains("• API, Shop <b> are up again"), "{}", mail.text);
}

#[test]
fn missing_mail_server_or_address_is_an_error() {
    let (subscriber, page_events) = (by_mail(Language::En), [incident(false)]);
    let none = compose_page_event(&subscriber, &page_events, &VendorConfig::default(), &cover("k"))
        .unwrap_err();
    assert_eq!(none.setting, setting::SMTP);
    let unreached = SubscriberEnvelope { links: None, ..cover("k") };
    let none = compose_page_event(&subscriber, &page_events, &vendors(), &unreached).unwrap_err();
    assert_eq!(none.setting, setting::PUBLIC_URL);
}

#[test]
fn webhook_is_signed_with_version_and_type() {
    let url = Secret::new("https://hooks.example/x".to_owned());
    let subscriber = a_subscriber(Destination::Webhook(url), Language::En);
    let secret = [Secret::new(vec![7; 32])];
    let cover = SubscriberEnvelope { signing: &secret, ..cover("key-1") };
    let page_events = [report(ReportStatus::Investigating, 1)];
    let Message::Http(message) =
        compose_page_event(&subscriber, &page_events, &vendors(), &cover).unwrap()
    else {
        panic!("expected a webhook")
    };
    let header = |name: &str| {
        let found = message.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.expose().clone()).unwrap_or_default()
    };
    assert_eq!(header("webhook-id"), "key-1");
    assert!(header("webhook-signature").starts_with("v1,"));
    let body: serde_json::Value = serde_json::from_slice(&message.body).unwrap();
    let at = "2026-11-21T14:35:00.000Z";
    let expected = serde_json::json!({
        "version": 1,
        "type": "page.report.opened",
        "timestamp": at,
        "data": {
            "subscriber": "sub_0000000000009",
            "page": {
                "id": "page_0000000000002",
                "title": "Acme",
                "link": "https://up.example/status/acme",
            },
            "events": [{
                "type": "page.report.opened",
                "at": at,
                "components": [
                    { "id": "cmp_0000000000003", "name": "API" },
                    { "id": "cmp_0000000000004", "name": "Shop <b>" },
                ],
                "report": {
                    "id": "rpt_0000000000005",
                    "update": "upd_0000000000001",
                    "title": "Log-in is slow",
                    "status": "investigating",
                    "text": "We **look**.\r\n\r\nBcc: nobody",
                },
            }],
        },
    });
    assert_eq!(body, expected);
}

// issue 8, point 3: "webhook payloads with their JSON Schema"
#[test]
fn webhooks_match_their_schema_exactly() {
    let subscriber = a_subscriber(
        Destination::Webhook(Secret::new("https://a.example".to_owned())),
        Language::En,
    );
    let schema = include_str!("../../../../../docs/reference/page-webhook.schema.json");
    let mut schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    close(&mut schema);
    let schema = jsonschema::validator_for(&schema).unwrap();
    let batches = [
        vec![report(ReportStatus::Investigating, 1)],
        vec![report(ReportStatus::Monitoring, 2)],
        vec![report(ReportStatus::Resolved, 3)],
        vec![maintenance(MaintenancePhase::Scheduled)],
        vec![maintenance(MaintenancePhase::Started)],
        vec![maintenance(MaintenancePhase::Completed)],
        vec![incident(false)],
        vec![incident(true)],
        vec![incident(false), incident(true)],
    ];
    for page_events in batches {
        let message =
            compose_page_event(&subscriber, &page_events, &vendors(), &cover("key-1")).unwrap();
        let Message::Http(message) = message else { panic!("expected a webhook") };
        let mut body: serde_json::Value = serde_json::from_slice(&message.body).unwrap();
        let wrong: Vec<_> = schema.iter_errors(&body).map(|it| it.to_string()).collect();
        assert!(wrong.is_empty(), "{body}: {wrong:#?}");
        body["data"]["events"][0]["more"] = true.into();
        assert!(!schema.is_valid(&body), "{body}");
    }
}

/// Makes the objects of a schema reject unknown fields, which receivers should not do.
fn close(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(close),
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::String(_) => {}
    }
}

#[test]
fn distinct_events_have_distinct_names() {
    let all = [
        report(ReportStatus::Investigating, 1),
        report(ReportStatus::Investigating, 2),
        maintenance(MaintenancePhase::Scheduled),
        maintenance(MaintenancePhase::Started),
        maintenance(MaintenancePhase::Completed),
        incident(false),
        incident(true),
    ];
    let mut names: Vec<String> = all.iter().map(PageEvent::name).collect();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    assert!(names.iter().all(|name| name.chars().all(is_plain)), "{names:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
    let later = PageEvent { at: AT + std::time::Duration::from_secs(1), ..incident(false) };
    assert_eq!(later.name(), incident(false).name());
}
