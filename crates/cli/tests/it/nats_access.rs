//! Access to NATS by real processes: TLS, and signed users of an operator.

use std::fs;

use testkit::nats::{NatsOperator, ProbeUser, UserExpiry};
use testkit::target::{Authority, Identity, Validity};

use crate::nats::{Setting, wait_for_nats};
use crate::process::{Ran, Server};
use crate::remote_probe::Probe;

/// Text of the server when its probe connects.
const CONNECTED: &str = "probe `fly-sin` is connected";

/// Lets NATS require TLS with this certificate, and further lines.
fn require_tls(setting: &mut Setting, identity: &Identity, further: &str) {
    let [certificate, key] = ["nats.pem", "nats.key"].map(|it| setting.nats.folder().join(it));
    fs::write(&certificate, identity.chain_pem()).unwrap();
    fs::write(&key, identity.key_pem()).unwrap();
    let (certificate, key) = (certificate.display(), key.display());
    let tls = format!("tls {{ cert_file: \"{certificate}\", key_file: \"{key}\" }}\n{further}");
    setting.nats.configure(&tls);
    setting.nats.restart();
    setting.line = setting.line.replace(&setting.nats.url(), &setting.nats.tls_url());
}

fn trust(setting: &Setting, authority: &Authority) {
    fs::write(setting.home.path().join("ca.pem"), authority.pem()).unwrap();
}

fn serve(setting: &Setting) -> Server {
    let url = setting.nats.tls_url();
    let nats = ["--listen", "127.0.0.1:0", "--nats", &url];
    let flags = [&nats[..], &["--nats-credentials-file", "server.creds"]].concat();
    setting.home.serve_as(&flags, &[("SSL_CERT_FILE", "ca.pem")])
}

fn probe(setting: &Setting) -> Probe {
    Probe::run_under(&setting.home, &setting.line, &[("SSL_CERT_FILE", "ca.pem")])
}

/// Runs a probe that NATS refuses.
fn refused_probe(setting: &Setting) -> Ran {
    let words: Vec<&str> = setting.line.split_whitespace().skip(1).collect();
    let words = [&words[..], &["--data", "probe"]].concat();
    setting.home.run_with(&words, &[("SSL_CERT_FILE", "ca.pem")])
}

#[test]
fn tls_to_nats_needs_a_trusted_certificate() {
    let (authority, other) = (Authority::new("ours"), Authority::new("other"));
    let mut setting = Setting::new();
    let users = setting.users();
    require_tls(&mut setting, &authority.issue(&["localhost"], Validity::Valid), &users);
    trust(&setting, &authority);
    let server = serve(&setting);
    let running = probe(&setting);
    server.wait_for_log(CONNECTED);
    assert!(running.stop());
    drop(server);

    let expired = authority.issue(&["localhost"], Validity::Expired);
    let elsewhere = authority.issue(&["nats.example.com"], Validity::Valid);
    let foreign = other.issue(&["localhost"], Validity::Valid);
    for (identity, why) in
        [(foreign, "UnknownIssuer"), (elsewhere, "not valid for name"), (expired, "expired")]
    {
        require_tls(&mut setting, &identity, &users);
        let server = serve(&setting);
        wait_for_nats(&server, "not connected");
        let running = probe(&setting);
        running.wait_for_log(why);
        drop(running);
        let log = server.stop_with_log();
        assert!(log.contains("cannot be reached") && log.contains(why), "{why}: {log}");
    }
}

#[test]
fn signed_user_of_the_operator_connects() {
    let (operator, other) = (NatsOperator::default(), NatsOperator::default());
    let authority = Authority::new("ours");
    let mut setting = Setting::new();
    let identity = authority.issue(&["localhost"], Validity::Valid);
    require_tls(&mut setting, &identity, &operator.configuration());
    trust(&setting, &authority);
    let credentials = setting.home.path().join("fly-sin.creds");
    let probe_id = setting.probe_id.clone();
    let user = ProbeUser { probe: &probe_id, password: "", region: "fly-sin" };
    let write = |of: &NatsOperator, expiry: UserExpiry| {
        fs::write(&credentials, of.probe_credentials(&user, expiry)).unwrap();
    };
    fs::write(setting.home.path().join("server.creds"), operator.server_credentials()).unwrap();
    write(&operator, UserExpiry::Never);
    let server = serve(&setting);
    let running = probe(&setting);
    server.wait_for_log(CONNECTED);
    assert!(running.stop());
    assert!(!setting.nats.log().contains("Violation"), "{}", setting.nats.log());

    for (of, expiry) in [(&other, UserExpiry::Never), (&operator, UserExpiry::Past)] {
        write(of, expiry);
        let refused = refused_probe(&setting);
        assert_eq!(refused.code, Some(1), "{expiry:?}: {}", refused.err);
        assert!(refused.err.contains("refuses the credentials"), "{expiry:?}: {}", refused.err);
    }
    drop(server);
    fs::write(setting.home.path().join("server.creds"), other.server_credentials()).unwrap();
    let server = serve(&setting);
    wait_for_nats(&server, "not connected");
    let log = server.stop_with_log();
    assert!(log.contains("refuses the credentials"), "{log}");
}
