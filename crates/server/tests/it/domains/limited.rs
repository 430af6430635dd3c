//! Rate limits of an ACME server: a limit applies to one name until the next name hits it too. A
//! fake server rejects all orders, because Pebble has no rate limits.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rules::Scope;
use serde_json::{Value, json};
use server::config::{AcmeSettings, ChallengeChoice, TlsSettings};
use testkit::server::{STATUS_PAGES, TestServer};
use testkit::target::{DnsTarget, HttpTarget, ScriptedResponse};

use super::{a_page, asks, until};

const JSON: &str = "application/json";

/// Starts an ACME server that rejects all orders with a Retry-After of two hours.
async fn without_orders() -> HttpTarget {
    let acme = HttpTarget::start().await;
    let url = |path| acme.url(path);
    let directory = json!({
        "newNonce": url("/nonce"), "newAccount": url("/account"), "newOrder": url("/order"),
        "revokeCert": url("/revoke"), "keyChange": url("/key"),
    });
    let limited = json!({ "type": "urn:ietf:params:acme:error:rateLimited", "detail": "too many" });
    let answer = |status, body: &Value| {
        let answer = ScriptedResponse::status(status).header("content-type", JSON);
        answer.header("replay-nonce", "MTIzNDU2Nzg5MA").body(body.to_string())
    };
    acme.on("/dir", answer(200, &directory));
    acme.on("/nonce", answer(200, &json!({})));
    let account = answer(201, &json!({ "status": "valid" }));
    acme.on("/account", account.header("location", acme.url("/account/1")));
    acme.on("/order", answer(429, &limited).header("retry-after", "7200"));
    acme
}

/// Returns the names of all orders, oldest first.
fn ordered(acme: &HttpTarget) -> Vec<String> {
    let orders = acme.received().into_iter().filter(|request| request.target == "/order");
    let name = |body: String| {
        let signed: Value = serde_json::from_str(&body).unwrap();
        let payload = URL_SAFE_NO_PAD.decode(signed["payload"].as_str().unwrap()).unwrap();
        let order: Value = serde_json::from_slice(&payload).unwrap();
        order["identifiers"][0]["value"].as_str().unwrap().to_owned()
    };
    orders.map(|request| name(request.body)).collect()
}

// issue 7: one rate-limited domain does not block the certificates of others
#[tokio::test]
async fn second_consecutive_rate_limit_pauses_all_domains() {
    let (dns, acme) = (DnsTarget::start().await, without_orders().await);
    let names = ["a.test", "b.test", "c.test"];
    for name in names {
        dns.address_of(name, "127.0.0.1");
    }
    let server = TestServer::start_with(|settings| {
        asks(&dns, settings);
        let loopback = ([127, 0, 0, 1], 0).into();
        let challenge = ChallengeChoice::Http;
        let acme = AcmeSettings { directory: acme.url("/dir"), email: None, challenge };
        let redirect = Some(loopback);
        let tls = TlsSettings { listen: loopback, redirect, covers_own: false, acme };
        settings.domains.tls = Some(tls);
    })
    .await;
    let owner = server.caller(Scope::Write);
    let failed = async |page: &Value| {
        let reply = owner.call(STATUS_PAGES, "GetStatusPage", json!({ "id": page["id"] })).await;
        let status = reply.json()["customDomainStatus"].clone();
        (status["state"] == "failed").then_some(status)
    };
    let first = a_page(&dns, &server, "a", "a.test").await;
    let status = until(async || failed(&first).await).await;
    assert_eq!(
        status["nextAttemptAt"], "2026-11-21T02:00:00Z",
        "as long as the server wants: {status}"
    );
    let second = a_page(&dns, &server, "b", "b.test").await;
    until(async || failed(&second).await).await;
    assert_eq!(ordered(&acme), ["a.test", "b.test"]);
    // After two consecutive limits, all names wait for at most an hour. Then one name tries again.
    a_page(&dns, &server, "c", "c.test").await;
    server.advance(Duration::from_hours(1));
    until(async || (ordered(&acme).len() == 3).then_some(())).await;
    assert_eq!(ordered(&acme)[2], "c.test");
}
