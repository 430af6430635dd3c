//! Status pages as visitors see them, by slug and on a custom domain.

mod access;
mod away;
mod browser;
mod depth;
mod depth_icon;
mod forms;
mod front;
mod keyboard;
mod live;
mod members;
mod namesake;
mod page;
mod report;
mod size;
mod subscribe;

use axum::body::Body;
use axum::response::Response;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use rules::{MonitorId, Scope};
use serde_json::{Value, json};
use testkit::server::{Caller, Reply, STATUS_PAGES, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::pipeline::Watched;

/// Custom domain of the pages that have one.
const DOMAIN: &str = "status.acme.example";

/// Address of a request for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Slug,
    Domain,
}

impl At {
    const BOTH: [Self; 2] = [Self::Slug, Self::Domain];
}

/// Published page and its owner.
struct Site {
    watched: Watched,
    owner: Caller,
    page: Value,
    monitor: Option<MonitorId>,
}

impl Site {
    /// Opens a page with two components: one shows a monitor, and the other is static and in a
    /// group.
    async fn open(target: &HttpTarget) -> Self {
        Self::open_on(TestServer::start().await, target).await
    }

    /// Opens the page on this server.
    async fn open_on(server: TestServer, target: &HttpTarget) -> Self {
        let watched = Watched::on(server).await;
        let owner = watched.server.caller(Scope::Write);
        let monitor = watched.monitor(&target.url("/")).await;
        let page = json!({ "title": "Acme <Ops>", "slug": "acme", "description": "What we run" });
        let page = made(&owner, "CreateStatusPage", "statusPage", page).await;
        let group = json!({ "pageId": page["id"], "name": "Behind" });
        let group = made(&owner, "CreateComponentGroup", "componentGroup", group).await;
        let api = json!({
            "pageId": page["id"], "type": "monitor", "monitorId": monitor.to_string(),
            "name": "API & more", "order": 1,
        });
        made(&owner, "CreateComponent", "component", api).await;
        let mail = json!({
            "pageId": page["id"], "type": "static", "name": "Mail", "groupId": group["id"],
        });
        made(&owner, "CreateComponent", "component", mail).await;
        Self { watched, owner, page, monitor: Some(monitor) }
    }

    /// Waits until this many results of the monitor are stored.
    async fn results(&self, count: usize) {
        self.watched.stored.at_least(count, self.monitor.unwrap()).await;
    }

    async fn update(&self, fields: Value) {
        let mut page = json!({ "id": self.page["id"] });
        let names: Vec<_> = fields.as_object().unwrap().keys().cloned().collect();
        page.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let request = json!({ "statusPage": page, "updateMask": names.join(",") });
        let reply = self.owner.call(STATUS_PAGES, "UpdateStatusPage", request).await;
        assert_eq!(reply.status, 200, "{reply}");
    }

    /// Requests a subpath of the page with these headers.
    async fn visit(&self, rest: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = Request::get(format!("/status/acme{rest}")).header("host", "acme");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.anybody().request(request.body(Full::default()).unwrap()).await
    }

    /// Requests a subpath from the router directly, without a connection. The body may be a stream.
    async fn ask(&self, at: At, rest: &str, headers: &[(&str, &str)]) -> Response {
        let (app, stop) = (self.watched.server.running().app(), CancellationToken::new());
        let dashboard = self.watched.server.running().dashboard();
        let (router, path) = match at {
            At::Slug => (app.router(dashboard, stop), format!("/status/acme{rest}")),
            At::Domain if rest.is_empty() => (app.page_router(DOMAIN, stop), "/".to_owned()),
            At::Domain => (app.page_router(DOMAIN, stop), rest.to_owned()),
        };
        let request = headers
            .iter()
            .fold(Request::get(path), |request, (name, value)| request.header(*name, *value));
        router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    /// Sets the custom domain of the page.
    async fn has_a_domain(&self) {
        self.update(json!({ "customDomain": DOMAIN })).await;
    }

    /// Calls a method of the owner that takes the ID of the page.
    async fn owns(&self, method: &str) {
        let reply = self.owner.call(STATUS_PAGES, method, json!({ "id": self.page["id"] })).await;
        assert_eq!(reply.status, 200, "{reply}");
    }

    /// Returns the sample with this name from the metrics of the server.
    async fn metric(&self, name: &str) -> u64 {
        let page = String::from_utf8(self.anybody().get("/metrics").await.body.to_vec()).unwrap();
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap().parse().unwrap()
    }

    fn anybody(&self) -> Caller {
        self.watched.server.with_key("nobody")
    }

    async fn text(&self, rest: &str) -> String {
        let reply = self.visit(rest, &[]).await;
        assert_eq!(reply.status, 200, "{rest}: {reply}");
        String::from_utf8(reply.body.to_vec()).unwrap()
    }

    /// Submits a password. Returns the status, and the cookie if the password is correct.
    async fn unlock(&self, password: &str) -> (StatusCode, Option<String>) {
        let form = "application/x-www-form-urlencoded";
        let body = format!("password={password}");
        let reply = self.anybody().send(Method::POST, "/status/acme/unlock", form, body).await;
        let cookie = reply.headers.get("set-cookie").map(|it| it.to_str().unwrap());
        let pair = cookie.and_then(|it| it.split(';').next()).map(str::to_owned);
        (reply.status, pair)
    }
}

async fn made(owner: &Caller, method: &str, field: &str, fields: Value) -> Value {
    let reply = owner.call(STATUS_PAGES, method, json!({ field: fields })).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    reply.json()[field].clone()
}

async fn well() -> HttpTarget {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    target
}

/// Returns the whole body as text. The body must end.
async fn body(answer: Response) -> String {
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8_lossy(&bytes).into_owned()
}
