//! The way of commands to the service: the proxy of the environment.

use testkit::target::{HttpProxy, HttpTarget, ScriptedResponse};

use crate::process::Home;

// issue 16 point 18
#[tokio::test(flavor = "multi_thread")]
async fn commands_go_through_the_proxy() {
    let (home, key) = Home::with_key();
    let server = home.serve();
    let proxy = HttpProxy::start_for(server.address, "ada:secret").await;
    let list = |proxy: String| {
        let variables = [
            ("SERVICE_API_URL", "http://service.test/rpc"),
            ("SERVICE_API_TOKEN", &*key),
            ("HTTP_PROXY", &*proxy),
        ];
        let command = ["reports", "templates", "list"];
        tokio::task::block_in_place(|| home.run_with(&command, &variables))
    };
    let ran = list(proxy.url_with("ada:secret"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let asked = proxy.requests();
    assert_eq!(
        asked,
        ["POST http://service.test/rpc/status_report.v1.StatusReportService/ListReportTemplates"]
    );
    let refused = list("socks5://ada:secret@127.0.0.1:1".to_owned());
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("`HTTP_PROXY` is not the URL of an HTTP proxy"),
        "{}",
        refused.err
    );
    assert!(!refused.err.contains("ada:secret"), "{}", refused.err);
}

// issue 16 point 27: "Say what to do on `connection refused`"
#[test]
fn refused_connection_names_the_way_out() {
    let variables = [("SERVICE_API_URL", "http://127.0.0.1:9/rpc"), ("SERVICE_API_TOKEN", "a-key")];
    let ran = Home::new().run_with(&["incidents", "list"], &variables);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("cannot connect: "), "{}", ran.err);
    let advice = "; start the server with `aloft serve`, or give the address of a running one with \
                  `--base-url` or SERVICE_API_URL";
    assert!(ran.err.contains(advice), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_network_have_plain_words() {
    let target = HttpTarget::start().await;
    target.on("/rpc/workspace.v1.WorkspaceService/GetWorkspace", ScriptedResponse::ok("<html>"));
    let plain = target.url("");
    let home = Home::new();
    for (url, why) in [
        ("http://127.0.0.1:9/rpc", "cannot connect: nothing listens at this address"),
        ("http://host.invalid/rpc", "cannot connect: the host was not found"),
        (&*format!("{plain}/other"), "the response is not from an Aloft server (HTTP error 404)"),
        (&*format!("{plain}/rpc"), "the response is not from an Aloft server"),
        (&*plain.replace("http://", "https://"), "write http:// instead of https://"),
    ] {
        let variables = [("SERVICE_API_URL", url), ("SERVICE_API_TOKEN", "a-key")];
        let ran = tokio::task::block_in_place(|| home.run_with(&["usage"], &variables));
        assert_eq!(ran.code, Some(1), "{url}: {}", ran.out);
        assert!(ran.err.contains(why), "{url}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{url}: {}", ran.err);
    }
}
