//! Codes of an authenticator app after the password.

use std::time::Duration;

use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::StatusCode;
use rules::Timestamp;
use sha1::Sha1;
use testkit::person::{PASSWORD, Person};
use testkit::server::TestServer;

use super::account::assert_audited;

const STEP: Duration = Duration::from_secs(30);

/// Person with an app.
pub(super) struct Enrolled {
    person: Person,
    secret: String,
    recovery_codes: Vec<String>,
}

/// Returns what follows `before` in a page, up to `after`.
fn part(text: &str, before: &str, after: &str) -> String {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}")).1;
    rest.split_once(after).unwrap().0.to_owned()
}

/// Computes the code that an app shows (RFC 6238).
fn code(secret: &str, at: Timestamp) -> String {
    let secret = BASE32_NOPAD.decode(secret.as_bytes()).unwrap();
    let mut mac = Hmac::<Sha1>::new_from_slice(&secret).unwrap();
    mac.update(&(at.as_millis() / 30_000).to_be_bytes());
    let hash = mac.finalize().into_bytes();
    let start = usize::from(hash[19] & 0xf);
    let number = u32::from_be_bytes(hash[start..start + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

fn now(server: &TestServer) -> Timestamp {
    server.running().app().ctx.now()
}

async fn enrol(server: &TestServer) -> Enrolled {
    enrol_person(server, Person::set_up(server).await).await
}

/// Sets up an authenticator app for a person.
pub(super) async fn enrol_person(server: &TestServer, person: Person) -> Enrolled {
    let page = person.get("/account/authenticator").await.text();
    assert!(page.contains("<svg class=\"qr\""), "{page}");
    let secret = part(&page, "<code class=\"secret\">", "</code>");
    let state = part(&page, "name=\"enrolment\" value=\"", "\"");
    let submit = async |code: &str| {
        person.post("/account/authenticator", &[("enrolment", &state), ("code", code)]).await
    };
    let wrong = submit("000000").await;
    assert!(wrong.status == 422 && wrong.text().contains(&secret), "{wrong}");
    let shown = submit(&code(&secret, now(server))).await;
    let text = shown.text();
    let recovery_codes: Vec<String> = text
        .split("<li><code>")
        .skip(1)
        .map(|rest| rest.split_once("</code>").unwrap().0.to_owned())
        .collect();
    assert_eq!(recovery_codes.len(), 10, "{text}");
    Enrolled { person, secret, recovery_codes }
}

/// Enters the password, which leads to the code.
async fn enter_password(server: &TestServer) -> Person {
    let person = Person::new(server);
    let fields = [("email", "ada@example.com"), ("password", PASSWORD), ("next", "/account")];
    let reply = person.post("/login", &fields).await;
    assert_eq!(reply.location().as_deref(), Some("/login/code"), "{reply}");
    assert_eq!(person.cookie("aloft_session"), None, "the password alone is no session");
    person
}

async fn enter(person: &Person, code: &str) -> testkit::server::Reply {
    person.post("/login/code", &[("code", code)]).await
}

#[tokio::test]
async fn code_follows_the_password() {
    let server = TestServer::start().await;
    let ada = enrol(&server).await;
    let person = enter_password(&server).await;
    assert_eq!(person.get("/account").await.status, 303);
    assert_eq!(person.get("/login/code").await.status, 200);
    assert_eq!(enter(&person, "123456").await.status, 401);
    assert_audited(&server, &["user.second_factor_refuse"]).await;
    server.advance(STEP);
    let reply = enter(&person, &code(&ada.secret, now(&server))).await;
    assert_eq!(reply.location().as_deref(), Some("/account"), "{reply}");
    assert_eq!(person.get("/account").await.status, 200);
    assert_audited(&server, &["user.sign_in: with a password and a code"]).await;
}

// issue 18, bad input: "Refuse and audit […] replayed TOTP codes"
#[tokio::test]
async fn used_code_is_refused_and_audited() {
    let server = TestServer::start().await;
    let ada = enrol(&server).await;
    let first = enter_password(&server).await;
    let enrolment_code = enter(&first, &code(&ada.secret, now(&server))).await;
    assert!(enrolment_code.status == 401 && enrolment_code.text().contains("used already"));
    server.advance(STEP);
    let shown = code(&ada.secret, now(&server));
    assert_eq!(enter(&first, &shown).await.status, 303);
    let second = enter_password(&server).await;
    let replayed = enter(&second, &shown).await;
    assert!(replayed.status == 401 && replayed.text().contains("used already"), "{replayed}");
    assert_eq!(second.cookie("aloft_session"), None);
    assert_audited(&server, &["user.second_factor_replay:"]).await;
}

#[tokio::test]
async fn recovery_code_replaces_the_app_once() {
    let server = TestServer::start().await;
    let ada = enrol(&server).await;
    let typed = ada.recovery_codes[0].to_uppercase().replace('-', " ");
    assert_eq!(enter(&enter_password(&server).await, &typed).await.status, 303);
    assert_eq!(enter(&enter_password(&server).await, &typed).await.status, 401);
    let page = ada.person.get("/account").await.text();
    assert!(page.contains("Recovery codes left: 9."), "{page}");
    let renewed = ada.person.post("/account/recovery-codes", &[("password", PASSWORD)]).await;
    assert!(!renewed.text().contains(&ada.recovery_codes[1]), "{renewed}");
    let old = enter(&enter_password(&server).await, &ada.recovery_codes[1]).await;
    assert_eq!(old.status, 401);
}

#[tokio::test]
async fn step_ends_in_time_and_cannot_be_forged() {
    let server = TestServer::start().await;
    let ada = enrol(&server).await;
    let person = enter_password(&server).await;
    let step = person.cookie("aloft_step").unwrap();
    let forged = Person::new(&server);
    forged.set_cookie("aloft_step", &step.replacen(['a', 'b', 'c'], "x", 1));
    assert_eq!(forged.get("/login/code").await.location().as_deref(), Some("/login"));
    assert_audited(&server, &["second_step.refuse: forged"]).await;
    // The signed state of the step is no session.
    forged.set_cookie("aloft_session", &step);
    assert_eq!(forged.get("/account").await.status, 303);
    server.advance(Duration::from_mins(5));
    let late = enter(&person, &code(&ada.secret, now(&server))).await;
    assert_eq!(late.location().as_deref(), Some("/login"));
    assert_audited(&server, &["second_step.refuse: expired"]).await;
    assert_eq!(person.cookie("aloft_session"), None);
}

#[tokio::test]
async fn new_password_ends_the_step() {
    let server = TestServer::start().await;
    let ada = enrol(&server).await;
    let person = enter_password(&server).await;
    let fields = [("current", PASSWORD), ("password", "a new and long password")];
    assert_eq!(ada.person.post("/account/password", &fields).await.status, 303);
    server.advance(STEP);
    let reply = enter(&person, &code(&ada.secret, now(&server))).await;
    assert_eq!(reply.location().as_deref(), Some("/login"));
}

#[tokio::test]
async fn guesses_are_limited() {
    let server = TestServer::start().await;
    enrol(&server).await;
    let person = enter_password(&server).await;
    let mut last = StatusCode::OK;
    for _ in 0..12 {
        last = enter(&person, "123456").await.status;
    }
    assert_eq!(last, 429);
}

#[tokio::test]
async fn removal_needs_the_password() {
    let server = TestServer::start().await;
    let ada = enrol(&server).await;
    let remove = async |password| {
        ada.person.post("/account/authenticator/remove", &[("password", password)]).await
    };
    let refused = remove("wrong password").await;
    assert!(refused.status == 422 && refused.text().contains("id=\"factor-error\""), "{refused}");
    assert_eq!(remove(PASSWORD).await.status, 303);
    assert_audited(&server, &["user.second_factor_remove:"]).await;
    let ada = Person::sign_in(&server, "ada@example.com").await;
    assert!(ada.get("/account").await.text().contains("Add an authenticator app"));
}

// issue 18, bad input: forged and expired states are refused and audited
#[tokio::test]
async fn forged_enrolment_is_refused_and_audited() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let fields = [("enrolment", "for.ged"), ("code", "123456")];
    let reply = ada.post("/account/authenticator", &fields).await;
    assert_eq!(reply.location().as_deref(), Some("/account/authenticator"), "{reply}");
    assert_audited(&server, &["user.second_factor_refuse: forged enrolment"]).await;
}
