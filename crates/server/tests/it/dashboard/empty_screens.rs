//! Screens of an empty workspace name the next step.

use http::Method;
use testkit::person::Person;
use testkit::server::TestServer;

use super::settings::between;

/// Lists that are empty in a new workspace.
const EMPTY: &[&str] = &[
    "/w/{workspace}",
    "/w/{workspace}/incidents",
    "/w/{workspace}/maintenance",
    "/w/{workspace}/monitors",
    "/w/{workspace}/pages",
    "/w/{workspace}/probes",
    "/w/{workspace}/settings/keys",
    "/w/{workspace}/status-reports",
    "/w/{workspace}/status-reports/new",
    "/w/{workspace}/status-reports/templates",
    "/w/{workspace}/uptime",
];

/// Returns the parts of a page that say that something is empty.
fn empty_parts(page: &str) -> impl Iterator<Item = &str> {
    page.split("class=\"empty").skip(1).map(|part| {
        let end = part.find("</section>").into_iter().chain(part.find("</div>")).min();
        &part[..end.unwrap_or(part.len())]
    })
}

/// Returns whether a part has a link to a screen that exists, or to a field of its own page.
async fn has_next_step(person: &Person, page: &str, part: &str) -> bool {
    let links: Vec<&str> =
        part.split("<a ").skip(1).map(|link| between(link, "href=\"", "\"")).collect();
    for link in &links {
        if let Some(field) = link.strip_prefix('#') {
            assert!(page.contains(&format!("id=\"{field}\"")), "{link} does not exist");
        } else {
            let reply = person.open(link).await;
            assert_eq!(reply.status, 200, "{link}: {reply}");
        }
    }
    !links.is_empty()
}

// issue 18, point 7: "empty states with the next step"
#[tokio::test]
async fn every_empty_list_has_a_next_step() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let made = ada.post("/workspaces/new", &[("name", "Fresh")]).await;
    assert_eq!(made.location().as_deref(), Some("/w/fresh"), "{made}");
    let mut found = Vec::new();
    for rule in dashboard::route_rules().filter(|rule| rule.method == Method::GET) {
        let below = rule.path.strip_prefix("/w/{workspace}");
        if below.is_none_or(|below| below.contains('{') || below == "/events") {
            continue;
        }
        let page = ada.get(&rule.path.replace("{workspace}", "fresh")).await.text();
        for part in empty_parts(&page) {
            assert!(has_next_step(&ada, &page, part).await, "{}: {part}", rule.path);
            found.push(rule.path);
        }
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, EMPTY);
    // A channel is chosen from its kinds, and members and changes exist from the start.
    let channels = ada.get("/w/fresh/channels").await.text();
    assert!(channels.contains("Nobody is alerted yet") && channels.contains("?kind=webhook"));
}

#[tokio::test]
async fn empty_parts_of_pages_have_a_next_step() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let made = ada.post("/w/acme/pages/new", &[("title", "Status")]).await;
    let page = made.location().unwrap();
    let hook = [("webhook.endpoint", "http://127.0.0.1:9/"), ("action", "create")];
    let made = ada.post("/w/acme/channels/new?kind=webhook", &hook).await;
    let channel = made.location().unwrap();
    let channel = channel.split('?').next().unwrap();
    let shown = ada.get(&page).await.text();
    let add = format!("href=\"{}/components/new\"", page.split('?').next().unwrap());
    assert!(shown.contains("Nothing to show yet") && shown.contains(&add), "{shown}");
    for path in [format!("{page}/monitors"), format!("{channel}/monitors")] {
        let text = ada.get(&path).await.text();
        let part = empty_parts(&text).next().unwrap_or_else(|| panic!("{path}: {text}"));
        assert!(has_next_step(&ada, &text, part).await, "{path}: {part}");
    }
    let subscribers = ada.get(&format!("{page}/subscribers")).await.text();
    assert!(
        subscribers.contains("Nobody subscribed yet") && subscribers.contains("name=\"email\"")
    );
    let deliveries = ada.get(channel).await.text();
    let test = format!("action=\"{channel}/test\"");
    assert!(deliveries.contains("Nothing was sent yet") && deliveries.contains(&test));
    let monitor = [("url", "https://example.com"), ("periodicity", "1m")];
    let monitor = ada.post("/w/acme/monitors/new", &monitor).await.location().unwrap();
    let monitor = monitor.split('?').next().unwrap();
    assert_eq!(ada.post(&format!("{monitor}/pause"), &[]).await.status, 303);
    let filtered = ada.get("/w/acme/monitors?q=nothing").await.text();
    let part = empty_parts(&filtered).next().unwrap();
    assert!(has_next_step(&ada, &filtered, part).await, "{part}");
}
