//! People who are signed in to the dashboard, while others use up everything that callers without a key
//! share.

use std::net::SocketAddr;

use hyper::StatusCode;
use hyper::client::conn::http2::SendRequest;
use tokio::runtime::Builder;

use super::sign_ins::{FORM, set_up};
use super::slow::open_slow;
use super::streams::{Endless, connect, request};
use super::{FEW_FILES, OpenConnection, attack};
use crate::process::{Home, until};

/// Streams of a connection: the limit of requests without a key.
const STREAMS: usize = 100;
/// Connections whose bodies are more than all that the server receives at once without a key.
const CONNECTIONS: usize = 41;
/// Number of slow connections: many times the places of the server.
const SLOW: usize = 600;
/// Number of forms that the person sends.
const FORMS: usize = 20;
/// Cookie of a session that never existed.
const INVENTED: &str = "cookie: aloft_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n";

/// Keeps a body open that never ends, and begins another after each deadline, until the server has no
/// place for it.
async fn occupy(address: SocketAddr, mut sender: SendRequest<Endless>) {
    loop {
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let request = request(address, "/status/none/unlock", &form, Endless::slow());
        let Ok(()) = sender.ready().await else { return };
        let answer = sender.send_request(request).await;
        if answer.is_ok_and(|it| it.status() == StatusCode::SERVICE_UNAVAILABLE) {
            return;
        }
    }
}

fn rename(address: SocketAddr, cookie: &str) -> u16 {
    let headers = format!("{FORM}{cookie}");
    OpenConnection::open(address).send("POST", "/account/name", &headers, b"name=Ada").0
}

// issue 16, point 1: signed-in people shared the capacity of callers without a key
#[test]
fn signed_in_person_saves_while_others_send_bodies() {
    attack(|| {
        let home = Home::new();
        let server = home.serve();
        let (address, cookie) = (server.address, set_up(&server));
        assert_eq!(rename(address, &cookie), 303);
        let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
        for _ in 0..CONNECTIONS {
            let sender = runtime.block_on(connect(address));
            for _ in 0..STREAMS {
                runtime.spawn(occupy(address, sender.clone()));
            }
        }
        for cookie in ["", INVENTED] {
            until("the server receives no other body", || {
                (rename(address, cookie) == 503).then_some(())
            });
        }
        for number in 0..FORMS {
            assert_eq!(rename(address, &cookie), 303, "{number}");
        }
    });
}

// issue 16, point 1: idle connections of signed-in people closed first under pressure
#[test]
fn signed_in_person_keeps_the_connection() {
    attack(|| {
        let home = Home::new();
        let server = home.serve_with_files(FEW_FILES);
        let cookie = set_up(&server);
        let mut kept = OpenConnection::open(server.address);
        assert_eq!(kept.send("GET", "/account", &cookie, b"").0, 200);
        let _slow = open_slow(server.address, SLOW, |number| {
            assert_eq!(kept.send("GET", "/account", &cookie, b"").0, 200, "{number}");
        });
    });
}
