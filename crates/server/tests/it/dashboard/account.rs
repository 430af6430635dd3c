//! A person's own account, and what the audit log says about it.

use std::time::Duration;

use store::{AuditFilter, Page};
use testkit::mail::MailServer;
use testkit::person::{PASSWORD, Person};
use testkit::server::TestServer;

/// Returns the audit log of the first workspace as `action: detail`, newest first.
pub(super) async fn audit(server: &TestServer) -> Vec<String> {
    let store = &server.running().app().store;
    let mut all = store.workspaces().list().await.unwrap();
    all.sort_by_key(|workspace| workspace.id);
    let page = Page { limit: 100, offset: 0, after: None };
    let listed = store.audit().list(all[0].id, &AuditFilter::default(), page).await.unwrap();
    listed.rows.into_iter().map(|it| format!("{}: {}", it.action, it.detail)).collect()
}

/// Asserts that the newest entries begin with these texts.
pub(super) async fn assert_audited(server: &TestServer, expected: &[&str]) {
    let all = audit(server).await;
    let matches = all.iter().zip(expected).all(|(entry, text)| entry.starts_with(text));
    assert!(all.len() >= expected.len() && matches, "{expected:?} is not the newest of {all:#?}");
}

/// Starts a server that sends emails.
pub(super) async fn with_mail() -> (TestServer, MailServer) {
    let mail = MailServer::start().await;
    let server = TestServer::start_with(|settings| {
        mail.set_up(settings);
        settings.public_url = Some("https://aloft.example".to_owned());
    });
    (server.await, mail)
}

#[tokio::test]
async fn name_is_changed_and_validated() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let invalid = ada.post("/account/name", &[("name", " ")]).await;
    assert!(invalid.status == 422 && invalid.text().contains("id=\"name-error\""), "{invalid}");
    assert_eq!(ada.post("/account/name", &[("name", "Ada L.")]).await.status, 303);
    assert!(ada.get("/account").await.text().contains("value=\"Ada L.\""));
}

#[tokio::test]
async fn new_address_counts_once_confirmed() {
    let (server, mail) = with_mail().await;
    let ada = Person::set_up(&server).await;
    let new = ("email", "ada@new.example");
    let refused = ada.post("/account/email", &[new, ("password", "wrong password")]).await;
    assert!(refused.status == 422 && refused.text().contains("This is not your password."));
    assert_audited(&server, &["user.confirmation_refuse"]).await;
    assert_eq!(ada.post("/account/email", &[new, ("password", PASSWORD)]).await.status, 303);
    let sent = mail.takes(1).await;
    assert_eq!(sent[0].to, ["ada@new.example"]);
    let link = sent[0].text.lines().find(|line| line.starts_with("https://")).unwrap();
    let path = link.strip_prefix("https://aloft.example").unwrap();
    assert!(ada.get("/account").await.text().contains("value=\"ada@example.com\""));
    assert!(ada.get(path).await.text().contains("ada@new.example"));
    assert_eq!(ada.post(path, &[]).await.status, 303);
    assert!(ada.get("/account").await.text().contains("value=\"ada@new.example\""));
    let told = mail.takes(2).await;
    assert_eq!(told[1].to, ["ada@example.com"]);
    assert_eq!(ada.get(path).await.status, 410);
    assert_eq!(ada.get("/account/email/for.ged").await.status, 410);
    let expected =
        ["user.email_link_refuse: forged", "user.email_link_refuse: used", "user.email:"];
    assert_audited(&server, &expected).await;
}

#[tokio::test]
async fn emails_to_new_addresses_are_limited() {
    let (server, mail) = with_mail().await;
    let ada = Person::set_up(&server).await;
    let mut statuses = Vec::new();
    for number in 0..6 {
        let address = format!("stranger{number}@new.example");
        let fields = [("email", address.as_str()), ("password", PASSWORD)];
        statuses.push(ada.post("/account/email", &fields).await.status.as_u16());
    }
    assert_eq!(statuses, [303, 303, 303, 303, 303, 422]);
    assert_eq!(mail.takes(5).await.len(), 5);
    server.advance(Duration::from_hours(1));
    let fields = [("email", "ada@new.example"), ("password", PASSWORD)];
    assert_eq!(ada.post("/account/email", &fields).await.status, 303);
}

#[tokio::test]
async fn other_sessions_end_together() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let elsewhere = Person::sign_in(&server, "ada@example.com").await;
    assert!(ada.get("/account").await.text().contains("End all other sessions"));
    assert_eq!(ada.post("/account/sessions/end-others", &[]).await.status, 303);
    assert_eq!(elsewhere.get("/account").await.status, 303);
    assert_eq!(ada.get("/account").await.status, 200);
    assert_audited(&server, &["user.sessions_end:", "user.sign_in: with a password"]).await;
}

/// Signs in once more, and returns the person with the ID of the new session.
async fn another_session(server: &TestServer) -> (Person, String) {
    let store = &server.running().app().store;
    let now = server.running().app().ctx.now();
    let (user, _) = store.users().find_for_sign_in("ada@example.com").await.unwrap().unwrap();
    let before = store.sessions().list(user.id, now).await.unwrap();
    let person = Person::sign_in(server, "ada@example.com").await;
    let after = store.sessions().list(user.id, now).await.unwrap();
    let new = after.iter().find(|it| before.iter().all(|known| known.id != it.id)).unwrap();
    (person, new.id.to_string())
}

// issue 18, point 1: "Sessions are listed, revocable"
#[tokio::test]
async fn one_ended_session_leaves_the_others() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let (phone, of_phone) = another_session(&server).await;
    let (laptop, of_laptop) = another_session(&server).await;
    let list = ada.get("/account").await.text();
    for session in [&of_phone, &of_laptop] {
        assert!(list.contains(&format!("/account/sessions/{session}/end")), "{list}");
    }
    let ended = ada.post(&format!("/account/sessions/{of_phone}/end"), &[]).await;
    assert_eq!(ended.status, 303, "{ended}");
    assert_eq!(phone.get("/account").await.location().as_deref(), Some("/login?next=%2Faccount"));
    assert_eq!(laptop.get("/account").await.status, 200);
    let list = ada.get("/account").await.text();
    assert!(!list.contains(&of_phone) && list.contains(&of_laptop), "{list}");
}
