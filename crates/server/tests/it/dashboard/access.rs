//! Every route admits only people with the role that it needs, from the router's own list: anonymous
//! people, members of each role, and the owner of another workspace; with each method.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dashboard::{Access, RouteRule};
use http::Method;
use http::header::ALLOW;
use rules::Role;
use testkit::person::Person;
use testkit::server::{Reply, TestServer};

use super::account::audit;
use super::sample::{PathValues, Sample, add_person};
use super::settings::join;

/// Audit entries to compare: more than a walk writes.
const ALL: u32 = 10_000;
/// The stream of events does not end, so only its head is asked for.
pub(super) const STREAM: &str = "/w/{workspace}/events";

/// A kind of person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walker {
    Anonymous,
    Member(Role),
    /// Owns another workspace and is no member of this one.
    Stranger,
}

/// Answer that a route must give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Admitted,
    /// The login for GET, 401 for POST.
    SignIn,
    /// 403 with the name of the role.
    NeedsRole(Role),
    /// 404, as if the workspace did not exist.
    Hidden,
}

impl Walker {
    fn expects(self, access: Access) -> Expected {
        match (access, self) {
            (Access::Anyone | Access::Program, _)
            | (Access::SignedIn, Self::Member(_) | Self::Stranger) => Expected::Admitted,
            (Access::SignedIn | Access::Member(_), Self::Anonymous) => Expected::SignIn,
            (Access::Member(_), Self::Stranger) => Expected::Hidden,
            (Access::Member(needs), Self::Member(has)) if has.includes(needs) => Expected::Admitted,
            (Access::Member(needs), Self::Member(_)) => Expected::NeedsRole(needs),
        }
    }

    /// Returns the person, and sets what the paths of their own account name.
    async fn person(self, sample: &mut Sample) -> Person {
        let (email, person) = match self {
            Self::Anonymous => ("ada@example.com", Person::new(&sample.trouble.watched.server)),
            Self::Member(Role::Owner) => {
                let person = Person::sign_in(sample.server(), "ada@example.com").await;
                ("ada@example.com", person)
            }
            Self::Member(role) => {
                let ada = &sample.trouble.ada;
                ("vera@example.com", join(sample.server(), ada, "vera@example.com", role).await)
            }
            Self::Stranger => ("eve@example.com", stranger(sample).await),
        };
        add_person(&sample.trouble.watched.server, email, &mut sample.values).await;
        person
    }

    /// Returns a role that this person may not give to themselves, or the one that they have.
    const fn role_to_take(self) -> &'static str {
        if matches!(self, Self::Member(Role::Admin)) { "admin" } else { "owner" }
    }
}

/// Returns a person who left the workspace `acme` and owns another one.
async fn stranger(sample: &Sample) -> Person {
    let (server, ada) = (sample.server(), &sample.trouble.ada);
    let eve = join(server, ada, "eve@example.com", Role::Viewer).await;
    let created = eve.post("/workspaces/new", &[("name", "Elsewhere")]).await;
    assert_eq!(created.location().as_deref(), Some("/w/elsewhere"), "{created}");
    let store = &server.running().app().store;
    let (user, _) = store.users().find_for_sign_in("eve@example.com").await.unwrap().unwrap();
    let left = eve.post(&format!("/w/acme/settings/members/{}/remove", user.id), &[]).await;
    assert_eq!(left.status, 303, "{left}");
    assert_eq!(eve.get("/w/elsewhere").await.status, 200);
    eve
}

/// Returns a form with which the post would change something if it were admitted.
fn form<'v>(route: &str, walker: Walker, values: &'v PathValues) -> Vec<(&'v str, &'v str)> {
    let below = route.strip_prefix("/w/{workspace}").unwrap_or(route);
    match below {
        "/start" | "/monitors/new" => vec![("url", "https://example.com"), ("periodicity", "1m")],
        "/monitors/bulk" => vec![("action", "pause"), ("monitor", values.get("monitor"))],
        "/monitors/{monitor}/check" => vec![],
        "/settings" => vec![("name", "Renamed"), ("slug", "acme")],
        "/settings/delete" => vec![("confirm", "acme")],
        "/settings/keys" => vec![("name", "mine"), ("scope", "write"), ("days", "0")],
        "/settings/invitations" => vec![("email", "new@example.com"), ("role", "viewer")],
        "/settings/members/{user}/role" => vec![("role", walker.role_to_take())],
        "/incidents/{incident}/comment" => vec![("text", "Mine")],
        "/incidents/{incident}/write-up" => vec![("action", "save"), ("text", "Mine")],
        "/channels/new" => vec![("webhook.endpoint", "http://127.0.0.1:9/"), ("action", "create")],
        "/pages/new" | "/status-reports/{report}/title" => vec![("title", "Mine")],
        "/pages/{page}/publication" => vec![("published", "false")],
        "/pages/{page}/theme" => vec![("theme", "dark")],
        "/pages/{page}/indexing" => vec![("allow", "false")],
        "/pages/{page}/components/new" | "/pages/{page}/groups/new" | "/account/name" => {
            vec![("name", "Mine")]
        }
        "/probes" => vec![("name", "mine"), ("regions", "railway-us-west2")],
        "/uptime/summary" => vec![("wanted", "true")],
        "/channels/signing" => vec![("overlap_hours", "24")],
        _ => vec![("walk", "1")],
    }
}

/// Returns the routes in an order in which nothing is gone before it is named: those that only read,
/// those that change, those that end or delete a part, and those that end the walk.
pub(super) fn in_order() -> Vec<RouteRule> {
    let rank = |rule: &RouteRule| {
        let is = |end: &str| rule.path.ends_with(end);
        if rule.method == Method::GET {
            0
        } else if is("/logout") {
            5
        } else if is("/settings/members/{user}/remove") || is("/end-others") {
            4
        } else if is("/delete") || is("/remove") {
            3
        } else if is("/end") || is("/revoke") {
            2
        } else {
            1
        }
    };
    let mut rules: Vec<RouteRule> = dashboard::route_rules().collect();
    // A part has a longer path than the whole.
    rules.sort_by_key(|rule| (rank(rule), std::cmp::Reverse(rule.path.len())));
    rules
}

/// Returns whether the answer is the expected one.
fn is_expected(expected: Expected, rule: &RouteRule, reply: &Reply) -> bool {
    let (status, is_get) = (reply.status.as_u16(), rule.method == Method::GET);
    let is_login = reply.location().is_some_and(|path| path.starts_with("/login?next="));
    match expected {
        // The person who accepts an invitation signs in or creates an account first.
        Expected::Admitted if is_login => rule.path == "/invite/{token}",
        // The walk knows no password.
        Expected::Admitted if status == 401 => rule.path == "/login",
        Expected::Admitted => {
            is_missing(rule, status) || !matches!(status, 401 | 403 | 404 | 405 | 500..)
        }
        Expected::SignIn if is_get => is_login,
        Expected::SignIn => status == 401,
        Expected::Hidden => status == 404,
        Expected::NeedsRole(role) => {
            status == 403 && reply.text().contains(&format!("this needs the role {role}."))
        }
    }
}

/// Returns whether the thing behind a route does not exist on the server of this test: single sign-on,
/// passkeys, which need a domain, and the file of another version.
fn is_missing(rule: &RouteRule, status: u16) -> bool {
    let is_below = |start: &str| rule.path.starts_with(start);
    match status {
        404 => is_below("/login/provider") || is_below("/assets/"),
        503 => rule.path.contains("/passkey"),
        _ => false,
    }
}

/// Returns the stored state as the generations and audit logs of both workspaces have it.
async fn state(server: &TestServer) -> String {
    let store = &server.running().app().store;
    let mut lines = Vec::new();
    for slug in ["acme", "other"] {
        let workspace = store.workspaces().by_slug(slug).await.unwrap().id;
        let entries = store.audit().newest(workspace, ALL).await.unwrap();
        lines.push(format!("{:?} {entries:?}", store.generation(workspace)));
    }
    lines.join("\n")
}

/// Takes every route as this person. Reads and refused posts change nothing.
async fn walk(walker: Walker) {
    let mut sample = Box::pin(Sample::start()).await;
    let person = walker.person(&mut sample).await;
    let mut holes = Vec::new();
    for rule in in_order() {
        let (path, expected) = (sample.values.path(rule.path), walker.expects(rule.access));
        let before = state(sample.server()).await;
        let reply = if rule.method == Method::POST {
            let query = if rule.path.ends_with("/channels/new") { "?kind=webhook" } else { "" };
            let form = form(rule.path, walker, &sample.values);
            person.post(&format!("{path}{query}"), &form).await
        } else if rule.path == STREAM && expected == Expected::Admitted {
            person.try_method(Method::HEAD, &path).await
        } else {
            person.get(&path).await
        };
        let what = format!("{} {}", rule.method, rule.path);
        if !is_expected(expected, &rule, &reply) {
            holes.push(format!("{what} is not {expected:?}: {reply}"));
        }
        let only_reads = rule.method == Method::GET && matches!(rule.access, Access::Member(_));
        let may_change = expected == Expected::Admitted && !only_reads;
        if !may_change && state(sample.server()).await != before {
            holes.push(format!("{what} changed something"));
        }
    }
    assert!(holes.is_empty(), "{walker:?}: {holes:#?}");
}

// issue 18, tests: "Walk all routes × (anonymous, viewer, editor, admin, owner, another workspace's
// owner) × (GET, POST) from the router's own list"
#[tokio::test]
async fn anonymous_person_is_led_to_the_login() {
    walk(Walker::Anonymous).await;
}

#[tokio::test]
async fn viewer_reads_and_changes_nothing() {
    walk(Walker::Member(Role::Viewer)).await;
}

#[tokio::test]
async fn editor_is_kept_out_of_administration() {
    walk(Walker::Member(Role::Editor)).await;
}

#[tokio::test]
async fn admin_is_kept_out_of_ownership() {
    walk(Walker::Member(Role::Admin)).await;
}

#[tokio::test]
async fn owner_is_admitted_to_every_route() {
    walk(Walker::Member(Role::Owner)).await;
}

#[tokio::test]
async fn workspace_does_not_exist_for_other_owners() {
    walk(Walker::Stranger).await;
}

#[tokio::test]
async fn other_methods_are_refused_with_the_allowed_ones() {
    let sample = Sample::start().await;
    let mut values = sample.values.clone();
    add_person(sample.server(), "ada@example.com", &mut values).await;
    let mut known: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for rule in dashboard::route_rules() {
        let allowed = known.entry(rule.path).or_default();
        allowed.insert(rule.method.to_string());
        if rule.method == Method::GET {
            allowed.insert(Method::HEAD.to_string());
        }
    }
    for (route, allowed) in known {
        let path = values.path(route);
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            if allowed.contains(method.as_str()) {
                continue;
            }
            let reply = sample.trouble.ada.try_method(method.clone(), &path).await;
            assert_eq!(reply.status, 405, "{method} {route}: {reply}");
            let named = reply.headers.get(ALLOW).map(|it| it.to_str().unwrap().to_owned());
            let named: BTreeSet<String> =
                named.iter().flat_map(|it| it.split(',')).map(|it| it.trim().to_owned()).collect();
            assert_eq!(named, allowed, "{method} {route}");
        }
    }
}

#[tokio::test]
async fn post_from_another_site_is_refused() {
    let sample = Sample::start().await;
    let mut values = sample.values.clone();
    add_person(sample.server(), "ada@example.com", &mut values).await;
    let ada = &sample.trouble.ada;
    let posts = dashboard::route_rules().filter(|rule| rule.method == Method::POST);
    for (number, rule) in posts.enumerate() {
        // Each person has 20 recorded refusals in 15 minutes.
        if number % 10 == 0 {
            sample.server().advance(Duration::from_mins(15));
        }
        let walker = Walker::Member(Role::Owner);
        let fields = form(rule.path, walker, &values);
        let reply = ada.post_from_another_site(&values.path(rule.path), &fields).await;
        assert_eq!(reply.status, 403, "{}", rule.path);
        assert!(reply.text().contains("came from another site"), "{}", rule.path);
        let entries = audit(sample.server()).await;
        let expected = format!("user.cross_site_post: {}", values.path(rule.path));
        assert!(entries.contains(&expected), "{expected} is not in {entries:#?}");
    }
    assert_eq!(ada.get("/account").await.status, 200);
    let monitor = values.path("/w/{workspace}/monitors/{monitor}");
    assert_eq!(ada.get(&monitor).await.status, 200);
}
