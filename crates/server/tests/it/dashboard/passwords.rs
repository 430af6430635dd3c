//! New passwords: with the current one, and with a link in an email.

use std::time::Duration;

use rules::PasskeyId;
use store::{Actor, AuditContext, NewPasskey};
use testkit::person::{PASSWORD, Person};
use testkit::server::TestServer;

use super::account::{assert_audited, with_mail};

const NEW: &str = "a new and long password";

async fn signs_in(server: &TestServer, password: &str) -> bool {
    let fields = [("email", "ada@example.com"), ("password", password)];
    Person::new(server).post("/login", &fields).await.status == 303
}

#[tokio::test]
async fn new_password_ends_other_sessions() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let elsewhere = Person::sign_in(&server, "ada@example.com").await;
    let before = ada.cookie("aloft_session");
    let change = async |current, password| {
        ada.post("/account/password", &[("current", current), ("password", password)]).await
    };
    let refused = change("wrong password", NEW).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"current-error\""));
    let weak = change(PASSWORD, "password123").await;
    assert!(weak.status == 422 && weak.text().contains("most common passwords"), "{weak}");
    assert_eq!(change(PASSWORD, NEW).await.status, 303);
    assert_ne!(ada.cookie("aloft_session"), before, "the session is a new one");
    assert_eq!(ada.get("/account").await.status, 200);
    assert_eq!(elsewhere.get("/account").await.status, 303);
    assert!(!signs_in(&server, PASSWORD).await && signs_in(&server, NEW).await);
}

#[tokio::test]
async fn link_sets_a_password_once() {
    let (server, mail) = with_mail().await;
    let ada = Person::set_up(&server).await;
    let person = Person::new(&server);
    assert!(person.get("/login").await.text().contains("href=\"/forgot\""));
    let asked = person.post("/forgot", &[("email", "ADA@example.com")]).await;
    let sent = mail.takes(1).await;
    assert_eq!(sent[0].to, ["ada@example.com"]);
    let link = sent[0].text.lines().find(|line| line.starts_with("https://")).unwrap();
    let path = link.strip_prefix("https://aloft.example").unwrap();
    assert_eq!(person.get(path).await.status, 200);
    let weak = person.post(path, &[("password", "password123")]).await;
    assert!(weak.status == 422 && weak.text().contains("most common"), "{weak}");
    let done = person.post(path, &[("password", NEW)]).await;
    assert_eq!(done.location().as_deref(), Some("/login"));
    assert!(person.get("/login").await.text().contains("Your password was changed."));
    assert_eq!(ada.get("/account").await.status, 303, "all sessions end");
    let again = person.post(path, &[("password", "yet another password")]).await;
    assert!(again.status == 410 && again.text().contains("used already"), "{again}");
    assert_eq!(person.get("/reset/forged").await.status, 410);
    let expected =
        ["reset_link.refuse: forged", "user.reset_link_refuse: used", "user.password: with a link"];
    assert_audited(&server, &expected).await;
    assert!(signs_in(&server, NEW).await);
    let unknown = person.post("/forgot", &[("email", "bob@example.com")]).await;
    assert_eq!((unknown.status, unknown.text()), (asked.status, asked.text()));
}

#[tokio::test]
async fn link_shows_passkeys_and_removes_ticked_ones() {
    let (server, mail) = with_mail().await;
    let _ada = Person::set_up(&server).await;
    let store = &server.running().app().store;
    let (user, _) = store.users().find_for_sign_in("ada@example.com").await.unwrap().unwrap();
    let change = AuditContext::new(Actor::Server, server.running().app().ctx.now());
    for (number, name) in [(1, "Laptop"), (2, "Not <mine>")] {
        let passkey = NewPasskey {
            id: PasskeyId::from_bits(number),
            user: user.id,
            credential_id: vec![number as u8],
            public_key: vec![1],
            state: vec![1],
            name: name.to_owned(),
        };
        store.passkeys().add(passkey, change).await.unwrap();
    }
    let person = Person::new(&server);
    person.post("/forgot", &[("email", "ada@example.com")]).await;
    let sent = mail.takes(1).await;
    let link = sent[0].text.lines().find(|line| line.starts_with("https://")).unwrap();
    let path = link.strip_prefix("https://aloft.example").unwrap();
    let page = person.get(path).await.text();
    assert!(page.contains("Laptop") && page.contains("Not &#60;mine&#62;"), "{page}");
    let stranger = PasskeyId::from_bits(2).to_string();
    let fields = |password| [("password", password), ("remove", stranger.as_str())];
    let weak = person.post(path, &fields("short")).await.text();
    assert!(weak.contains(&format!("value=\"{stranger}\" checked")), "{weak}");
    assert_eq!(store.passkeys().list(user.id).await.unwrap().len(), 2);
    let done = person.post(path, &fields(NEW)).await;
    assert_eq!(done.location().as_deref(), Some("/login"));
    let left = store.passkeys().list(user.id).await.unwrap();
    assert_eq!((left.len(), left[0].name.as_str()), (1, "Laptop"));
    let told = mail.takes(2).await;
    assert!(told[1].text.contains("and removed a passkey"), "{}", told[1].text);
}

#[tokio::test]
async fn old_link_says_that_it_expired() {
    let (server, mail) = with_mail().await;
    let _ada = Person::set_up(&server).await;
    let person = Person::new(&server);
    person.post("/forgot", &[("email", "ada@example.com")]).await;
    let sent = mail.takes(1).await;
    let link = sent[0].text.lines().find(|line| line.starts_with("https://")).unwrap();
    let path = link.strip_prefix("https://aloft.example").unwrap();
    server.advance(Duration::from_mins(30));
    let expired = person.post(path, &[("password", NEW)]).await;
    assert!(expired.status == 410 && expired.text().contains("has expired"), "{expired}");
    assert_audited(&server, &["user.reset_link_refuse: expired"]).await;
    assert!(signs_in(&server, PASSWORD).await);
}

#[tokio::test]
async fn server_without_emails_names_the_command() {
    let server = TestServer::start().await;
    let text = Person::new(&server).get("/forgot").await.text();
    assert!(text.contains("aloft users reset") && !text.contains("<form"), "{text}");
}
