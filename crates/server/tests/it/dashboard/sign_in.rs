//! The set-up link, signing in and out.

use http::Request;
use http_body_util::Full;
use testkit::person::{PASSWORD, Person};
use testkit::server::{Caller, Reply, TestServer};

use super::account::assert_audited;

// issue 18, point 1: "a one-time set-up link (absolute, until used)"
#[tokio::test]
async fn setup_link_works_once_and_signs_in() {
    let server = TestServer::start().await;
    let link = server.running().setup_link().await.unwrap().unwrap();
    assert!(link.expose().starts_with(&format!("http://{}/setup/", server.running().address())));
    let path = link.expose().split_once("/setup/").unwrap().1.to_owned();
    let ada = Person::set_up(&server).await;
    let account = ada.get("/account").await;
    assert!(account.status == 200 && account.text().contains("ada@example.com"), "{account}");
    assert!(server.running().setup_link().await.unwrap().is_none());
    let fields = [
        ("name", "Eve"),
        ("email", "eve@example.com"),
        ("password", PASSWORD),
        ("workspace", "Evil"),
    ];
    let eve = Person::new(&server);
    assert_eq!(eve.get(&format!("/setup/{path}")).await.status, 410);
    assert_eq!(eve.post(&format!("/setup/{path}"), &fields).await.status, 410);
    assert_eq!(eve.get("/setup/forged").await.status, 410);
    assert_audited(&server, &["setup_link.refuse:", "setup_link.refuse:", "setup_link.refuse:"])
        .await;
}

#[tokio::test]
async fn invalid_owner_keeps_the_input() {
    let server = TestServer::start().await;
    let link = server.running().setup_link().await.unwrap().unwrap();
    let path = link.expose().split_once("/setup/").unwrap().1.to_owned();
    let ada = Person::new(&server);
    let fields =
        [("name", "Ada"), ("email", "no address"), ("password", "password123"), ("workspace", "")];
    let reply = ada.post(&format!("/setup/{path}"), &fields).await;
    let text = reply.text();
    assert_eq!(reply.status, 422);
    assert!(text.contains("value=\"Ada\"") && text.contains("value=\"no address\""), "{text}");
    assert!(text.contains("most common passwords") && !text.contains("password123"), "{text}");
}

#[tokio::test]
async fn wrong_password_reveals_nothing() {
    let server = TestServer::start().await;
    let _ada = Person::set_up(&server).await;
    let person = Person::new(&server);
    let wrong = async |email: &str| {
        let reply =
            person.post("/login", &[("email", email), ("password", "wrong password")]).await;
        (reply.status, reply.text().replace(email, "…"))
    };
    let (known, unknown) = (wrong("ada@example.com").await, wrong("bob@example.com").await);
    assert_eq!(known.0, 401);
    assert_eq!(known, unknown);
}

#[tokio::test]
async fn session_ends_with_the_sign_out() {
    let server = TestServer::start().await;
    Person::set_up(&server).await;
    let ada = Person::sign_in(&server, "ADA@example.com").await;
    assert_eq!(ada.get("/account").await.status, 200);
    let cookie = ada.cookie("aloft_session").unwrap();
    assert_eq!(ada.post("/logout", &[]).await.location().as_deref(), Some("/login"));
    assert_eq!(ada.cookie("aloft_session"), None);
    let thief = testkit::server::Caller::at(server.running().address(), None);
    let request =
        http::Request::get("/account").header("cookie", format!("aloft_session={cookie}"));
    let request = request.header("host", "a").body(http_body_util::Full::default()).unwrap();
    assert_eq!(thief.request(request).await.status, 303);
}

#[tokio::test]
async fn person_returns_to_the_page_after_signing_in() {
    let server = TestServer::start().await;
    Person::set_up(&server).await;
    let ada = Person::new(&server);
    let login = ada.get("/account").await.location().unwrap();
    assert_eq!(login, "/login?next=%2Faccount");
    assert!(ada.get(&login).await.text().contains("value=\"/account\""));
    let fields = [("email", "ada@example.com"), ("password", PASSWORD), ("next", "/account")];
    assert_eq!(ada.post("/login", &fields).await.location().as_deref(), Some("/account"));
}

/// Submits a wrong password from an address, as a proxy reports it.
async fn fail(server: &TestServer, email: &str, address: &str) -> Reply {
    let body = format!("email={email}&password=wrong");
    let request = Request::post("/login")
        .header("host", server.address().to_string())
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("x-forwarded-for", address);
    let caller = Caller::at(server.address(), None);
    caller.request(request.body(Full::from(body)).unwrap()).await
}

/// Asserts that an attempt is refused for a while.
fn assert_limited(reply: &Reply) {
    assert_eq!(reply.status, 429, "{reply}");
    let seconds: u64 = reply.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=15 * 60).contains(&seconds), "{seconds}");
}

// issue 18, point 1: "limits by account, address and network"
#[tokio::test]
async fn wrong_passwords_are_limited_by_account() {
    let server = behind_a_proxy().await;
    for network in 0..10 {
        let reply = fail(&server, "ada%40example.com", &format!("198.51.{network}.1")).await;
        assert_eq!(reply.status, 401, "{reply}");
    }
    assert_limited(&fail(&server, "Ada%40Example.com", "198.51.100.1").await);
    let other = fail(&server, "bob%40example.com", "198.51.100.1").await;
    assert_eq!(other.status, 401, "{other}");
}

#[tokio::test]
async fn wrong_passwords_are_limited_by_address_and_network() {
    let server = behind_a_proxy().await;
    for (last, accepted) in [(1, 20), (2, 20), (3, 20)] {
        for attempt in 0..accepted {
            let email = format!("user{last}-{attempt}%40example.com");
            let reply = fail(&server, &email, &format!("192.0.2.{last}")).await;
            assert_eq!(reply.status, 401, "{reply}");
        }
        if last == 1 {
            assert_limited(&fail(&server, "eve%40example.com", "192.0.2.1").await);
        }
    }
    // The limit of the network is 60. The attempt that its address refused does not count.
    assert_limited(&fail(&server, "eve%40example.com", "192.0.2.4").await);
    let elsewhere = fail(&server, "eve%40example.com", "203.0.113.1").await;
    assert_eq!(elsewhere.status, 401, "{elsewhere}");
}

/// Starts a server behind a proxy on this machine.
async fn behind_a_proxy() -> TestServer {
    TestServer::start_with(|settings| {
        settings.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await
}

/// Opens a path as a part of another site's page.
async fn open_as_image(server: &TestServer, path: &str) -> Reply {
    let request = Request::get(path)
        .header("host", server.address().to_string())
        .header("sec-fetch-site", "cross-site")
        .header("sec-fetch-dest", "image");
    Caller::at(server.address(), None).request(request.body(Full::default()).unwrap()).await
}

// Twenty images on any website locked sign-in for the network of its visitor.
#[tokio::test]
async fn links_use_up_no_attempts_to_sign_in() {
    let server = TestServer::start().await;
    Person::set_up(&server).await;
    for number in 0..25 {
        for path in ["/reset/x", "/setup/x", "/invite/x"] {
            assert_eq!(open_as_image(&server, path).await.status, 403, "{path}, {number}");
        }
    }
    // Images do not use up links either.
    assert_eq!(Person::new(&server).get("/reset/x").await.status, 410);
    // Old browsers do not say what a request is for.
    for _ in 0..25 {
        Person::new(&server).get("/invite/x").await;
    }
    assert_limited(&Person::new(&server).get("/reset/x").await);
    Person::sign_in(&server, "ada@example.com").await;
}
