//! `aloft users`: a new password for a person, next to a running server and without one.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use testkit::person::PASSWORD;

use crate::first_steps::setup_path;
use crate::process::{Home, PATIENCE};

/// Answer to a browser.
struct Answer {
    status: u16,
    /// Session that the answer starts, as a `Cookie` header has it.
    session: Option<String>,
}

/// Sends a request of a browser: a form, or a visit without one.
fn browse(address: SocketAddr, path: &str, session: &str, form: Option<&str>) -> Answer {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (method, body) = form.map_or(("GET", ""), |form| ("POST", form));
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncookie: {session}\r\n\
         accept: text/html\r\nsec-fetch-site: same-origin\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let head = text.split("\r\n\r\n").next().unwrap();
    let mut cookies = head.lines().filter_map(|line| line.strip_prefix("set-cookie: "));
    let session = cookies.find(|it| it.starts_with("aloft_session="));
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        session: session.map(|it| it.split(';').next().unwrap().to_owned()),
    }
}

/// Signs in and returns the status.
fn sign_in(address: SocketAddr, password: &str) -> u16 {
    let form = format!("email=ada%40example.com&password={}", password.replace(' ', "+"));
    browse(address, "/login", "", Some(&form)).status
}

// issue 18, point 1: "reset by email and by `aloft users reset`"
#[test]
fn reset_gives_a_new_password_and_ends_sessions() {
    let home = Home::new();
    let server = home.serve();
    let form = format!(
        "name=Ada&email=ada%40example.com&password={}&workspace=Acme",
        PASSWORD.replace(' ', "+")
    );
    let set_up = browse(server.address, &setup_path(&server), "", Some(&form));
    assert_eq!(set_up.status, 303);
    let session = set_up.session.unwrap();
    assert_eq!(browse(server.address, "/account", &session, None).status, 200);
    let users = home.json(&["users", "list"]);
    assert_eq!(users[0]["email"], "ada@example.com", "{users}");

    let reset = home.json(&["users", "reset", "ada@example.com"]);
    let first = reset["password"].as_str().unwrap();
    assert_eq!(browse(server.address, "/account", &session, None).status, 303, "signed out");
    assert_eq!(sign_in(server.address, PASSWORD), 401);
    assert_eq!(sign_in(server.address, first), 303);
    server.stop();

    let shown = home.run(&["users", "reset", "ada@example.com"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let (second, about) = shown.out.split_once("\n\n").unwrap();
    assert!(about.contains("shown only once"), "{about}");
    let unknown = home.run(&["users", "reset", "bob@example.com"]);
    assert!(unknown.code != Some(0) && unknown.err.contains("bob@example.com"), "{}", unknown.err);
    let server = home.serve();
    assert_eq!(sign_in(server.address, first), 401);
    assert_eq!(sign_in(server.address, second), 303);
}
