//! A database that hangs: every screen and every form of the router's list says so, within one deadline
//! that `access` tests.

use std::time::Duration;

use dashboard::{Access, RouteRule};
use futures_util::future::join_all;
use http::Method;
use rules::Secret;
use store::Database;
use testkit::flaky_proxy::FlakyProxy;
use testkit::person::Person;
use testkit::postgres;
use testkit::server::{Reply, TestServer};

use super::headers::assert_strict;
use super::sample::{Sample, add_person};

/// Timeout that no answer exceeds, even on a busy machine. The deadline itself is a constant.
const PATIENCE: Duration = Duration::from_mins(1);
/// Screens and forms of people who are not signed in, and files, that need no database.
const WITHOUT_DATABASE: &[&str] = &[
    "GET /assets/{version}/{name}",
    "GET /forgot",
    "POST /forgot",
    "GET /login",
    "GET /login/code",
    "POST /login/code",
    "GET /login/provider",
    "GET /login/provider/callback",
    "POST /login/passkey/options",
    "POST /login/passkey",
];

/// Asks for a route.
async fn answer(person: &Person, sample: &Sample, rule: &RouteRule) -> Reply {
    let path = sample.values.path(rule.path);
    let asked = async {
        if rule.method == Method::POST {
            let fields = [
                ("email", "ada@example.com"),
                ("password", "wrong horse"),
                ("name", "Ada"),
                ("workspace", "Acme"),
            ];
            person.post(&path, &fields).await
        } else {
            person.get(&path).await
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap_or_else(|_| panic!("{rule:?} hangs"))
}

// issue 18, bad input: "If the database hangs, show a page that says so within 3 s"
#[tokio::test]
async fn hanging_database_is_reported_by_every_route() {
    let line = FlakyProxy::start(&postgres::database()).await;
    let address = line.address();
    let server = TestServer::start_with(|settings| {
        settings.database = Database::Postgres(Secret::new(address));
    })
    .await;
    let mut sample = Sample::on(server).await;
    add_person(&sample.trouble.watched.server, "ada@example.com", &mut sample.values).await;
    let ada = &sample.trouble.ada;
    assert_eq!(ada.get("/w/acme").await.status, 200);
    line.silence();
    // Logins of programs are in memory until a person decides.
    let is_asked = |rule: &RouteRule| rule.access != Access::Program;
    let rules: Vec<RouteRule> = dashboard::route_rules().filter(is_asked).collect();
    let answers = join_all(rules.iter().map(|rule| answer(ada, &sample, rule))).await;
    let mut wrong = Vec::new();
    for (rule, reply) in rules.iter().zip(answers) {
        let name = format!("{} {}", rule.method, rule.path);
        let is_reported =
            reply.status == 503 && reply.text().contains("The database does not answer");
        let needs_none = WITHOUT_DATABASE.contains(&&*name);
        if is_reported {
            assert_strict(&name, &reply);
        }
        if is_reported == needs_none || (needs_none && rule.access != Access::Anyone) {
            wrong.push(format!("{name}: {reply}"));
        }
    }
    line.restore();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
