//! Attacks on signing in: cookies, redirects to other sites and huge forms.

use std::time::Duration;

use testkit::person::{PASSWORD, Person};
use testkit::server::TestServer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::account::assert_audited;

/// Longer than the database may take for an answer.
const SLOW: Duration = Duration::from_secs(3);

#[tokio::test]
async fn cookies_are_hidden_from_scripts_and_other_sites() {
    let server = TestServer::start_with(|settings| {
        settings.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    });
    let server = server.await;
    Person::set_up(&server).await;
    let person = Person::new(&server);
    let reply =
        person.post("/login", &[("email", "ada@example.com"), ("password", PASSWORD)]).await;
    let cookie = reply.headers.get("set-cookie").unwrap().to_str().unwrap();
    assert!(cookie.contains("; Path=/; ") && !cookie.contains("Domain="), "{cookie}");
    assert!(cookie.contains("; HttpOnly; SameSite=Lax") && !cookie.contains("Secure"), "{cookie}");
    let body = format!("email=ada%40example.com&password={}", PASSWORD.replace(' ', "+"));
    let request = http::Request::post("/login")
        .header("host", "aloft.example")
        .header("sec-fetch-site", "same-origin")
        .header("x-forwarded-proto", "https")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(http_body_util::Full::new(bytes::Bytes::from(body)));
    let reply = server.nobody().request(request.unwrap()).await;
    let cookie = reply.headers.get("set-cookie").unwrap().to_str().unwrap();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
}

#[tokio::test]
async fn given_session_is_not_continued() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let victim = Person::new(&server);
    let planted = "cGxhbnRlZCBieSBhbiBhdHRhY2tlcg";
    victim.set_cookie("aloft_session", planted);
    victim.post("/login", &[("email", "ada@example.com"), ("password", PASSWORD)]).await;
    let session = victim.cookie("aloft_session").unwrap();
    assert!(session != planted && Some(session) != ada.cookie("aloft_session"));
}

#[tokio::test]
async fn other_sites_are_no_destination() {
    let server = TestServer::start().await;
    Person::set_up(&server).await;
    for next in ["//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example"] {
        let person = Person::new(&server);
        let fields = [("email", "ada@example.com"), ("password", PASSWORD), ("next", next)];
        let reply = person.post("/login", &fields).await;
        assert_eq!(reply.location().as_deref(), Some("/"), "{next:?}");
        server.advance(std::time::Duration::from_mins(15));
    }
}

#[tokio::test]
async fn form_of_ten_mebibytes_is_refused() {
    let server = TestServer::start().await;
    Person::set_up(&server).await;
    let huge = "x".repeat(10 << 20);
    for (path, field) in [
        ("/login", "password"),
        ("/login/code", "code"),
        ("/login/passkey", "credential"),
        ("/forgot", "email"),
        ("/reset/token", "password"),
    ] {
        let person = Person::new(&server);
        let reply = person.post(path, &[("email", "a@example.com"), (field, &huge)]).await;
        assert_eq!(reply.status, 413, "{path}: {reply}");
        assert!(reply.text().contains("The form is too large"), "{path}: {reply}");
    }
}

// A form over a bad connection was answered with "the database does not answer".
#[tokio::test]
async fn slow_form_does_not_blame_the_database() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let mut browser = TcpStream::connect(server.address()).await.unwrap();
    let form = "email=ada%40example.com&password=wrong+password";
    let head = format!(
        "POST /login HTTP/1.1\r\nhost: {}\r\nsec-fetch-site: same-origin\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n",
        server.address(),
        form.len()
    );
    let (first, rest) = form.split_at(10);
    browser.write_all(format!("{head}{first}").as_bytes()).await.unwrap();
    let begun = Instant::now();
    while begun.elapsed() < SLOW {
        assert_eq!(ada.get("/w/acme").await.status, 200);
    }
    browser.write_all(rest.as_bytes()).await.unwrap();
    let mut answer = String::new();
    browser.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[tokio::test]
async fn forged_invitations_are_limited_before_hashing() {
    let server = TestServer::start().await;
    Person::set_up(&server).await;
    let eve = Person::new(&server);
    let fields =
        [("name", "Eve"), ("email", "eve@example.com"), ("password", "correct horse battery")];
    let mut statuses = Vec::new();
    for _ in 0..25 {
        statuses.push(eve.post("/invite/forged/account", &fields).await.status.as_u16());
    }
    assert!(statuses.starts_with(&[410; 15]) && statuses.ends_with(&[429; 3]), "{statuses:?}");
    assert_audited(&server, &["invitation.refuse: unknown or expired"; 3]).await;
}

#[tokio::test]
async fn old_session_adds_no_way_to_sign_in() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    assert_eq!(ada.get("/account/authenticator").await.status, 200);
    let options = ada.post("/account/passkeys/options", &[]).await;
    assert_ne!(options.status, 403, "{options}");
    server.advance(Duration::from_mins(16));
    let refused = ada.get("/account/authenticator").await;
    assert_eq!(refused.location().as_deref(), Some("/login?next=/account/authenticator"));
    assert_eq!(ada.post("/account/passkeys/options", &[]).await.status, 403);
}
