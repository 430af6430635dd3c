//! Calls in each protocol, and a few handwritten messages.

use bytes::Bytes;
use contract::rpc::{Method, field_names, methods};
use http::Method as Verb;
use serde_json::{Value, json};
use testkit::server::{
    API_KEYS, Caller, INCIDENTS, MAINTENANCES, MEMBERS, MONITORS, NOTIFICATIONS, Reply,
    STATUS_PAGES, STATUS_REPORTS, TestServer,
};

use crate::pipeline::until;

const NOT_FOUND: u32 = 5;
const CONFIGURATIONS: &str = "configuration.v1.ConfigurationService";
/// Name of the known configuration.
const CONFIGURATION: &str = "production";

/// A protocol and encoding of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RpcProtocol {
    ConnectJson,
    ConnectProto,
    ConnectGet,
    Grpc,
    GrpcAtRoot,
    GrpcWeb,
}

impl RpcProtocol {
    pub(crate) const ALL: [Self; 6] = [
        Self::ConnectJson,
        Self::ConnectProto,
        Self::ConnectGet,
        Self::Grpc,
        Self::GrpcAtRoot,
        Self::GrpcWeb,
    ];

    /// Calls a method for the resource `id`, or with an empty request.
    pub(crate) async fn call(self, caller: &Caller, method: &Method, id: Option<&str>) -> Reply {
        let path = format!("/rpc{}", method.path);
        let message = message(method, id);
        match self {
            Self::ConnectJson => {
                let body = json_of(method, id).to_string();
                caller.send(Verb::POST, &path, "application/json", body).await
            }
            Self::ConnectProto => {
                caller.send(Verb::POST, &path, "application/proto", message).await
            }
            Self::ConnectGet => {
                let json = percent(&json_of(method, id).to_string());
                caller.get(&format!("{path}?connect=v1&encoding=json&message={json}")).await
            }
            Self::Grpc => caller.send_h2(&path, "application/grpc+proto", framed(&message)).await,
            Self::GrpcAtRoot => {
                caller.send_h2(&method.path, "application/grpc", framed(&message)).await
            }
            Self::GrpcWeb => {
                let body = framed(&message);
                caller.send(Verb::POST, &path, "application/grpc-web+proto", body).await
            }
        }
    }

    /// Returns whether the protocol supports a method. Connect GET supports only reads.
    pub(crate) fn is_for(self, method: &Method) -> bool {
        self != Self::ConnectGet || method.reads_only
    }

    /// Returns the gRPC status code of a reply. 0 is success.
    pub(crate) fn code(self, reply: &Reply) -> u32 {
        match self {
            Self::ConnectJson | Self::ConnectProto | Self::ConnectGet => {
                if reply.status == 200 {
                    return 0;
                }
                let error = reply.error().unwrap_or_else(|| panic!("{self:?}: {reply}"));
                assert_eq!(error.code.http_status(), reply.status, "{self:?}: {reply}");
                error.code.grpc_code()
            }
            Self::Grpc | Self::GrpcAtRoot | Self::GrpcWeb => {
                assert_eq!(reply.status, 200, "{self:?}: {reply}");
                reply
                    .grpc_status()
                    .unwrap_or_else(|| panic!("{self:?}: {reply} {:?}", reply.headers))
            }
        }
    }
}

/// Returns a monitor of this kind with only the required fields.
pub(crate) fn a_monitor(kind: &str) -> Value {
    match kind {
        "http" => json!({ "name": "API", "url": "https://example.com/", "periodicity": "1m" }),
        "tcp" => json!({ "name": "db", "uri": "db.example.com:5432", "periodicity": "1m" }),
        "dns" => json!({ "name": "zone", "uri": "example.com", "periodicity": "1m" }),
        "heartbeat" => json!({ "name": "backup", "interval": 3_600 }),
        other => panic!("there is no kind `{other}`"),
    }
}

/// IDs of one resource of each kind.
pub(crate) struct KnownResources {
    monitor: String,
    channel: String,
    delivery: String,
    page: String,
    component: String,
    group: String,
    subscriber: String,
    maintenance: String,
    report: String,
    update: String,
    template: String,
    incident: String,
    key: String,
}

impl KnownResources {
    /// Creates one resource of each kind.
    pub(crate) async fn made_by(caller: &Caller) -> Self {
        let make = async |service: &str, name: &str, field: &str, resource: Value| {
            let method = format!("Create{name}");
            let made = caller.call(service, &method, json!({ field: resource })).await;
            let id = made.json()[field]["id"].as_str().map(str::to_owned);
            id.unwrap_or_else(|| panic!("{method}: {made}"))
        };
        let monitor = make(MONITORS, "TcpMonitor", "monitor", a_monitor("tcp")).await;
        let channel = json!({ "providerType": "email", "email": { "email": "ops@example.com" } });
        let channel = make(NOTIFICATIONS, "Notification", "notification", channel).await;
        // A test message creates a delivery even if it fails.
        caller.call(NOTIFICATIONS, "TestNotification", json!({ "id": channel })).await;
        let log = caller.call(NOTIFICATIONS, "ListDeliveries", json!({})).await;
        let delivery = log.json()["deliveries"][0]["id"].as_str().map(str::to_owned);
        let delivery = delivery.unwrap_or_else(|| panic!("{log}"));
        let page = json!({ "title": "Acme", "slug": "acme" });
        let page = make(STATUS_PAGES, "StatusPage", "statusPage", page).await;
        let component = json!({ "pageId": page, "type": "monitor", "monitorId": monitor });
        let component = make(STATUS_PAGES, "Component", "component", component).await;
        let group = json!({ "pageId": page, "name": "Core" });
        let group = make(STATUS_PAGES, "ComponentGroup", "componentGroup", group).await;
        let subscriber = json!({ "pageId": page, "email": "ada@example.com" });
        let request = json!({ "subscriber": subscriber });
        let subscriber = caller.call(STATUS_PAGES, "AddSubscriber", request).await.json();
        let subscriber = subscriber["subscriber"]["id"].as_str().expect("one").to_owned();
        let maintenance = json!({
            "title": "Moving", "startsAt": "2090-01-01T00:00:00Z", "duration": "1h", "monitorIds": [monitor],
        });
        let maintenance = make(MAINTENANCES, "Maintenance", "maintenance", maintenance).await;
        let report = json!({
            "statusReport": { "pageId": page, "title": "Disks" },
            "update": { "status": "investigating", "text": "We look." },
        });
        let report = caller.call(STATUS_REPORTS, "CreateStatusReport", report).await.json();
        let report = &report["statusReport"];
        let update = report["updates"][0]["id"].as_str().expect("an update").to_owned();
        let report = report["id"].as_str().expect("a report").to_owned();
        let template =
            make(STATUS_REPORTS, "ReportTemplate", "template", json!({ "name": "Disks" })).await;
        let entry = json!({ "kind": "tcp_monitor", "key": "tcp", "id": monitor });
        let record = json!({ "name": CONFIGURATION, "put": [entry] });
        caller.call(CONFIGURATIONS, "RecordConfiguredResources", record).await;
        let incident = an_incident(caller).await;
        let keys = caller.call(API_KEYS, "ListApiKeys", json!({})).await.json();
        let key = keys["apiKeys"][0]["id"].as_str().expect("a key").to_owned();
        Self {
            monitor,
            channel,
            delivery,
            page,
            component,
            group,
            subscriber,
            maintenance,
            report,
            update,
            template,
            incident,
            key,
        }
    }

    /// Returns the ID of the resource that a method acts on.
    pub(crate) fn for_method(&self, method: &Method) -> &str {
        let is_about = |kind: &str| method.name.contains(kind);
        match method.service.as_str() {
            INCIDENTS => &self.incident,
            MAINTENANCES => &self.maintenance,
            NOTIFICATIONS if is_about("Delivery") => &self.delivery,
            NOTIFICATIONS => &self.channel,
            STATUS_PAGES if is_about("ComponentGroup") => &self.group,
            STATUS_PAGES if is_about("Component") => &self.component,
            STATUS_PAGES if is_about("Subscriber") => &self.subscriber,
            STATUS_PAGES => &self.page,
            STATUS_REPORTS if is_about("Template") => &self.template,
            STATUS_REPORTS
                if matches!(
                    &*method.name,
                    "EditStatusReportUpdate" | "DeleteStatusReportUpdate"
                ) =>
            {
                &self.update
            }
            STATUS_REPORTS => &self.report,
            API_KEYS => &self.key,
            _ => &self.monitor,
        }
    }
}

/// Creates an incident with a monitor of a closed port.
async fn an_incident(caller: &Caller) -> String {
    let monitor = json!({
        "name": "gone", "url": "http://127.0.0.1:1/", "periodicity": "1m", "active": true,
        "regions": ["fly-ams"], "retry": 0,
    });
    caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
    until(async || {
        let listed = caller.call(INCIDENTS, "ListIncidents", json!({})).await.json();
        listed["incidents"][0]["id"].as_str().map(str::to_owned)
    })
    .await
}

/// Encodes a message as one uncompressed gRPC frame.
pub(crate) fn framed(message: &[u8]) -> Bytes {
    let mut frame = vec![0];
    frame.extend((message.len() as u32).to_be_bytes());
    frame.extend(message);
    frame.into()
}

fn message(method: &Method, id: Option<&str>) -> Bytes {
    // Field 1 is a string in these requests and in the resources.
    let text = |inner: &[u8]| [&[0x0A, inner.len() as u8], inner].concat();
    match id {
        None => Bytes::new(),
        Some(_) if lists_a_configuration(method) => text(CONFIGURATION.as_bytes()).into(),
        Some(_) if takes_nothing(method) => Bytes::new(),
        Some(id) if names_a_resource(method) => text(&text(id.as_bytes())).into(),
        Some(id) if method.name == "SetStatusPageTheme" => {
            [text(id.as_bytes()), b"\x12\x04dark".to_vec()].concat().into()
        }
        Some(id) if method.name == "SetStatusPageIndexing" => {
            [text(id.as_bytes()), b"\x10\x01".to_vec()].concat().into()
        }
        Some(id) if method.name == "GetResponseLog" => {
            [text(id.as_bytes()), b"\x12\x05log_x".to_vec()].concat().into()
        }
        Some(id) if method.name == "CommentIncident" => {
            [text(id.as_bytes()), b"\x12\x04help".to_vec()].concat().into()
        }
        Some(id) if method.name == "AddStatusReportUpdate" => {
            // Field 2 of an update is its status, field 3 its text.
            let update = b"\x12\x12\x12\x0aidentified\x1a\x04help".to_vec();
            [text(id.as_bytes()), update].concat().into()
        }
        Some(id) => text(id.as_bytes()).into(),
    }
}

fn json_of(method: &Method, id: Option<&str>) -> Value {
    match id {
        None => json!({}),
        Some(_) if lists_a_configuration(method) => json!({ "name": CONFIGURATION }),
        Some(_) if takes_nothing(method) => json!({}),
        Some(id) if names_a_resource(method) => {
            let resource = field_names(&method.request).and_then(|mut names| names.next());
            json!({ resource.expect("an update has its resource first"): { "id": id } })
        }
        Some(id) if method.name == "SetStatusPageTheme" => json!({ "id": id, "theme": "dark" }),
        Some(id) if method.name == "SetStatusPageIndexing" => {
            json!({ "id": id, "allowIndexing": true })
        }
        Some(id) if method.name == "GetResponseLog" => json!({ "monitorId": id, "id": "log_x" }),
        Some(id) if method.name == "CommentIncident" => json!({ "id": id, "text": "help" }),
        Some(id) if method.name == "AddStatusReportUpdate" => {
            json!({ "id": id, "update": { "status": "identified", "text": "help" } })
        }
        Some(id) => json!({ "id": id }),
    }
}

/// Returns whether the request contains a resource with its ID.
fn names_a_resource(method: &Method) -> bool {
    method.name.starts_with("Update") || method.name.starts_with("Edit")
}

fn takes_nothing(method: &Method) -> bool {
    makes_a_resource(method) || names_a_configuration(method) || is_about_all(method)
}

/// Returns whether a method creates a resource, so its request has no ID.
pub(crate) fn makes_a_resource(method: &Method) -> bool {
    method.name.starts_with("Create") || method.name == "AddSubscriber"
}

/// Returns whether a method changes a configuration by its name, so its request has no ID.
pub(crate) fn names_a_configuration(method: &Method) -> bool {
    method.service == CONFIGURATIONS && !method.name.starts_with("List")
}

/// Returns whether a method lists the entries of one configuration.
fn lists_a_configuration(method: &Method) -> bool {
    method.name == "ListConfiguredResources"
}

/// Returns whether a method acts on the whole workspace.
pub(crate) fn is_about_all(method: &Method) -> bool {
    let lists = method.name.starts_with("List") && !of_one_monitor(method);
    lists || ["RotateSigningSecret", "GetWorkspace", "UpdateWorkspace"].contains(&&*method.name)
}

/// Returns whether a method reads checks or missed slots of one monitor.
fn of_one_monitor(method: &Method) -> bool {
    ["ListResponseLogs", "GetResponseLog", "ListMissedSlots"].contains(&method.name.as_str())
}

fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |escaped, byte| format!("{escaped}%{byte:02X}"))
}

#[tokio::test]
async fn health_and_reflection_need_no_key() {
    // issue 3: grpcurl and buf curl work without files
    let server = TestServer::start().await;
    let nobody = server.nobody();
    for base in ["", "/rpc"] {
        let path = format!("{base}/grpc.health.v1.Health/Check");
        let health = nobody.send_h2(&path, "application/grpc", framed(b"")).await;
        assert_eq!((health.status.as_u16(), health.grpc_status()), (200, Some(0)), "{path}");
        for version in ["v1", "v1alpha"] {
            let path =
                format!("{base}/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
            // ServerReflectionRequest { list_services: "" }
            let reply = nobody.send_h2(&path, "application/grpc", framed(b"\x3a\x00")).await;
            assert_eq!((reply.status.as_u16(), reply.grpc_status()), (200, Some(0)), "{path}");
            let body = String::from_utf8_lossy(&reply.body);
            assert!(body.contains("monitor.v1.MonitorService"), "{body}");
        }
    }
}

#[tokio::test]
async fn every_read_answers_over_every_protocol() {
    let server = TestServer::start().await;
    let caller = server.caller(rules::Scope::Write);
    let known = KnownResources::made_by(&caller).await;
    for method in methods().iter().filter(|it| it.reads_only) {
        for protocol in RpcProtocol::ALL {
            let reply = protocol.call(&caller, method, Some(known.for_method(method))).await;
            // An unchecked monitor has no logs.
            let expected = if method.name == "GetResponseLog" { NOT_FOUND } else { 0 };
            assert_eq!(
                protocol.code(&reply),
                expected,
                "{} over {protocol:?}: {reply}",
                method.path
            );
            // An empty list encodes as an empty message, and a gRPC error has no message.
            let is_empty = reply.body.is_empty();
            let may_be_empty = of_one_monitor(method)
                || [MEMBERS, "probe.v1.ProbeService"].contains(&&*method.service);
            assert!(!is_empty || may_be_empty, "{} over {protocol:?}", method.path);
        }
    }
}
