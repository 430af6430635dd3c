//! The documentation at `/docs`, and the response at the root of the server.

mod browser;
mod links;
mod search;

use axum::body::Body;
use http::Request;
use http_body_util::Full;
use serde_json::Value;
use testkit::server::{Reply, TestServer};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// A server that serves its documentation.
struct Site {
    server: TestServer,
}

impl Site {
    async fn open() -> Self {
        Self { server: TestServer::start().await }
    }

    /// Requests a path with these headers.
    async fn ask(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = Request::get(path).header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.server.nobody().request(request.body(Full::default()).unwrap()).await
    }

    /// Returns the body for a request without preferences.
    async fn text(&self, path: &str) -> String {
        let reply = self.ask(path, &[("accept", "text/html")]).await;
        assert_eq!(reply.status, 200, "{path}: {reply}");
        String::from_utf8(reply.body.to_vec()).unwrap()
    }

    async fn json(&self, path: &str) -> Value {
        let reply = self.ask(path, &[("accept", "application/json")]).await;
        assert_eq!(reply.headers["content-type"], "application/json");
        reply.json()
    }
}

/// Returns all values of an attribute.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let begin = format!(" {name}=\"");
    let rests = html.split(begin.as_str()).skip(1);
    rests.filter_map(|rest| rest.split('"').next()).collect()
}

// issue 8: "served by the server itself at `/docs`"
#[tokio::test]
async fn pages_are_served_as_html_and_markdown() {
    let site = Site::open().await;
    let path = "/docs/terraform/resources/http_monitor";
    let page = site.text(path).await;
    assert!(
        page.contains("<h1 id=\"service_http_monitor-resource\">service_http_monitor (Resource)")
    );
    let named = site.ask(&format!("{path}.md"), &[]).await;
    let wished = site.ask(path, &[("accept", "text/markdown, text/html;q=0.5")]).await;
    for markdown in [named, wished] {
        assert_eq!(markdown.headers["content-type"], "text/markdown; charset=utf-8");
        assert!(markdown.body.starts_with(b"# service_http_monitor (Resource)\n"));
    }
    let schema = site.ask("/docs/reference/webhook.schema.json", &[]).await;
    assert_eq!(schema.headers["content-type"], "application/schema+json");
    assert_eq!(schema.json()["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let list = site.ask("/docs/llms.txt", &[]).await;
    let list = String::from_utf8(list.body.to_vec()).unwrap();
    assert!(list.contains("](/docs/terraform/resources/http_monitor.md): Sends an HTTP request"));
    assert_eq!(site.ask("/docs", &[("accept", "text/markdown")]).await.body, list);
}

#[tokio::test]
async fn other_names_of_a_page_lead_to_it() {
    let site = Site::open().await;
    for (path, place) in [
        ("/docs/", "/docs"),
        ("/docs/terraform/", "/docs/terraform"),
        ("/docs/terraform/index", "/docs/terraform"),
        ("/docs/terraform.md", "/docs/terraform/index.md"),
    ] {
        let reply = site.ask(path, &[]).await;
        assert_eq!(
            (reply.status.as_u16(), &reply.headers["location"]),
            (308, &place.parse().unwrap())
        );
    }
}

#[tokio::test]
async fn missing_page_offers_a_search() {
    let site = Site::open().await;
    for path in
        ["/docs/http-monitor", "/docs/../Cargo.toml", "/docs/%ff", "/docs/%2e%2e/%00", "/docs/<b>"]
    {
        let path = path.replace('<', "%3C").replace('>', "%3E");
        let reply = site.ask(&path, &[("accept", "text/html")]).await;
        let text = String::from_utf8(reply.body.to_vec()).unwrap();
        assert_eq!(reply.status, 404, "{path}");
        assert!(
            text.contains("action=\"/docs/search\"") && text.contains("noindex"),
            "{path}: {text}"
        );
        assert!(!text.contains("<b>"), "{text}");
    }
    let text = site.ask("/docs/http-monitor", &[]).await.body;
    assert!(String::from_utf8(text.to_vec()).unwrap().contains("value=\"http monitor\""));
}

#[tokio::test]
async fn responses_have_cache_and_security_headers() {
    let site = Site::open().await;
    let mut request = vec![("accept-encoding", "gzip, br")];
    let reply = site.ask("/docs/terraform", &request).await;
    assert_eq!(reply.headers["content-encoding"], "br");
    assert_eq!(reply.headers["vary"], "accept, accept-encoding");
    let policy = reply.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    let etag = reply.headers["etag"].to_str().unwrap().to_owned();
    request.push(("if-none-match", &etag));
    let again = site.ask("/docs/terraform", &request).await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    let head = Request::head("/docs/terraform").header("host", "localhost");
    let head = site.server.nobody().request(head.body(Full::default()).unwrap()).await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    assert_eq!(head.headers["etag"], etag);
    assert_eq!(
        site.server.nobody().get("/docs/icon.svg").await.headers["content-type"],
        "image/svg+xml"
    );
}

// issue 16 point 17: "Publish OpenAPI 3.1 for the whole RPC API (Connect JSON) at `/openapi.json`"
#[tokio::test]
async fn openapi_is_public_compressed_and_cached() {
    let site = Site::open().await;
    let whole = site.ask("/openapi.json", &[]).await;
    assert_eq!((whole.status.as_u16(), whole.json()["openapi"].as_str()), (200, Some("3.1.0")));
    assert_eq!(whole.headers["content-type"], "application/json");
    let written = include_str!("../../../../docs/reference/openapi.json");
    assert!(whole.body == written, "the program has the file of docs/reference");
    for path in ["/openapi.json", "/v1/openapi.json", "/docs/reference/openapi.json"] {
        let small = site.ask(path, &[("accept-encoding", "br")]).await;
        assert_eq!(small.headers["content-encoding"], "br", "{path}");
        assert!(small.body.len() < 64 << 10, "{path} is {} bytes", small.body.len());
        let etag = small.headers["etag"].to_str().unwrap();
        assert_eq!(etag, whole.headers["etag"], "{path}");
        let known = site.ask(path, &[("if-none-match", etag)]).await;
        assert_eq!((known.status.as_u16(), known.body.len()), (304, 0), "{path}");
    }
}

// issue 7: "HTML and CSS at most 30 KB" for status pages applies to documentation pages too
#[tokio::test]
async fn a_page_is_small_on_the_wire() {
    let site = Site::open().await;
    for path in ["/docs", "/docs/terraform/resources/http_monitor", "/docs/reference/settings"] {
        let bytes = site.ask(path, &[("accept-encoding", "br")]).await.body.len();
        assert!(bytes < 16 << 10, "{path} is {bytes} bytes");
    }
    let script = site.ask("/docs/docs.js", &[("accept-encoding", "br")]).await.body.len();
    assert!(script < 2 << 10, "the script is {script} bytes");
}

#[tokio::test]
async fn examples_call_the_server_that_shows_them() {
    let url = "https://up.example.com";
    let server =
        TestServer::start_with(|settings| settings.public_url = Some(url.to_owned())).await;
    let site = Site { server };
    let page = site.text("/docs/terraform").await;
    assert!(page.contains("&quot;https://up.example.com/rpc&quot;"), "{page}");
    // Default values are not replaced.
    assert!(page.contains("or to http://127.0.0.1:8080/rpc."), "{page}");
    let list = site.ask("/docs/llms.txt", &[]).await.body;
    assert!(
        String::from_utf8(list.to_vec())
            .unwrap()
            .contains("(https://up.example.com/docs/terraform/index.md)")
    );
    // All examples of the reference take their address from this page.
    let calling = site.text("/docs/reference/calling").await;
    assert!(calling.contains("=https://up.example.com/rpc"), "{calling}");
    let badges = site.text("/docs/guides/status-page").await;
    assert!(badges.contains("https://up.example.com/status/acme/widget.js"), "{badges}");
    // Operators call these paths locally: a proxy may not exist yet, or may block them.
    let operator = site.text("/docs/guides/run-it-for-real").await;
    for path in ["/readyz", "/metrics"] {
        assert!(operator.contains(&format!("http://127.0.0.1:8080{path}")), "{path}");
        assert!(!operator.contains(&format!("https://up.example.com{path}")), "{path}");
    }
}

#[tokio::test]
async fn status_page_domain_serves_no_documentation() {
    let server = TestServer::start().await;
    let pages = server.running().app().page_router("status.acme.example", CancellationToken::new());
    for path in ["/docs", "/docs/search?q=monitor", "/docs/docs.js", "/docs/terraform"] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        assert_eq!(pages.clone().oneshot(request).await.unwrap().status(), 404, "{path}");
    }
}

/// Routes of `/v1` beside the description itself.
const ROUTES: [(&str, &str); 2] = [("/v1/whoami", "get"), ("/v1/api-key/{id}", "delete")];

#[tokio::test]
async fn description_has_every_method_and_route_once() {
    let description = Site::open().await.json("/openapi.json").await;
    let mut described: Vec<(String, String)> = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        let verbs = item.as_object().unwrap().keys();
        described.extend(verbs.map(|verb| (path.clone(), verb.clone())));
    }
    let of = |path: &str, verb: &str| (path.to_owned(), verb.to_owned());
    let methods = contract::rpc::methods().iter();
    let mut expected: Vec<_> =
        methods.map(|method| of(&format!("/rpc{}", method.path), "post")).collect();
    expected.extend(ROUTES.iter().map(|(path, verb)| of(path, verb)));
    expected.push(of("/openapi.json", "get"));
    described.sort();
    expected.sort();
    assert_eq!(described, expected);
}
