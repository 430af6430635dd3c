//! The headers of screens: every page, also one that says that something failed, has a strict content
//! security policy without `unsafe-` and without other origins.

use std::collections::BTreeMap;

use http::Method;
use rules::Role;
use testkit::person::Person;
use testkit::server::{Reply, TestServer};

use super::sample::{Sample, add_person};
use super::settings::join;

/// The stream of events does not end, so only its head is asked for.
const STREAM: &str = "/w/{workspace}/events";
/// A status page in a frame of the dashboard, with the policy of status pages.
const PREVIEW: &str = "/w/{workspace}/pages/{page}/preview";

/// Returns the sources of each directive of a policy.
fn directives(policy: &str) -> BTreeMap<&str, Vec<&str>> {
    let all = policy.split(';').map(str::trim).filter(|it| !it.is_empty());
    all.map(|directive| {
        let mut words = directive.split_whitespace();
        (words.next().unwrap(), words.collect())
    })
    .collect()
}

/// Returns what is wrong with the headers of a page. `framed_by` may show it in a frame.
fn faults(reply: &Reply, framed_by: &str) -> Vec<String> {
    let header =
        |name: &str| reply.headers.get(name).map_or("", |it| it.to_str().unwrap()).to_owned();
    let policy = header("content-security-policy");
    let directives = directives(&policy);
    let mut faults = Vec::new();
    for (name, expected) in [
        // Objects and everything that is not named below may not be loaded.
        ("default-src", "'none'"),
        ("base-uri", "'none'"),
        ("form-action", "'self'"),
        ("frame-ancestors", framed_by),
    ] {
        if directives.get(name).is_none_or(|it| *it != [expected]) {
            faults.push(format!("{name} is not {expected}"));
        }
    }
    for (name, sources) in &directives {
        let is_own = |it: &&&str| ["'none'", "'self'"].contains(*it) || it.starts_with("'sha256-");
        for source in sources.iter().filter(|it| !is_own(it)) {
            faults.push(format!("{name} allows {source}"));
        }
        if sources.contains(&"'none'") && sources.len() > 1 {
            faults.push(format!("{name} has more than 'none'"));
        }
    }
    if directives.get("object-src").is_some_and(|it| *it != ["'none'"]) {
        faults.push("object-src is not 'none'".to_owned());
    }
    for (name, expected) in [
        ("x-content-type-options", &["nosniff"][..]),
        ("referrer-policy", &["same-origin", "no-referrer"]),
    ] {
        if !expected.contains(&&*header(name)) {
            faults.push(format!("{name} is `{}`", header(name)));
        }
    }
    faults
}

fn is_page(reply: &Reply) -> bool {
    let kind = reply.headers.get("content-type").map(|it| it.to_str().unwrap());
    kind.is_some_and(|it| it.starts_with("text/html"))
}

/// Asserts that a screen of the dashboard has its headers.
pub(super) fn assert_strict(what: &str, reply: &Reply) {
    assert!(is_page(reply), "{what} is no page: {reply}");
    assert_eq!(faults(reply, "'none'"), [""; 0], "{what}");
}

// issue 18, targets: "no third party; strict CSP without `unsafe-*`"
#[tokio::test]
async fn every_screen_has_a_strict_policy() {
    let mut sample = Sample::start().await;
    add_person(&sample.trouble.watched.server, "ada@example.com", &mut sample.values).await;
    let stranger = Person::new(sample.server());
    let (mut pages, mut wrong) = (0, Vec::new());
    for rule in dashboard::route_rules().filter(|rule| rule.method == Method::GET) {
        let path = sample.values.path(rule.path);
        for person in [&sample.trouble.ada, &stranger] {
            let method = if rule.path == STREAM { Method::HEAD } else { Method::GET };
            let reply = person.try_method(method, &path).await;
            if !is_page(&reply) {
                continue;
            }
            pages += 1;
            let framed_by = if rule.path == PREVIEW { "'self'" } else { "'none'" };
            let found = faults(&reply, framed_by);
            wrong.extend(found.into_iter().map(|it| format!("{}: {it}", rule.path)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(pages > 60, "only {pages} pages were checked");
}

#[tokio::test]
async fn every_error_has_a_strict_policy() {
    let sample = Sample::start().await;
    let (server, ada) = (sample.server(), &sample.trouble.ada);
    let vera = join(server, ada, "vera@example.com", Role::Viewer).await;
    let stranger = Person::new(server);
    let no_name = [("name", ""), ("scope", "read"), ("days", "0")];
    let wrong = [("email", "ada@example.com"), ("password", "wrong password")];
    for (status, reply) in [
        (401, stranger.post("/login", &wrong).await),
        (401, stranger.post("/w/acme/settings", &[]).await),
        (403, vera.get("/w/acme/monitors/new").await),
        (403, ada.post_from_another_site("/account/name", &[]).await),
        (404, ada.get("/w/nobody").await),
        (404, ada.get("/w/acme/monitors/mon_unknown").await),
        (410, stranger.get("/reset/forged").await),
        (422, ada.post("/w/acme/settings/keys", &no_name).await),
    ] {
        assert_eq!(reply.status, status, "{reply}");
        assert_strict(&status.to_string(), &reply);
    }
}

/// Answers without a page: nothing in them can load or run anything.
#[tokio::test]
async fn refused_methods_have_no_body() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    for path in ["/w/acme", "/w/acme/monitors"] {
        let refused = ada.post(path, &[]).await;
        assert_eq!((refused.status.as_u16(), &*refused.text()), (405, ""), "{path}");
    }
}
