//! Resources before answers that no service would send: whatever comes, it ends as a diagnostic or as
//! a state, and nothing panics.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use rules::Secret;
use terraform_plugin::Context;
use terraform_plugin::resource::{Resource as _, State};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::client::Client;
use crate::connection::Connection;
use crate::provider::resources;
use crate::settings::{Arguments, Environment, Settings};

/// Something like protobuf: fields of any number with payloads of any sense, one in the other.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let varint = (1_u8..16, any::<u64>()).prop_map(|(field, number)| {
        let mut bytes = vec![field << 3];
        let mut rest = number;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        bytes
    });
    let text = (1_u8..16, "[ -~]{0,12}").prop_map(|(field, text)| sized(field, text.as_bytes()));
    let noise = proptest::collection::vec(any::<u8>(), 0..12);
    let leaf = proptest::collection::vec(prop_oneof![4 => varint, 4 => text, 1 => noise], 0..8);
    let leaf = leaf.prop_map(|parts| parts.concat());
    leaf.prop_recursive(3, 24, 3, |inner| {
        let field = prop_oneof![3 => Just(1_u8), 1 => 1_u8..16];
        let nested = (field, inner).prop_map(|(field, inner)| sized(field, &inner));
        proptest::collection::vec(nested, 1..4).prop_map(|parts| parts.concat())
    })
}

fn sized(field: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len().min(127);
    [&[field << 3 | 2, length as u8][..], &payload[..length]].concat()
}

/// A server that answers every request with the same bytes, as if they were a message.
async fn answering(body: Arc<Mutex<Vec<u8>>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let body = body.lock().unwrap().clone();
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let head = format!(
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/proto\r\n\
                     content-length: {}\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(&[head.as_bytes(), &body].concat()).await;
            });
        }
    });
    port
}

fn client(port: u16) -> Context<Connection> {
    let arguments = Arguments {
        api_token: Some(Secret::new("key".to_owned())),
        base_url: Some(format!("http://127.0.0.1:{port}")),
        max_retries: Some(0),
        ..Arguments::default()
    };
    let settings = Settings::of(arguments, &Environment::default()).unwrap();
    Context::detached(Connection::Ready(Box::new(Client::new(settings).unwrap())))
}

#[test]
fn no_answer_crashes_a_resource() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let body = Arc::new(Mutex::new(Vec::new()));
    let port = runtime.block_on(answering(Arc::clone(&body)));
    let ctx = client(port);
    proptest!(ProptestConfig::with_cases(200), |(answer in message())| {
        *body.lock().unwrap() = answer;
        for resource in resources() {
            let prior = terraform_plugin::Object::new().with("id", "mon_1").with("page_id", "page_1");
            let read = resource.read(&ctx, State::new(prior));
            // Whether it is one or the other is the answer's to say.
            let _ = runtime.block_on(read);
        }
    });
}

#[test]
fn an_instant_that_there_is_not_is_an_error_of_the_answer() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // GetStatusPageResponse { status_page { id, created_at { seconds: the largest there is } } }
    let seconds = [&[0x08][..], &[0xff; 8], &[0x7f]].concat();
    let created_at = [&[0x82, 0x02, seconds.len() as u8][..], &seconds].concat();
    let page = [sized(1, b"page_1"), created_at].concat();
    let body = Arc::new(Mutex::new(sized(1, &page)));
    let port = runtime.block_on(answering(body));
    let ctx = client(port);
    let pages = resources().into_iter().find(|it| it.service.noun == "status page").unwrap();
    let prior = State::new(terraform_plugin::Object::new().with("id", "page_1"));
    let refused = runtime.block_on(pages.read(&ctx, prior)).unwrap_err();
    let said = &refused.iter().next().unwrap().detail;
    assert!(said.contains("came broken"), "{said}");
}

#[test]
fn a_password_that_is_asked_for_anew_is_sent_though_its_version_is_the_same() {
    let pages = resources().into_iter().find(|it| it.service.noun == "status page").unwrap();
    let page = |access: &str| {
        let page = terraform_plugin::Object::new().with("access_type", access);
        page.with("password_wo_version", 1)
    };
    let sends = |prior: &str| {
        pages.mask(&page("password"), &page(prior)).iter().any(|name| name == "password")
    };
    assert_eq!((sends("public"), sends("password")), (true, false));
}
