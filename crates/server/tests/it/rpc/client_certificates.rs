//! Client certificates of HTTP monitors: what is refused, what is a warning, and what a check sends.
//! Decision 0085.

use std::fs;

use domain::check::Outcome;
use rules::{MonitorId, Scope};
use serde_json::{Value, json};
use testkit::pem;
use testkit::server::{Caller, TestServer};
use testkit::target::{
    Authority, ClientTrust, HttpTarget, Protocol, ScriptedResponse, TlsVersion, Validity,
};

use crate::pipeline::Watched;

/// Substring of every private key. It occurs nowhere else.
const SECRET: &str = "hunter2";

fn monitor(certificate: &str, key: &str) -> Value {
    json!({
        "name": "partner", "url": "https://example.com/", "periodicity": "1h", "active": true,
        "clientCertificate": certificate, "clientKey": key,
    })
}

async fn create(caller: &Caller, monitor: &Value) -> (u16, Value) {
    let reply = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
    (reply.status.as_u16(), reply.json())
}

#[tokio::test]
async fn unusable_certificates_are_refused_by_their_field() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let bad = pem::CERTIFICATE.replace("MIIB", "AAAA");
    let chain = format!("{}{}", pem::OTHER_CERTIFICATE, pem::CERTIFICATE);
    let encrypted = pem::KEY.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    let mut lines = Vec::new();
    for (certificate, key) in [
        (pem::CERTIFICATE, pem::OTHER_KEY),
        (&chain, pem::KEY),
        (&bad, pem::KEY),
        (pem::CERTIFICATE, &encrypted),
        (pem::KEY, pem::CERTIFICATE),
    ] {
        let (status, response) = create(&caller, &monitor(certificate, key)).await;
        assert_eq!(status, 400, "{response}");
        for part in pem::KEY.lines().filter(|line| !line.starts_with('-')) {
            assert!(!response.to_string().contains(part), "{response}");
        }
        lines.push(response["message"].as_str().unwrap().to_owned());
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
    `monitor.client_key` must be the key of the certificate `CN=probe1`, which has another public key
    `monitor.client_certificate` must begin with the certificate of `client_key`, which is number 2
    `monitor.client_certificate` has an unreadable certificate, number 1; export it again as X.509 in PEM
    `monitor.client_key` must not be encrypted; decrypt it by `openssl pkcs8 -topk8 -nocrypt -in encrypted.pem -out key.pem`
    `monitor.client_certificate` must have certificates only; the private key belongs in `client_key`, and must be replaced if others may have seen it; `monitor.client_key` must have the private key only; certificates belong in `client_certificate`
    ");
    let mut half = monitor(pem::CERTIFICATE, pem::KEY);
    half.as_object_mut().unwrap().remove("clientKey");
    let (_, response) = create(&caller, &half).await;
    let message = response["message"].as_str().unwrap();
    assert!(message.contains("`monitor.client_key` must be given with"), "{message}");
}

#[tokio::test]
async fn certificate_without_use_is_a_warning() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let authority = Authority::new("Clients");
    let of = |validity| authority.issue(&["probe"], validity);
    let warnings = |response: &Value| {
        let given = response["warnings"].as_array().cloned().unwrap_or_default();
        given.iter().map(|it| format!("{} {}", it["field"], it["message"])).collect::<Vec<_>>()
    };
    let mut lines = Vec::new();
    for validity in [Validity::Valid, Validity::Expired, Validity::NotYet] {
        let identity = of(validity);
        let (_, created) =
            create(&caller, &monitor(&identity.chain_pem(), &identity.key_pem())).await;
        lines.extend(warnings(&created));
    }
    let mut plain = monitor(pem::CERTIFICATE, pem::KEY);
    plain["url"] = json!("http://example.com/");
    let (_, created) = create(&caller, &plain).await;
    lines.extend(warnings(&created));
    insta::assert_snapshot!(lines.join("\n"), @r#"
    "monitor.client_certificate" "the client certificate expired at 2022-01-01T00:00:00.000Z; replace it"
    "monitor.client_certificate" "the client certificate is not valid before 2090-01-01T00:00:00.000Z"
    "monitor.client_certificate" "a check of an http URL presents no client certificate; change `url` to https"
    "#);
}

/// A server whose checks trust an authority, a target that requires certificates of another, and a monitor
/// of it.
struct MutualTls {
    server: TestServer,
    target: HttpTarget,
    monitor: Value,
}

impl MutualTls {
    async fn start() -> Self {
        let (servers, clients) = (Authority::new("Servers"), Authority::new("Clients"));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        fs::write(&file, servers.pem()).unwrap();
        let server = TestServer::start_with(|settings| settings.extra_ca_file = Some(file)).await;
        let identity = servers.issue(&["127.0.0.1"], Validity::Valid);
        let trust = ClientTrust { authority: &clients, version: TlsVersion::V13 };
        let target = HttpTarget::start_mutual_tls(identity, Protocol::Http1, trust).await;
        target.on("/", ScriptedResponse::ok("fine"));
        let identity = clients.issue(&["probe"], Validity::Valid);
        // Text before the object is ignored.
        let key = format!("{SECRET}\n{}", identity.key_pem());
        let mut monitor = monitor(&identity.chain_pem(), &key);
        monitor["url"] = json!(target.url("/"));
        monitor["regions"] = json!(["fly-ams"]);
        Self { server, target, monitor }
    }
}

#[tokio::test]
async fn check_of_a_stored_monitor_presents_its_certificate() {
    let mutual = MutualTls::start().await;
    let watched = Watched::on(mutual.server).await;
    let caller = watched.server.caller(Scope::Write);
    let (status, created) = create(&caller, &mutual.monitor).await;
    assert_eq!(status, 200, "{created}");
    let id = created["monitor"]["id"].as_str().unwrap();
    let results = watched.stored.at_least(1, MonitorId::parse(id).unwrap()).await;
    assert_eq!(results[0].outcome, Outcome::Success, "{results:?}");
    assert!(mutual.target.hits() > 0, "the target requires the certificate, and answered");
    let logs = caller.rpc("ListResponseLogs", json!({ "id": id })).await;
    assert!(logs.status == 200 && !logs.to_string().contains(SECRET), "{logs}");
}

#[tokio::test]
async fn partial_update_keeps_the_key() {
    let server = TestServer::start().await;
    let (owner, reader) = (server.caller(Scope::Write), server.caller(Scope::Read));
    let key = format!("{SECRET}\n{}", pem::KEY);
    let (_, created) = create(&owner, &monitor(pem::CERTIFICATE, &key)).await;
    let id = &created["monitor"]["id"];
    let update = json!({
        "monitor": { "id": id, "name": "renamed", "clientKey": "ignored" }, "updateMask": "name",
    });
    assert_eq!(owner.rpc("UpdateHttpMonitor", update).await.status, 200);
    let read = async |caller: &Caller| {
        caller.rpc("GetMonitor", json!({ "id": id })).await.json()["monitor"]["http"].clone()
    };
    let stored = read(&owner).await;
    assert_eq!((&stored["name"], &stored["clientKey"]), (&json!("renamed"), &json!(key)));
    let hidden = read(&reader).await;
    assert_eq!(hidden["clientCertificate"], pem::CERTIFICATE);
    assert!(hidden.get("clientKey").is_none(), "{hidden}");
    // Another key is a change whose values nobody sees.
    let other = json!({
        "monitor": {
            "id": id, "clientCertificate": pem::OTHER_CERTIFICATE,
            "clientKey": format!("{SECRET}\n{}", pem::OTHER_KEY),
        },
        "updateMask": "clientCertificate,clientKey",
    });
    assert_eq!(owner.rpc("UpdateHttpMonitor", other).await.status, 200);
    let audit = owner.call("audit.v1.AuditService", "ListAuditEntries", json!({})).await.json();
    let fields = audit["entries"][0]["changes"].to_string();
    assert!(fields.contains("client_key") && !audit.to_string().contains(SECRET), "{audit}");
}

#[tokio::test]
async fn half_an_update_must_fit_the_rest() {
    let server = TestServer::start().await;
    let owner = server.caller(Scope::Write);
    let (_, created) = create(&owner, &monitor(pem::CERTIFICATE, pem::KEY)).await;
    let id = &created["monitor"]["id"];
    let update = async |field: &str, mask: &str, value: Value| {
        let request = json!({ "monitor": { "id": id, field: value }, "updateMask": mask });
        owner.rpc("UpdateHttpMonitor", request).await.status.as_u16()
    };
    let chain = format!("{}{}", pem::CERTIFICATE, pem::OTHER_CERTIFICATE);
    assert_eq!(update("clientCertificate", "clientCertificate", json!(chain)).await, 200);
    let other = json!(pem::OTHER_CERTIFICATE);
    assert_eq!(update("clientCertificate", "clientCertificate", other).await, 400);
    assert_eq!(update("clientKey", "clientKey", json!(pem::OTHER_KEY)).await, 400);
    // Neither can be cleared alone.
    assert_eq!(update("name", "clientKey", json!("partner")).await, 400);
    assert_eq!(update("name", "clientCertificate", json!("partner")).await, 400);
    assert_eq!(update("name", "clientCertificate,clientKey", json!("partner")).await, 200);
    let read = owner.rpc("GetMonitor", json!({ "id": id })).await.json();
    assert!(read["monitor"]["http"].get("clientCertificate").is_none(), "{read}");
}
