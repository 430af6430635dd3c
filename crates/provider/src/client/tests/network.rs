//! The way to the service: proxies by the variables of the environment, and trusted certificates.

use std::path::Path;

use testkit::target::{
    Authority, HttpProxy, HttpTarget, Identity, Protocol, ScriptedResponse, TcpTarget, Validity,
};

use super::*;

/// A host that only a proxy can reach.
const HOST: &str = "service.test";
const METHOD: &str = "/monitor.v1.MonitorService/GetMonitor";

/// Returns a client with these variables that does not repeat calls.
fn client_with(variables: &[(&str, &str)], base_url: &str) -> Client {
    try_client_with(variables, base_url).unwrap()
}

fn try_client_with(
    variables: &[(&str, &str)],
    base_url: &str,
) -> Result<Client, rpc::UnusableClient> {
    let environment = Environment::from_variables(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    });
    let arguments = Arguments {
        api_token: Some(Secret::new("key".to_owned())),
        base_url: Some(base_url.to_owned()),
        request_timeout: Some(60),
        max_retries: Some(2),
    };
    let settings = Settings::new(arguments, &environment).unwrap();
    let policy = Policy { first_pause: Duration::ZERO, ..Policy::new(settings.max_retries) };
    Client::with_policy(settings, policy)
}

fn answering(target: HttpTarget) -> HttpTarget {
    target.on(&format!("/rpc{METHOD}"), json_answer("{}"));
    target.on("/v1/whoami", json_answer(WHOAMI));
    target
}

fn json_answer(body: &'static str) -> ScriptedResponse {
    ScriptedResponse::ok(body).header("content-type", "application/json")
}

const WHOAMI: &str = r#"{"name":"Acme","slug":"acme","plan":"free",
    "actor":{"type":"apiKey","keyId":"key_0000000000000","scopes":["read"]}}"#;

/// Returns the failure of a call, without what differs between runs.
async fn failure(client: &Client, proxy: &HttpProxy) -> String {
    let failure = read(client).await.unwrap_err().to_string();
    failure.replace(&proxy.address().to_string(), "PROXY")
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn http_requests_go_through_http_proxy() {
    let target = answering(HttpTarget::start().await);
    let proxy = HttpProxy::start(target.address()).await;
    let base = format!("http://{HOST}/rpc");
    let client = client_with(&[("HTTP_PROXY", &proxy.url())], &base);
    read(&client).await.unwrap();
    client.whoami().await.unwrap();
    assert_eq!(
        proxy.requests(),
        [format!("POST http://{HOST}/rpc{METHOD}"), format!("GET http://{HOST}/v1/whoami")]
    );
    assert_eq!(target.received()[0].header("host"), Some(HOST));
    assert_eq!(target.received()[0].header("x-service-key"), Some("key"));
}

#[tokio::test]
async fn https_requests_go_through_a_tunnel() {
    let authority = Authority::new("Ours");
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "ca.pem", &authority.pem());
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let identity = authority.issue(&[HOST], Validity::Valid);
        let target = answering(HttpTarget::start_tls(identity, protocol).await);
        let proxy = HttpProxy::start(target.address()).await;
        let variables = [("https_proxy", &*proxy.url()), ("SSL_CERT_FILE", &file)];
        for (base, tunnel) in [
            (format!("https://{HOST}/rpc"), format!("CONNECT {HOST}:443")),
            (format!("https://{HOST}:8443/rpc"), format!("CONNECT {HOST}:8443")),
        ] {
            read(&client_with(&variables, &base)).await.unwrap();
            assert_eq!(proxy.requests().last(), Some(&tunnel));
        }
        assert_eq!(target.hits(), 2);
    }
}

#[tokio::test]
async fn proxy_reached_by_https_opens_a_tunnel() {
    let authority = Authority::new("Ours");
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "ca.pem", &authority.pem());
    let service = authority.issue(&[HOST], Validity::Valid);
    let target = answering(HttpTarget::start_tls(service, Protocol::Http2).await);
    let identity = authority.issue(&["127.0.0.1"], Validity::Valid);
    let proxy = HttpProxy::start_tls(target.address(), identity).await;
    let variables = [("HTTPS_PROXY", &*proxy.url()), ("SSL_CERT_FILE", &file)];
    read(&client_with(&variables, &format!("https://{HOST}/rpc"))).await.unwrap();
    assert_eq!(proxy.requests(), [format!("CONNECT {HOST}:443")]);
}

#[tokio::test]
async fn loopback_and_bypassed_hosts_are_reached_directly() {
    let target = answering(HttpTarget::start().await);
    let proxy = HttpProxy::start(target.address()).await;
    let url = proxy.url();
    let loopback = client_with(&[("HTTP_PROXY", &url)], &target.url("/rpc"));
    read(&loopback).await.unwrap();
    assert_eq!((target.hits(), proxy.requests().len()), (1, 0));
    let variables = [("HTTP_PROXY", &*url), ("NO_PROXY", "other.test, .test")];
    let bypassed = client_with(&variables, &format!("http://{HOST}/rpc"));
    let failure = read(&bypassed).await.unwrap_err().to_string();
    assert!(failure.contains("cannot be reached"), "{failure}");
    assert_eq!(proxy.requests().len(), 0);
}

#[tokio::test]
async fn credentials_are_sent_to_the_proxy_only() {
    let authority = Authority::new("Ours");
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "ca.pem", &authority.pem());
    let identity = authority.issue(&[HOST], Validity::Valid);
    let secure = answering(HttpTarget::start_tls(identity, Protocol::Http1).await);
    let plain = answering(HttpTarget::start().await);
    for (target, scheme, variable) in
        [(&secure, "https", "HTTPS_PROXY"), (&plain, "http", "HTTP_PROXY")]
    {
        let proxy = HttpProxy::start_for(target.address(), "ada:p@ss").await;
        let base = format!("{scheme}://{HOST}/rpc");
        let url = proxy.url_with("ada:p%40ss");
        read(&client_with(&[(variable, &url), ("SSL_CERT_FILE", &file)], &base)).await.unwrap();
        assert_eq!(target.received()[0].header("proxy-authorization"), None);
    }
}

#[tokio::test]
async fn proxy_failures_name_the_variable_and_hide_credentials() {
    let target = answering(HttpTarget::start().await);
    let strict = HttpProxy::start_for(target.address(), "ada:right").await;
    let wrong = strict.url_with("ada:hunter2");
    let nobody = TcpTarget::refusing();
    let dead = HttpProxy::start(nobody.address()).await;
    let unreachable = format!("http://{}", nobody.address());
    let mut described = Vec::new();
    for (proxy, scheme, variable, url) in [
        (&strict, "https", "HTTPS_PROXY", &*strict.url()),
        (&strict, "https", "HTTPS_PROXY", &wrong),
        (&strict, "http", "http_proxy", &wrong),
        (&dead, "https", "https_proxy", &dead.url()),
        (&dead, "https", "HTTPS_PROXY", &unreachable),
        (&dead, "http", "HTTP_PROXY", &unreachable),
    ] {
        let client = client_with(&[(variable, url)], &format!("{scheme}://{HOST}/rpc"));
        let failure = failure(&client, proxy).await;
        described.push(failure.replace(&nobody.address().to_string(), "NOBODY"));
    }
    let described = described.join("\n");
    assert!(!described.contains("hunter2"), "{described}");
    insta::assert_snapshot!(described, @r"
    https://service.test/rpc cannot be reached: failed to connect through the proxy http://PROXY (from HTTPS_PROXY): it requires credentials, as in http://USER:PASSWORD@HOST:PORT. Correct HTTPS_PROXY, or add the host to NO_PROXY.
    https://service.test/rpc cannot be reached: failed to connect through the proxy http://PROXY (from HTTPS_PROXY): it requires credentials, as in http://USER:PASSWORD@HOST:PORT. Correct HTTPS_PROXY, or add the host to NO_PROXY.
    The proxy on the way to http://service.test/rpc requires credentials: HTTP error 407. Set HTTP_PROXY to http://USER:PASSWORD@HOST:PORT.
    https://service.test/rpc cannot be reached: failed to connect through the proxy http://PROXY (from https_proxy): it refused the tunnel. Correct https_proxy, or add the host to NO_PROXY. It was attempted 3 times.
    https://service.test/rpc cannot be reached: failed to connect through the proxy http://NOBODY (from HTTPS_PROXY): Connection refused (os error 111). Correct HTTPS_PROXY, or add the host to NO_PROXY. It was attempted 3 times.
    http://service.test/rpc cannot be reached: failed to connect through the proxy http://NOBODY (from HTTP_PROXY): Connection refused (os error 111). Correct HTTP_PROXY, or add the host to NO_PROXY. It was attempted 3 times.
    ");
    // Wrong credentials are not tried again.
    assert_eq!(strict.requests().len(), 3);
}

#[tokio::test]
async fn malformed_proxy_is_refused_before_the_first_call() {
    let base = format!("http://{HOST}/rpc");
    let refused = try_client_with(&[("HTTP_PROXY", "socks5://ada:hunter2@127.0.0.1")], &base);
    insta::assert_snapshot!(refused.err().unwrap(), @"`HTTP_PROXY` is not the URL of an HTTP proxy; one looks like http://proxy.example.com:3128");
}

/// Returns the outcome of a call to a server that shows `identity`, by a client with these
/// variables.
async fn outcome(identity: Identity, variables: &[(&str, &str)], host: &str) -> String {
    let target = answering(HttpTarget::start_tls(identity, Protocol::Http2).await);
    let client = client_with(variables, &target.url_as(host, "/rpc"));
    match read(&client).await {
        Ok(_) => "accepted".to_owned(),
        Err(failure) => {
            let described = failure.to_string();
            let (_, why) = described.split_once(" has a ").unwrap();
            assert!(why.contains("certificate that is not trusted"), "{described}");
            let why = why.split_once("trusted: ").map_or(why, |(_, why)| why);
            let end = why.find(". It was").unwrap();
            why[..end].split(". If").next().unwrap().to_owned()
        }
    }
}

#[tokio::test]
async fn self_signed_certificate_of_the_file_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let own = || Identity::self_signed_authority(&["localhost", "127.0.0.1"], Validity::Valid);
    for host in ["localhost", "127.0.0.1"] {
        let identity = own();
        let file = write(folder.path(), "ca.pem", &identity.chain_pem());
        assert_eq!(outcome(identity, &[("SSL_CERT_FILE", &file)], host).await, "accepted");
    }
    // The folder holds the certificate among others, as `openssl rehash` leaves it.
    let identity = own();
    write(folder.path(), "0a1b2c3d.0", &identity.chain_pem());
    let folder = folder.path().to_str().unwrap();
    assert_eq!(outcome(identity, &[("SSL_CERT_DIR", folder)], "localhost").await, "accepted");
}

#[tokio::test]
async fn other_self_signed_certificates_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = Identity::self_signed_authority(&["localhost"], Validity::Valid);
    let file = write(folder.path(), "ca.pem", &trusted.chain_pem());
    let variables = [("SSL_CERT_FILE", &*file)];
    // Same name, another key.
    let other = Identity::self_signed_authority(&["localhost"], Validity::Valid);
    let other = outcome(other, &variables, "localhost").await;
    let other_name = outcome(trusted, &variables, "127.0.0.1").await;
    let expired = Identity::self_signed_authority(&["localhost"], Validity::Expired);
    let file = write(folder.path(), "expired.pem", &expired.chain_pem());
    let expired = outcome(expired, &[("SSL_CERT_FILE", &file)], "localhost").await;
    let expired = expired.split_once(": verification time").unwrap().0;
    insta::assert_snapshot!(format!("{other}\n{other_name}\n{expired}"), @r#"
    self-signed certificate that is not trusted
    invalid peer certificate: certificate not valid for name "127.0.0.1"; certificate is only valid for DnsName("localhost")
    invalid peer certificate: certificate expired
    "#);
}

#[tokio::test]
async fn trusted_authority_vouches_for_others_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("Ours");
    let file = write(folder.path(), "ca.pem", &authority.pem());
    let issued = || authority.issue(&["localhost"], Validity::Valid);
    assert_eq!(outcome(issued(), &[("SSL_CERT_FILE", &file)], "localhost").await, "accepted");
    assert_eq!(
        outcome(issued(), &[], "localhost").await,
        "invalid peer certificate: UnknownIssuer"
    );
}

#[test]
fn unreadable_certificate_file_is_refused_with_its_variable() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.pem");
    let empty = write(folder.path(), "empty.pem", "no certificate\n");
    let mut described = Vec::new();
    for file in [missing.to_str().unwrap(), &empty] {
        let refused = try_client_with(&[("SSL_CERT_FILE", file)], "https://service.test/rpc");
        let refused = refused.err().unwrap().to_string();
        described.push(refused.replace(folder.path().to_str().unwrap(), "FOLDER"));
        // A client without TLS needs no certificates.
        try_client_with(&[("SSL_CERT_FILE", file)], "http://127.0.0.1:8080/rpc").unwrap();
    }
    insta::assert_snapshot!(described.join("\n"), @r"
    failed to read the certificates that `SSL_CERT_FILE` names: failed to read PEM from file: No such file or directory (os error 2) at 'FOLDER/missing.pem'
    failed to read the certificates that `SSL_CERT_FILE` names: no certificate in PEM form in FOLDER/empty.pem
    ");
}
