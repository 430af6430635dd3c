//! Monitors are created and edited in forms.

use rules::{Region, Scope};
use serde_json::{Value, json};
use testkit::pem;
use testkit::person::Person;
use testkit::server::TestServer;
use testkit::target::{DnsTarget, HttpTarget, ScriptedResponse};

use super::settings::between;
use crate::pipeline::Watched;
use crate::probes::{Agent, register, wait_for_health};

// issue 18, point 4: "A URL is enough to start"
#[tokio::test]
async fn url_is_enough_for_a_monitor() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let form = ada.get("/w/acme/monitors/new").await;
    assert!(form.status == 200 && form.text().contains("name=\"url\""), "{form}");
    let fields = [("url", "https://example.com/health"), ("periodicity", "1m")];
    let created = ada.post("/w/acme/monitors/new", &fields).await;
    let path = created.location().unwrap();
    assert!(path.starts_with("/w/acme/monitors/mon_"), "{created}");
    let edit = ada.get(&format!("{path}/edit")).await.text();
    assert!(
        edit.contains("value=\"example.com/health\"")
            && edit.contains("value=\"https://example.com/health\"")
    );
}

// issue 18, bad input: "Show each field's message beside it and keep the input"
#[tokio::test]
async fn invalid_monitor_keeps_the_input() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let fields =
        [("name", "API"), ("url", "ftp://example.com"), ("retry", "11"), ("periodicity", "1m")];
    let reply = ada.post("/w/acme/monitors/new", &fields).await;
    let text = reply.text();
    assert_eq!(reply.status, 422);
    assert!(text.contains("id=\"url-error\"") && text.contains("id=\"retry-error\""), "{text}");
    assert!(
        text.contains("value=\"ftp://example.com\"") && text.contains("value=\"11\""),
        "{text}"
    );
}

/// Returns the number of stored monitors.
async fn count(server: &TestServer) -> u64 {
    let page = server.caller(Scope::Read).rpc("ListMonitors", json!({})).await.json();
    page["totalSize"].as_u64().unwrap()
}

// issue 18, point 4: "Test before saving from chosen places shows the response's waterfall"
#[tokio::test]
async fn draft_is_checked_but_not_stored() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let target = HttpTarget::start().await;
    let url = target.url("/health");
    let fields =
        [("url", url.as_str()), ("periodicity", "1m"), ("retry", "3"), ("test_from", "fly-iad")];
    let reply = ada.post("/w/acme/monitors/test?kind=http", &fields).await;
    let text = reply.text();
    assert!(reply.status == 200 && text.contains("Ashburn, from this server"), "{reply}");
    assert!(text.contains("First byte") && text.contains(&format!("value=\"{url}\"")), "{text}");
    assert_eq!(target.hits(), 1);
    target.on("/health", ScriptedResponse::status(503));
    let reply = ada.post("/w/acme/monitors/test?kind=http", &fields).await.text();
    assert!(reply.contains("Failure") && reply.contains("503"), "{reply}");
    assert_eq!(target.hits(), 2, "a person waits, so nothing is retried");
    assert_eq!(count(&server).await, 0);
}

#[tokio::test]
async fn draft_is_checked_from_each_chosen_place() {
    let watched = Watched::start().await;
    let server = &watched.server;
    let ada = Person::set_up(server).await;
    let probe = register(server, 1, &[Region::FlySin]).await;
    let agent = Agent::start(&server.address().to_string(), &probe.token);
    wait_for_health(server, "fly-sin", "healthy").await;
    let form = ada.get("/w/acme/monitors/new?kind=http").await.text();
    for place in ["this server", "Singapore"] {
        assert!(form.contains(place), "{place}: {form}");
    }
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let url = target.url("/");
    let fields = [
        ("url", url.as_str()),
        ("periodicity", "1m"),
        ("test_from", "fly-iad"),
        ("test_from", "fly-sin"),
    ];
    let page = ada.post("/w/acme/monitors/test?kind=http", &fields).await.text();
    let mut outcomes = page.split("aria-label=\"Outcome of the test\"").skip(1);
    let mut outcome = || outcomes.next().unwrap_or_else(|| panic!("no outcome: {page}"));
    for place in ["Ashburn, from this server", "Singapore"] {
        let outcome = outcome();
        assert!(outcome.contains(&format!("<h2>{place}</h2>")), "{place}: {outcome}");
        assert!(
            outcome.contains("Success") && outcome.contains("First byte"),
            "{place}: {outcome}"
        );
    }
    assert_eq!(target.hits(), 2);
    agent.stop().await;
}

#[tokio::test]
async fn invalid_draft_is_not_checked() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let fields = [("url", "ftp://example.com"), ("periodicity", "1m")];
    let text = ada.post("/w/acme/monitors/test?kind=http", &fields).await.text();
    assert!(text.contains("id=\"url-error\"") && !text.contains("First byte"), "{text}");
    let missing = ada.post("/w/acme/monitors/test?kind=smtp", &fields).await;
    assert_eq!(missing.status, 404);
}

// issue 18, point 4: "Warn before saving about private addresses"
#[tokio::test]
async fn private_address_is_stored_after_confirmation() {
    let server = TestServer::start_with(|settings| settings.allow_private_networks = false).await;
    let ada = Person::set_up(&server).await;
    let url = ("url", "http://10.0.0.1/");
    let fields = [url, ("periodicity", "1m")];
    let reply = ada.post("/w/acme/monitors/new", &fields).await;
    assert!(reply.text().contains("These checks cannot succeed"), "{reply}");
    assert_eq!(count(&server).await, 0);
    let other = [&fields[..], &[("confirmed", "http://10.0.0.2/")]].concat();
    assert_eq!(ada.post("/w/acme/monitors/new", &other).await.status, 200);
    let confirmed = [&fields[..], &[("confirmed", url.1)]].concat();
    let created = ada.post("/w/acme/monitors/new", &confirmed).await;
    assert_eq!(created.status, 303, "{created}");
    // The stored target needs no further confirmation.
    let edit = format!("{}/edit", created.location().unwrap());
    let fields = [url, ("name", "Router"), ("periodicity", "5m")];
    assert_eq!(ada.post(&edit, &fields).await.status, 303);
}

// issue 18, bad input: a concurrent edit shows what happened
#[tokio::test]
async fn concurrent_edit_shows_both_versions() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let fields = [("url", "https://example.com"), ("name", "API"), ("periodicity", "1m")];
    let path = ada.post("/w/acme/monitors/new", &fields).await.location().unwrap();
    let form = ada.get(&format!("{path}/edit")).await.text();
    let revision = hidden(&form, "revision");
    let id = path.rsplit('/').next().unwrap();
    let other = json!({ "monitor": { "id": id, "name": "Shop" }, "updateMask": "name" });
    server.caller(Scope::Write).rpc("UpdateHttpMonitor", other).await;
    let mine = |revision: &str| {
        let name = ("name".to_owned(), "Orders".to_owned());
        let revision = ("revision".to_owned(), revision.to_owned());
        let url = ("url".to_owned(), "https://example.com".to_owned());
        [name, url, revision, ("periodicity".to_owned(), "1m".to_owned())]
    };
    let post = async |revision: &str| {
        let mine = mine(revision);
        let mine: Vec<(&str, &str)> = mine.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        ada.post(&format!("{path}/edit"), &mine).await
    };
    let reply = post(&revision).await;
    let text = reply.text();
    assert_eq!(reply.status, 409);
    assert!(text.contains("changed this monitor while you edited it"), "{text}");
    assert!(text.contains(">Shop<") && text.contains(">Orders<"), "{text}");
    assert_eq!(post(&hidden(&text, "revision")).await.status, 303);
    assert!(ada.get(&path).await.text().contains("<h1>Orders</h1>"));
}

/// Returns the value of a hidden input.
fn hidden(html: &str, name: &str) -> String {
    let start = format!("type=\"hidden\" name=\"{name}\" value=\"");
    html.split_once(&start).unwrap().1.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn all_regions_and_copies_need_one_click() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let fields = [
        ("uri", "db.example.com:5432"),
        ("periodicity", "1h"),
        ("region_choice", "all"),
        ("regions", "fly-ams"),
    ];
    let created = ada.post("/w/acme/monitors/new?kind=tcp", &fields).await;
    let path = created.location().unwrap();
    let id = path.rsplit('/').next().unwrap();
    let found = server.caller(Scope::Read).rpc("GetMonitor", json!({ "id": id })).await.json();
    let regions = found["monitor"]["tcp"]["regions"].as_array();
    assert_eq!(regions.map(Vec::len), Some(28), "{found}");
    let copy = ada.get(&format!("/w/acme/monitors/new?from={id}")).await.text();
    assert!(copy.contains("value=\"db.example.com:5432 (copy)\""), "{copy}");
    assert!(copy.contains("action=\"/w/acme/monitors/new?kind=tcp\""), "{copy}");
}

/// Creates a monitor with a form, posts its unchanged form, and returns what is stored.
async fn reads_back_equal(kind: &str, fields: &[(&str, &str)]) -> Value {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let created = ada.post(&format!("/w/acme/monitors/new?kind={kind}"), fields).await;
    let path = created.location().unwrap_or_else(|| panic!("{created}"));
    let id = path.rsplit('/').next().unwrap();
    let stored = async || {
        let caller = server.caller(Scope::Read);
        let found = caller.rpc("GetMonitor", json!({ "id": id })).await.json();
        let mut monitor = found["monitor"][kind].clone();
        for volatile in ["revision", "updatedAt"] {
            monitor.as_object_mut().unwrap().remove(volatile);
        }
        monitor
    };
    let before = stored().await;
    let form = ada.get(&format!("{path}/edit")).await.text();
    let posted = posted_fields(&form);
    for (name, value) in fields {
        let is_shown = posted.iter().any(|it| (it.0.as_str(), it.1.as_str()) == (*name, *value));
        assert!(is_shown, "{name} is not {value} in {posted:?}");
    }
    let posted: Vec<(&str, &str)> =
        posted.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let saved = ada.post(&format!("{path}/edit"), &posted).await;
    assert_eq!(saved.status, 303, "{saved}");
    assert_eq!(stored().await, before, "an unchanged form changes nothing");
    before
}

// issue 18, point 4: "Create and edit all three kinds"
#[tokio::test]
async fn form_of_a_dns_monitor_reads_back_equal() {
    let stored = reads_back_equal(
        "dns",
        &[
            ("uri", "example.com"),
            ("name", "Zone"),
            ("periodicity", "10m"),
            ("timeout", "4000"),
            ("retry", "2"),
            ("active", "true"),
            ("record_assertions[0].record", "A"),
            ("record_assertions[0].target", "192.0.2.1"),
            ("record_assertions[0].comparator", "eq"),
            ("record_assertions[1].record", "MX"),
            ("record_assertions[1].target", "10 mail.example.com"),
            ("record_assertions[1].comparator", "not_contains"),
        ],
    )
    .await;
    assert_eq!(stored["uri"], "example.com");
    assert_eq!(
        stored["recordAssertions"],
        json!([
            { "record": "A", "target": "192.0.2.1", "comparator": "eq" },
            { "record": "MX", "target": "10 mail.example.com", "comparator": "not_contains" },
        ])
    );
}

#[tokio::test]
async fn form_of_an_http_monitor_reads_back_equal() {
    let stored = reads_back_equal(
        "http",
        &[
            ("url", "https://example.com/health?a=1&b=%20"),
            ("name", "Shop \u{201c}EU\u{201d} <b>"),
            ("periodicity", "1m"),
            ("method", "POST"),
            ("body", "first line\nsecond line"),
            ("timeout", "4000"),
            ("retry", "2"),
            ("active", "true"),
            ("headers[0].key", "X-Key"),
            ("headers[0].value", "a \"quoted\" & value"),
            ("status_code_assertions[0].target", "204"),
            ("status_code_assertions[0].comparator", "eq"),
        ],
    )
    .await;
    assert_eq!(stored["method"], "POST");
    assert_eq!(stored["headers"][0]["key"], "X-Key");
    assert_eq!(stored["statusCodeAssertions"][0]["target"], 204);
}

#[tokio::test]
async fn form_of_a_tcp_monitor_reads_back_equal() {
    let fields = [
        ("uri", "example.com:5432"),
        ("name", "Database"),
        ("periodicity", "5m"),
        ("timeout", "3000"),
        ("retry", "1"),
    ];
    let stored = reads_back_equal("tcp", &fields).await;
    assert_eq!(stored["uri"], "example.com:5432");
}

// A name was checked only once it was stored.
#[tokio::test]
async fn name_of_a_private_address_is_warned_about() {
    let names = DnsTarget::start().await;
    names.address_of("inside.test", "10.0.0.1");
    let server = TestServer::start_with(|settings| {
        settings.allow_private_networks = false;
        settings.nameservers = vec![names.address()];
    })
    .await;
    let ada = Person::set_up(&server).await;
    for (kind, field) in
        [("http", ("url", "http://inside.test/")), ("tcp", ("uri", "inside.test:80"))]
    {
        let fields = [field, ("name", "Inside"), ("periodicity", "1m")];
        let reply = ada.post(&format!("/w/acme/monitors/new?kind={kind}"), &fields).await;
        let text = reply.text();
        assert!(text.contains("These checks cannot succeed"), "{kind}: {text}");
        assert!(text.contains("10.0.0.1"), "{kind}: {text}");
    }
    assert_eq!(count(&server).await, 0);
}

/// Returns a text of a page without the escapes of HTML.
fn decoded(text: &str) -> String {
    let escapes = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    escapes.iter().fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

/// Returns the fields that a browser posts from the form of a monitor.
fn posted_fields(page: &str) -> Vec<(String, String)> {
    let form = between(page, "id=\"monitor-form\">", "</form>");
    let attribute = |tag: &str, name: &str| {
        tag.split_once(&format!(" {name}=\"")).map(|(_, it)| decoded(it.split('"').next().unwrap()))
    };
    let (mut fields, mut choosing) = (Vec::new(), None);
    let mut is_template = false;
    for (tag, text) in form.split('<').skip(1).filter_map(|rest| rest.split_once('>')) {
        let name = attribute(tag, "name");
        if tag.starts_with("template") || tag.starts_with("/template") {
            is_template = tag.starts_with("template");
        }
        if is_template {
            continue;
        }
        if tag.starts_with("select") {
            choosing = name;
        } else if tag.starts_with("option") && tag.ends_with(" selected") {
            fields.extend(choosing.clone().zip(attribute(tag, "value")));
        } else if tag.starts_with("textarea") {
            fields.extend(name.map(|name| (name, decoded(text.trim_start_matches('\n')))));
        } else if tag.starts_with("input") {
            let is_choice =
                ["checkbox", "radio"].contains(&&*attribute(tag, "type").unwrap_or_default());
            if !is_choice || tag.ends_with(" checked") {
                fields.extend(name.zip(attribute(tag, "value")));
            }
        }
    }
    fields
}

// decision 0085
#[tokio::test]
async fn form_keeps_the_private_key_without_showing_it() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let key = format!("hunter2\n{}", pem::KEY);
    let start = [("url", "https://example.com/"), ("periodicity", "1m")];
    let pair = [("client_certificate", pem::CERTIFICATE), ("client_key", &key)];
    let created = ada.post("/w/acme/monitors/new", &[start, pair].concat()).await;
    let path = created.location().unwrap();
    let id = path.rsplit('/').next().unwrap();
    let copy = format!("/w/acme/monitors/new?from={id}");
    for page in ["", "/edit", "/curl", "/terraform"].map(|page| format!("{path}{page}")) {
        let text = ada.get(&page).await.text();
        assert!(!text.contains("hunter2") && !text.contains("PRIVATE KEY"), "{page}: {text}");
    }
    assert!(!ada.get(&copy).await.text().contains("hunter2"));
    let edit = format!("{path}/edit");
    assert!(ada.get(&edit).await.text().contains("(unchanged)"));
    let stored = async || {
        let caller = server.caller(Scope::Write);
        caller.rpc("GetMonitor", json!({ "id": id })).await.json()["monitor"]["http"].clone()
    };
    let kept = [("client_certificate", pem::CERTIFICATE), ("client_key", "(unchanged)")];
    let fields = [&start[..], &kept, &[("name", "renamed")]].concat();
    assert_eq!(ada.post(&edit, &fields).await.status, 303);
    let monitor = stored().await;
    assert_eq!((&monitor["name"], &monitor["clientKey"]), (&json!("renamed"), &json!(key)));
    let test = format!("/w/acme/monitors/test?kind=http&monitor={id}");
    let other = [("client_certificate", pem::OTHER_CERTIFICATE), ("client_key", "(unchanged)")];
    let tested = ada.post(&test, &[start, other].concat()).await.text();
    assert!(tested.contains("id=\"client_key-error\""), "the stored key has another certificate");
    let removed = [("client_certificate", ""), ("client_key", "")];
    assert_eq!(ada.post(&edit, &[start, removed].concat()).await.status, 303);
    assert!(stored().await.get("clientKey").is_none());
}
