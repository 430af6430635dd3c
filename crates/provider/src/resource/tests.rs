//! Resources with responses that no service would send: each ends as a diagnostic or as a state, and nothing
//! panics.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use rules::Secret;
use serde_json::{Value as Json, json};
use terraform_plugin::Context;
use terraform_plugin::resource::{Resource as _, State};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::client::Client;
use crate::connection::Connection;
use crate::resource::resources;
use crate::settings::{Arguments, Environment, Settings};

/// Objects with field names of the service and arbitrary values.
fn message() -> impl Strategy<Value = Vec<u8>> {
    const NAMES: &[&str] = &[
        "monitor",
        "http",
        "tcp",
        "notification",
        "statusPage",
        "component",
        "componentGroup",
        "id",
        "name",
        "headers",
        "key",
        "value",
        "regions",
        "timeout",
        "degradedAt",
        "webhook",
        "email",
        "createdAt",
        "active",
        "warnings",
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "[ -~]{0,12}".prop_map(Json::from),
    ];
    let value = leaf.prop_recursive(4, 48, 4, |inner| {
        let name = proptest::sample::select(NAMES).prop_map(str::to_owned);
        let object = proptest::collection::vec((name, inner.clone()), 0..4);
        prop_oneof![
            3 => object.prop_map(|fields| Json::Object(fields.into_iter().collect())),
            1 => proptest::collection::vec(inner, 0..3).prop_map(Json::Array),
        ]
    });
    let cut = (value, any::<prop::sample::Index>(), 0..4_u8);
    cut.prop_map(|(value, at, cut)| {
        let text = value.to_string().into_bytes();
        if cut == 0 { text[..at.index(text.len())].to_vec() } else { text }
    })
}

/// Returns a server that answers every request with the same bytes.
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
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\
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
    let settings = Settings::new(arguments, &Environment::default()).unwrap();
    Context::detached(Connection::Ready(Box::new(Client::new(settings).unwrap())))
}

#[test]
fn arbitrary_response_never_panics() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let body = Arc::new(Mutex::new(Vec::new()));
    let port = runtime.block_on(answering(Arc::clone(&body)));
    let ctx = client(port);
    proptest!(ProptestConfig::with_cases(200), |(answer in message())| {
        *body.lock().unwrap() = answer;
        for resource in resources() {
            let prior = terraform_plugin::Object::new().with("id", "mon_1").with("page_id", "page_1");
            let read = resource.read(&ctx, State::new(prior));
            // Either outcome is valid.
            let _ = runtime.block_on(read);
        }
    });
}

#[test]
fn field_of_another_type_is_an_invalid_response() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let pages = resources().into_iter().find(|it| it.service.noun == "status page").unwrap();
    for page in [
        json!({ "id": "page_1", "createdAt": "the day after tomorrow" }),
        json!({ "id": "page_1", "title": 5 }),
        json!("page_1"),
    ] {
        let body = json!({ "statusPage": page }).to_string().into_bytes();
        let port = runtime.block_on(answering(Arc::new(Mutex::new(body))));
        let prior = State::new(terraform_plugin::Object::new().with("id", "page_1"));
        let refused = runtime.block_on(pages.read(&client(port), prior)).unwrap_err();
        let detail = &refused.iter().next().unwrap().detail;
        assert!(detail.contains("sent an invalid response"), "{detail}");
    }
}

#[test]
fn newly_required_password_is_sent_despite_equal_version() {
    let pages = resources().into_iter().find(|it| it.service.noun == "status page").unwrap();
    let page = |access: &str| {
        let page = terraform_plugin::Object::new().with("access_type", access);
        page.with("password_wo_version", 1)
    };
    let sends =
        |prior: &str| pages.update_mask(&page("password"), &page(prior)).contains(&"password");
    assert_eq!((sends("public"), sends("password")), (true, false));
}
