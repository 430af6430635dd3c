//! Hand-made requests: whatever a form or an address lacks, the answer is a page that says so. The forms
//! are those of the screens themselves.

use std::collections::{BTreeMap, BTreeSet};

use dashboard::{Access, RouteRule};
use http::Method;
use rules::ProviderType;
use testkit::person::Person;
use testkit::server::{Reply, TestServer};

use super::access::{STREAM, in_order};
use super::sample::{Sample, add_person};
use super::settings::between;

/// Routes whose answers a script reads.
const FOR_SCRIPTS: &[&str] =
    &["/login/passkey", "/login/passkey/options", "/account/passkeys", "/account/passkeys/options"];
/// Names in queries of screens.
const QUERY_NAMES: &[&str] = &[
    "actor", "after", "change", "code", "domain", "error", "format", "from", "iss", "kind",
    "monitor", "month", "next", "on", "order", "page", "period", "q", "range", "resource", "show",
    "state", "status", "tag", "target", "template", "title", "to",
];

/// A form of a screen: the query of its action, and its fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ScreenForm {
    query: String,
    fields: Vec<(String, String)>,
}

/// Forms by the path of their route.
type Forms = BTreeMap<&'static str, BTreeSet<ScreenForm>>;

/// Returns the value of an attribute of a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let value = rest.split('"').next()?;
    Some(value.replace("&amp;", "&").replace("&#38;", "&").replace("&#34;", "\""))
}

/// Returns the fields of a form with a value each, and the actions of the form and its buttons.
fn read_form(html: &str) -> (Vec<(String, String)>, Vec<String>) {
    let (mut fields, mut actions) = (Vec::<(String, String)>::new(), Vec::new());
    for (at, _) in html.match_indices('<') {
        let tag = html[at..].split('>').next().unwrap_or_default();
        actions.extend(attribute(tag, "action"));
        actions.extend(attribute(tag, "formaction"));
        let Some(name) = attribute(tag, "name") else { continue };
        let value = if tag.starts_with("<select") {
            html[at..].split("<option").nth(1).and_then(|option| attribute(option, "value"))
        } else {
            attribute(tag, "value")
        };
        if fields.iter().all(|(known, _)| *known != name) {
            fields.push((name, value.unwrap_or_default()));
        }
    }
    (fields, actions)
}

/// Returns the route of a path.
fn route(path: &str) -> Option<&'static str> {
    let is = |rule: &RouteRule| {
        let (given, parts) = (path.split('/'), rule.path.split('/'));
        rule.method == Method::POST
            && given.clone().count() == parts.clone().count()
            && given.zip(parts).all(|(given, part)| part.starts_with('{') || part == given)
    };
    // A path without a parameter is another route than one with a value for it.
    let mut found: Vec<_> = dashboard::route_rules().filter(is).map(|rule| rule.path).collect();
    found.sort_by_key(|path| path.matches('{').count());
    found.first().copied()
}

/// Adds the forms of a page.
fn add_forms(page: &str, forms: &mut Forms) {
    for form in page.split("<form method=\"post\"").skip(1) {
        let form = format!("<form{}", form.split("</form>").next().unwrap_or_default());
        let (fields, actions) = read_form(&form);
        for action in actions {
            let (path, query) = action.split_once('?').unwrap_or((&action, ""));
            let route = route(path).unwrap_or_else(|| panic!("no route for {path}"));
            let (query, fields) = (query.to_owned(), fields.clone());
            forms.entry(route).or_default().insert(ScreenForm { query, fields });
        }
    }
}

/// Returns the forms of all screens that a person sees.
async fn forms(person: &Person, sample: &Sample) -> Forms {
    let mut forms = Forms::new();
    let screens = dashboard::route_rules()
        .filter(|rule| rule.method == Method::GET && rule.path != STREAM)
        .map(|rule| sample.values.path(rule.path));
    let kinds = ProviderType::ALL.iter().map(|it| format!("/w/acme/channels/new?kind={it}"));
    let monitors = ["tcp", "dns"].map(|it| format!("/w/acme/monitors/new?kind={it}"));
    for path in screens.chain(kinds).chain(monitors) {
        add_forms(&person.get(&path).await.text(), &mut forms);
    }
    forms
}

/// Returns what is wrong with an answer.
fn fault(route: &str, reply: &Reply) -> Option<&'static str> {
    let kind = reply.headers.get("content-type").map_or("", |it| it.to_str().unwrap());
    let is_for_script = FOR_SCRIPTS.contains(&route);
    // Passkeys need a domain.
    if reply.status.is_server_error() && !(is_for_script && reply.status == 503) {
        return Some("fails");
    }
    if kind.starts_with("text/plain") && !is_for_script {
        return Some("is bare text");
    }
    let is_refusal = reply.status.is_client_error();
    (is_refusal && !is_for_script && !reply.text().contains("<h1")).then_some("has no heading")
}

/// Posts forms with parts of their fields.
struct Walk {
    sample: Sample,
    wrong: Vec<String>,
    posts: usize,
}

impl Walk {
    async fn post(&mut self, (route, query): (&str, &str), fields: &[(String, String)], how: &str) {
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let path = format!("{}?{query}", self.sample.values.path(route));
        let reply = self.sample.trouble.ada.post(&path, &fields).await;
        self.posts += 1;
        if let Some(fault) = fault(route, &reply) {
            self.wrong.push(format!("{route}?{query} {how} {fault}: {reply}"));
        }
    }

    /// Posts a form without each of its fields, and with all of them twice.
    async fn post_form(&mut self, route: &str, form: &ScreenForm) {
        let to = (route, form.query.as_str());
        for (name, _) in &form.fields {
            let rest = form.fields.iter().filter(|(known, _)| known != name);
            let rest: Vec<_> = rest.cloned().collect();
            self.post(to, &rest, &format!("without {name}")).await;
        }
        let twice = [&form.fields[..], &form.fields[..]].concat();
        self.post(to, &twice, "with two of each").await;
    }
}

// issue 18, bad input: "Show each field's message beside it and keep the input"
#[tokio::test]
async fn forms_without_fields_are_answered_with_pages() {
    let mut sample = Box::pin(Sample::start()).await;
    add_person(&sample.trouble.watched.server, "ada@example.com", &mut sample.values).await;
    let mut forms = forms(&sample.trouble.ada, &sample).await;
    add_forms(&Person::new(sample.server()).get("/login").await.text(), &mut forms);
    add_forms(&Person::new(sample.server()).get("/forgot").await.text(), &mut forms);
    let mut walk = Walk { sample, wrong: Vec::new(), posts: 0 };
    // Programs get JSON.
    let is_form = |rule: &RouteRule| rule.method == Method::POST && rule.access != Access::Program;
    for rule in in_order().into_iter().filter(is_form) {
        let route = rule.path;
        let path = walk.sample.values.path(route);
        let json = walk.sample.trouble.ada.post_content(&path, "application/json", "{}").await;
        if let Some(fault) = fault(route, &json) {
            walk.wrong.push(format!("{route} with JSON {fault}: {json}"));
        }
        for form in forms.remove(route).unwrap_or_default() {
            walk.post_form(route, &form).await;
        }
        walk.post((route, ""), &[], "without fields").await;
    }
    assert!(walk.wrong.is_empty(), "{:#?}", walk.wrong);
    assert!(walk.posts > 300, "only {} forms were posted", walk.posts);
}

/// Posts a form without fields, and checks the messages beside these.
async fn refuses(person: &Person, path: &str, fields: &[&str]) {
    let reply = person.post(path, &[]).await;
    assert_eq!(reply.status, 422, "{path}: {reply}");
    for field in fields {
        let id = format!("id=\"{field}-error\"");
        assert!(reply.text().contains(&id), "{path} has no {id}: {reply}");
    }
}

#[tokio::test]
async fn missing_fields_have_messages_beside_them() {
    let server = TestServer::start().await;
    let link = server.running().setup_link().await.unwrap().unwrap();
    let setup = link.expose().split_once("/setup/").unwrap().1.to_owned();
    let fields = ["name", "email", "password", "workspace"];
    refuses(&Person::new(&server), &format!("/setup/{setup}"), &fields).await;
    let ada = Person::set_up(&server).await;
    let invited = ada.post("/w/acme/settings/invitations", &[("role", "viewer")]).await.text();
    let invitation = format!("/invite/{}/account", between(&invited, "/invite/", "<"));
    refuses(&Person::new(&server), &invitation, &["name", "email", "password"]).await;
    for (path, fields) in [
        ("/account/name", &["name"][..]),
        ("/account/email", &["email"]),
        ("/account/password", &["current"]),
        ("/workspaces/new", &["name"]),
        ("/w/acme/settings", &["name", "slug"]),
        ("/w/acme/settings/keys", &["name", "scope", "days"]),
        ("/w/acme/settings/invitations", &["role"]),
        ("/w/acme/channels/signing", &["overlap_hours"]),
        ("/w/acme/pages/new", &["title"]),
        ("/w/acme/monitors/new", &["url"]),
    ] {
        refuses(&ada, path, fields).await;
    }
}

#[tokio::test]
async fn unreadable_addresses_are_answered_with_pages() {
    let mut sample = Box::pin(Sample::start()).await;
    add_person(&sample.trouble.watched.server, "ada@example.com", &mut sample.values).await;
    let ada = &sample.trouble.ada;
    let twice: Vec<String> = QUERY_NAMES.iter().map(|it| format!("{it}=1&{it}=2")).collect();
    let (twice, mut wrong) = (twice.join("&"), Vec::new());
    for rule in dashboard::route_rules().filter(|rule| rule.method == Method::GET) {
        if rule.path == STREAM {
            continue;
        }
        let path = sample.values.path(rule.path);
        let unreadable: Vec<&str> = rule
            .path
            .split('/')
            .map(|part| if part.starts_with('{') { "%FF" } else { part })
            .collect();
        for path in [format!("{path}?{twice}"), format!("{path}?%FF=%FF"), unreadable.join("/")] {
            let reply = ada.get(&path).await;
            let is_file = rule.path.starts_with("/assets/") && reply.status == 404;
            if let Some(fault) = fault(rule.path, &reply).filter(|_| !is_file) {
                wrong.push(format!("{path} {fault}: {reply}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let repeated = ada.get("/w/acme/channels?after=1&after=2").await;
    assert_eq!(repeated.status, 400, "{repeated}");
    assert!(repeated.text().contains("The address could not be read"), "{repeated}");
}
