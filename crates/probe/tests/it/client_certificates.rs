//! Servers that require a certificate from their clients. Decision 0085.

use std::process::Command;

use aloft_probe::{ClientCertificate, UnusableClientCertificate};
use domain::check::FailureKind;
use rules::Secret;
use rules::monitor::ClientKey;
use testkit::target::{
    Authority, ClientTrust, HttpTarget, Identity, Protocol, ScriptedResponse, TlsVersion, Validity,
};

use crate::checking::{Checking, Outcomes, get};

const VERSIONS: [TlsVersion; 2] = [TlsVersion::V12, TlsVersion::V13];
const PROTOCOLS: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

/// Servers of one authority, and clients of another.
struct MutualTls {
    servers: Authority,
    clients: Authority,
}

impl MutualTls {
    fn new() -> Self {
        Self { servers: Authority::new("Servers"), clients: Authority::new("Clients") }
    }

    async fn target(&self, protocol: Protocol, version: TlsVersion) -> HttpTarget {
        let identity = self.servers.issue(&["127.0.0.1"], Validity::Valid);
        let trust = ClientTrust { authority: &self.clients, version };
        let target = HttpTarget::start_mutual_tls(identity, protocol, trust).await;
        target.on("/", ScriptedResponse::ok("secret"));
        target
    }

    fn get(&self, target: &HttpTarget) -> Checking {
        get(target.url("/")).trusting(&self.servers.pem())
    }
}

fn presenting(checking: Checking, identity: &Identity) -> Checking {
    checking.http(|http| {
        http.client_certificate = Some(identity.chain_pem());
        http.client_key = Some(ClientKey(Secret::new(identity.key_pem())));
    })
}

fn failure(outcome: &Outcomes, target: &HttpTarget) -> String {
    assert_eq!(outcome.failure_kind(), FailureKind::TlsFailed, "{outcome:?}");
    assert_eq!(target.hits(), 0);
    outcome.failure().detail.clone()
}

#[tokio::test]
async fn accepted_certificate_is_a_success() {
    let tls = MutualTls::new();
    let issuer = tls.clients.intermediate("Team", Validity::Valid);
    for (protocol, version) in PROTOCOLS.into_iter().zip(VERSIONS) {
        for authority in [&tls.clients, &issuer] {
            let target = tls.target(protocol, version).await;
            let identity = authority.issue(&["probe"], Validity::Valid);
            let outcome = presenting(tls.get(&target), &identity).run().await;
            outcome.assert_success();
            assert_eq!(target.hits(), 1);
        }
    }
}

#[tokio::test]
async fn absent_certificate_fails_with_the_remedy() {
    let tls = MutualTls::new();
    for protocol in PROTOCOLS {
        for version in VERSIONS {
            let target = tls.target(protocol, version).await;
            assert_eq!(
                failure(&tls.get(&target).run().await, &target),
                "`127.0.0.1` requires a client certificate; set `client_certificate` and `client_key`",
                "{protocol:?} {version:?}"
            );
        }
    }
}

#[tokio::test]
async fn refused_certificate_fails_with_the_reason() {
    let tls = MutualTls::new();
    let expired = tls.clients.issue(&["probe"], Validity::Expired);
    let stranger = Authority::new("Others").issue(&["probe"], Validity::Valid);
    for protocol in PROTOCOLS {
        for version in VERSIONS {
            for (identity, why) in [
                (&expired, "because it expired or is not valid yet (certificate_expired)"),
                (&stranger, "because it does not trust the issuer (unknown_ca)"),
            ] {
                let target = tls.target(protocol, version).await;
                let outcome = presenting(tls.get(&target), identity).run().await;
                assert_eq!(
                    failure(&outcome, &target),
                    format!("`127.0.0.1` refuses the client certificate, {why}"),
                    "{protocol:?} {version:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn redirect_to_another_origin_presents_no_certificate() {
    let tls = MutualTls::new();
    let (own, other) = (
        tls.target(Protocol::Http1, TlsVersion::V13).await,
        tls.target(Protocol::Http1, TlsVersion::V13).await,
    );
    own.on("/", ScriptedResponse::redirect(302, other.url("/")));
    let identity = tls.clients.issue(&["probe"], Validity::Valid);
    let outcome = presenting(tls.get(&own), &identity).run().await;
    assert_eq!(own.hits(), 1);
    assert_eq!(
        failure(&outcome, &other),
        "`127.0.0.1` requires a client certificate, but only the origin of the monitor's own URL \
         gets it, over https"
    );
}

#[tokio::test]
async fn redirect_back_presents_the_certificate_again() {
    let tls = MutualTls::new();
    let own = tls.target(Protocol::Http1, TlsVersion::V13).await;
    let other = HttpTarget::start().await;
    own.on("/", ScriptedResponse::redirect(302, other.url("/")))
        .on("/end", ScriptedResponse::ok("secret"));
    other.on("/", ScriptedResponse::redirect(302, own.url("/end")));
    let identity = tls.clients.issue(&["probe"], Validity::Valid);
    presenting(tls.get(&own), &identity).run().await.assert_success();
    assert_eq!((own.hits(), other.hits()), (2, 1));
}

#[tokio::test]
async fn unusable_certificate_fails_without_a_request() {
    let tls = MutualTls::new();
    let target = tls.target(Protocol::Http1, TlsVersion::V13).await;
    let checking = tls.get(&target).http(|http| {
        http.client_certificate = Some("none".to_owned());
        http.client_key = Some(ClientKey(Secret::new("hunter2".to_owned())));
    });
    assert_eq!(
        failure(&checking.run().await, &target),
        "`client_certificate` of the monitor has no certificate; give PEM with `BEGIN CERTIFICATE`"
    );
}

/// Runs OpenSSL in a folder of its own, and returns the named files.
fn openssl<const N: usize>(commands: &[&str], files: [&str; N]) -> [String; N] {
    let folder = tempfile::tempdir().unwrap();
    for command in commands {
        let mut openssl = Command::new("openssl");
        let output = openssl.args(command.split(' ')).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }
    files.map(|name| std::fs::read_to_string(folder.path().join(name)).unwrap())
}

#[test]
fn keys_of_openssl_are_read() {
    // Ed25519 has no other format than PKCS#8.
    for (algorithm, format) in [
        ("rsa -pkeyopt rsa_keygen_bits:2048", "-traditional"),
        ("ec -pkeyopt ec_paramgen_curve:P-256", "-traditional"),
        ("ec -pkeyopt ec_paramgen_curve:P-384", "-traditional"),
        ("ed25519", "-text"),
    ] {
        let [certificate, key, other] = openssl(
            &[
                &format!("genpkey -algorithm {algorithm} -out key.pem"),
                "req -new -x509 -key key.pem -subj /CN=probe -days 20 -out certificate.pem",
                &format!("pkey -in key.pem {format} -out other.pem"),
            ],
            ["certificate.pem", "key.pem", "other.pem"],
        );
        for key in [&key, &other] {
            let read = ClientCertificate::read(&certificate, key).expect(algorithm);
            let days = read.not_after.since(read.not_before).as_secs() / 86_400;
            assert_eq!(days, 20, "{algorithm}");
        }
    }
}

#[test]
fn decrypted_key_of_openssl_is_read() {
    // The remedy that the error of an encrypted key names.
    let [certificate, key] = openssl(
        &[
            "genpkey -algorithm rsa -pkeyopt rsa_keygen_bits:2048 -out plain.pem",
            "req -new -x509 -key plain.pem -subj /CN=probe -out certificate.pem",
            "pkcs8 -topk8 -in plain.pem -passout pass:hunter2 -out encrypted.pem",
            "pkcs8 -topk8 -nocrypt -passin pass:hunter2 -in encrypted.pem -out key.pem",
        ],
        ["certificate.pem", "key.pem"],
    );
    assert!(ClientCertificate::read(&certificate, &key).is_ok());
}

#[test]
fn unusable_certificates_and_keys_are_explained() {
    let authority = Authority::new("Clients");
    let issuer = authority.intermediate("Team", Validity::Valid);
    let identity = issuer.issue(&["probe"], Validity::Valid);
    let other = issuer.issue(&["other"], Validity::Valid);
    let (chain, key) = (identity.chain_pem(), identity.key_pem());
    let bad = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let no_base64 = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
    let [short] = openssl(
        &["genpkey -algorithm rsa -pkeyopt rsa_keygen_bits:1024 -out key.pem"],
        ["key.pem"],
    );
    let lines: Vec<String> = [
        ("", &*key),
        (bad, &key),
        (no_base64, &key),
        (&(chain.clone() + bad), &key),
        (&(authority.pem() + &chain), &key),
        (&other.chain_pem(), &key),
        (&chain, "-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n"),
        (&chain, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
        (&chain, &short),
    ]
    .into_iter()
    .map(|(certificate, key)| {
        let why: UnusableClientCertificate = ClientCertificate::read(certificate, key).unwrap_err();
        format!("`{}` {why}", why.argument())
    })
    .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    `client_certificate` has no certificate; give PEM with `BEGIN CERTIFICATE`
    `client_certificate` has an unreadable certificate, number 1; export it again as X.509 in PEM
    `client_certificate` has an unreadable certificate, number 1; export it again as X.509 in PEM
    `client_certificate` has an unreadable certificate, number 3; export it again as X.509 in PEM
    `client_certificate` must begin with the certificate of `client_key`, which is number 2
    `client_key` must be the key of the certificate `CN=other`, which has another public key
    `client_key` must be a readable private key; export it again in PEM
    `client_key` must be a supported key: RSA of 2048 to 8192 bits, ECDSA with P-256, P-384 or P-521, or Ed25519
    `client_key` must be a supported key: RSA of 2048 to 8192 bits, ECDSA with P-256, P-384 or P-521, or Ed25519
    ");
}
