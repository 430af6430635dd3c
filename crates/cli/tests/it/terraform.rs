//! `aloft terraform export` as a command: its requirements and its output. Leaves the use of
//! exports in Terraform to the provider's tests.

use serde_json::json;

use crate::process::Home;

const EXPORT: [&str; 2] = ["terraform", "export"];

#[test]
fn export_contains_every_page_of_a_list() {
    let (home, key) = Home::with_key();
    let server = home.serve();
    for _ in 0..=rules::limits::LIST_LIMIT_MAX {
        let monitor = json!({ "name": "m", "uri": "example.com:443", "periodicity": "1h" });
        server.rpc(&key, "CreateTcpMonitor", &json!({ "monitor": monitor }));
    }
    let base_url = format!("http://{}/rpc", server.address);
    let args = [&EXPORT[..], &["--base-url", &base_url]].concat();
    let ran = home.run_with(&args, &[("SERVICE_API_KEY", &key)]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out.matches("import {").count(), 101);
    assert!(ran.out.contains("resource \"service_tcp_monitor\" \"m_101\" {"));
    assert_eq!(ran.err, "exported 101 resources\n");
}

#[test]
fn export_names_missing_requirements() {
    let (home, _) = Home::with_key();
    let server = home.serve();
    let base_url = format!("http://user:pw@{}/rpc", server.address);
    let export = |args: &[&str], variables: &[(&str, &str)]| {
        let ran = home.run_with(&[&EXPORT[..], args].concat(), variables);
        assert_ne!(ran.code, Some(0), "{}", ran.out);
        ran.err.lines().next().unwrap().replace(&server.address.to_string(), "HOST")
    };
    let read = home.new_key(&["--scope", "read"]);
    let read = read["key"].as_str().unwrap();
    let outputs = [
        export(&[], &[]),
        export(&["--base-url", &base_url], &[("SERVICE_API_TOKEN", "unknown")]),
        export(&["--base-url", "nowhere"], &[("SERVICE_API_TOKEN", read)]),
        export(&["--base-url", &base_url], &[("SERVICE_API_KEY", "schlüssel")]),
        export(&["--with-secrets"], &[("SERVICE_API_TOKEN", read)]),
        export(
            &["--with-secrets", "--out", "exported"],
            &[("SERVICE_API_TOKEN", read), ("SERVICE_API_URL", &base_url)],
        ),
    ];
    insta::assert_snapshot!(outputs.join("\n"), @r"
    error: no API key; log in with `aloft login`, or set SERVICE_API_TOKEN to a key of the workspace
    error: reading the workspace at http://HOST/rpc: unknown API key; check that it is complete and belongs to this server
    error: `nowhere` is not a base URL; one looks like http://127.0.0.1:8080/rpc
    error: invalid character in the API key of SERVICE_API_KEY; copy the key again
    error: the following required arguments were not provided:
    error: `--with-secrets` needs a key with the scope write; this key has the scope read
    ");
    assert!(!home.path().join("exported").exists());
}
