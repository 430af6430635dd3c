//! The way to the server by the environment of Terraform: a proxy, a certificate of one's own.

use serde_json::json;
use testkit::target::{
    Authority, HttpProxy, HttpTarget, Identity, Protocol, ScriptedResponse, Validity,
};

use crate::world::World;

/// A configuration that calls the service once.
const WHOAMI: &str =
    "provider \"service\" {\n max_retries = 0\n}\ndata \"service_whoami\" \"me\" {}\n";

/// Returns a server with TLS that reports its callers.
async fn server(identity: Identity) -> HttpTarget {
    let server = HttpTarget::start_tls(identity, Protocol::Http2).await;
    let who = json!({
        "name": "Acme", "slug": "acme", "plan": "free",
        "actor": { "type": "apiKey", "keyId": "key_0000000000000", "scopes": ["read"] },
    });
    server.on("/v1/whoami", ScriptedResponse::ok(who.to_string()));
    server
}

async fn must_apply(world: &World) {
    let applied = world.terraform.apply().await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(applied.state.value("data.service_whoami.me", "slug"), "acme");
}

#[tokio::test]
async fn certificate_of_an_authority_in_file_is_accepted() {
    let authority = Authority::new("Ours");
    let server = server(authority.issue(&["127.0.0.1"], Validity::Valid)).await;
    let mut world = World::start().await;
    world.terraform.set("SERVICE_API_URL", server.url("/rpc"));
    world.configure(WHOAMI);
    let refused = world.terraform.plan().await.unwrap_err().diagnostics()[0].to_string();
    assert!(refused.contains("certificate that is not trusted"), "{refused}");
    assert!(refused.contains("SSL_CERT_FILE"), "{refused}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority.pem()).unwrap();
    world.terraform.set("SSL_CERT_FILE", file.path().to_str().unwrap());
    must_apply(&world).await;
}

// issue 16 point 18: "Accept a self-signed CA certificate that `SSL_CERT_FILE` names"
#[tokio::test]
async fn self_signed_authority_of_the_file_is_accepted() {
    let identity = Identity::self_signed_authority(&["127.0.0.1"], Validity::Valid);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), identity.chain_pem()).unwrap();
    let server = server(identity).await;
    let mut world = World::start().await;
    world.terraform.set("SERVICE_API_URL", server.url("/rpc"));
    world.terraform.set("SSL_CERT_FILE", file.path().to_str().unwrap());
    world.configure(WHOAMI);
    must_apply(&world).await;
}

// issue 16 point 18: "Honour `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`"
#[tokio::test]
async fn calls_go_through_the_proxy_of_the_environment() {
    let mut world = World::start().await;
    let proxy = HttpProxy::start_for(world.server.address(), "ada:secret").await;
    world.terraform.set("SERVICE_API_URL", "http://service.test/rpc");
    world.terraform.set("http_proxy", proxy.url_with("ada:secret"));
    world.configure(WHOAMI);
    must_apply(&world).await;
    let first = proxy.requests();
    assert_eq!(first.first().map(String::as_str), Some("GET http://service.test/v1/whoami"));
    world.terraform.set("NO_PROXY", "service.test:80");
    let refused = world.terraform.plan().await.unwrap_err().diagnostics()[0].to_string();
    assert!(refused.contains("http://service.test/rpc cannot be reached"), "{refused}");
    assert_eq!(proxy.requests().len(), first.len());
}
