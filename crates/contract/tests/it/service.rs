//! The complete example of the crate's documentation: a service of the contract, mounted in axum
//! under `/rpc` and at the root. It has reflection, and a layer that identifies the caller.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response as HttpResponse;
use contract::monitor::wire::{
    CreateDnsMonitorRequest, CreateDnsMonitorResponse, CreateHeartbeatMonitorRequest,
    CreateHeartbeatMonitorResponse, CreateHttpMonitorRequest, CreateHttpMonitorResponse,
    CreateTcpMonitorRequest, CreateTcpMonitorResponse, DeleteMonitorRequest, DeleteMonitorResponse,
    GetMonitorRequest, GetMonitorResponse, GetMonitorStatusRequest, GetMonitorStatusResponse,
    GetMonitorSummaryRequest, GetMonitorSummaryResponse, GetResponseLogRequest,
    GetResponseLogResponse, HttpMonitor, ListMissedSlotsRequest, ListMissedSlotsResponse,
    ListMonitorsRequest, ListMonitorsResponse, ListResponseLogsRequest, ListResponseLogsResponse,
    MonitorService, RotateHeartbeatUrlRequest, RotateHeartbeatUrlResponse, TriggerMonitorRequest,
    TriggerMonitorResponse, UpdateDnsMonitorRequest, UpdateDnsMonitorResponse,
    UpdateHeartbeatMonitorRequest, UpdateHeartbeatMonitorResponse, UpdateHttpMonitorRequest,
    UpdateHttpMonitorResponse, UpdateTcpMonitorRequest, UpdateTcpMonitorResponse,
};
use contract::rpc::{self, RequestContext, Response, ServiceResult};
use http_body_util::BodyExt as _;
use rules::{Violation, Violations};
use tower::ServiceExt as _;

/// Identity of a caller, set by the layer.
#[derive(Clone)]
struct Caller(String);

/// Service that returns what it receives, and stores nothing.
struct Echo;

impl MonitorService for Echo {
    async fn create_http_monitor(
        &self,
        context: RequestContext,
        request: CreateHttpMonitorRequest,
    ) -> ServiceResult<CreateHttpMonitorResponse> {
        let mut monitor = request.monitor;
        let caller = context.extensions().get::<Caller>().expect("the layer puts it in");
        let key = context.header(rpc::IDEMPOTENCY_KEY_HEADER).and_then(|it| it.to_str().ok());
        monitor.get_or_insert_default().id =
            Some(format!("mon_{}_{}", caller.0, key.unwrap_or("none")));
        Response::ok(CreateHttpMonitorResponse { monitor, warnings: Vec::new() })
    }

    async fn create_tcp_monitor(
        &self,
        _: RequestContext,
        _: CreateTcpMonitorRequest,
    ) -> ServiceResult<CreateTcpMonitorResponse> {
        let violation = Violation::new("timeout", 120_001, "must be 0 to 120000");
        Err(rpc::invalid(&Violations::from(violation).under("monitor")))
    }

    async fn create_dns_monitor(
        &self,
        _: RequestContext,
        request: CreateDnsMonitorRequest,
    ) -> ServiceResult<CreateDnsMonitorResponse> {
        Response::ok(CreateDnsMonitorResponse { monitor: request.monitor, warnings: Vec::new() })
    }

    async fn create_heartbeat_monitor(
        &self,
        _: RequestContext,
        request: CreateHeartbeatMonitorRequest,
    ) -> ServiceResult<CreateHeartbeatMonitorResponse> {
        Response::ok(CreateHeartbeatMonitorResponse {
            monitor: request.monitor,
            warnings: Vec::new(),
        })
    }

    async fn update_http_monitor(
        &self,
        _: RequestContext,
        request: UpdateHttpMonitorRequest,
    ) -> ServiceResult<UpdateHttpMonitorResponse> {
        // Returns the mask as the description, so that a test can check it.
        let mask = contract::monitor::mask(request.update_mask.as_option()).map(|it| it.join("|"));
        let monitor = HttpMonitor { description: mask, ..HttpMonitor::default() };
        Response::ok(UpdateHttpMonitorResponse { monitor: monitor.into(), warnings: Vec::new() })
    }

    async fn update_tcp_monitor(
        &self,
        _: RequestContext,
        _: UpdateTcpMonitorRequest,
    ) -> ServiceResult<UpdateTcpMonitorResponse> {
        Response::ok(UpdateTcpMonitorResponse::default())
    }

    async fn update_dns_monitor(
        &self,
        _: RequestContext,
        _: UpdateDnsMonitorRequest,
    ) -> ServiceResult<UpdateDnsMonitorResponse> {
        Response::ok(UpdateDnsMonitorResponse::default())
    }

    async fn update_heartbeat_monitor(
        &self,
        _: RequestContext,
        _: UpdateHeartbeatMonitorRequest,
    ) -> ServiceResult<UpdateHeartbeatMonitorResponse> {
        Response::ok(UpdateHeartbeatMonitorResponse::default())
    }

    async fn rotate_heartbeat_url(
        &self,
        _: RequestContext,
        _: RotateHeartbeatUrlRequest,
    ) -> ServiceResult<RotateHeartbeatUrlResponse> {
        Response::ok(RotateHeartbeatUrlResponse::default())
    }

    async fn get_monitor(
        &self,
        _: RequestContext,
        request: GetMonitorRequest,
    ) -> ServiceResult<GetMonitorResponse> {
        Err(rpc::not_found("monitor", &request.id))
    }

    async fn list_monitors(
        &self,
        _: RequestContext,
        _: ListMonitorsRequest,
    ) -> ServiceResult<ListMonitorsResponse> {
        Response::ok(ListMonitorsResponse::default())
    }

    async fn delete_monitor(
        &self,
        _: RequestContext,
        _: DeleteMonitorRequest,
    ) -> ServiceResult<DeleteMonitorResponse> {
        Response::ok(DeleteMonitorResponse::default())
    }

    async fn trigger_monitor(
        &self,
        _: RequestContext,
        _: TriggerMonitorRequest,
    ) -> ServiceResult<TriggerMonitorResponse> {
        Err(rpc::unavailable("no probe serves its regions"))
    }

    async fn get_monitor_status(
        &self,
        _: RequestContext,
        _: GetMonitorStatusRequest,
    ) -> ServiceResult<GetMonitorStatusResponse> {
        Response::ok(GetMonitorStatusResponse::default())
    }

    async fn get_monitor_summary(
        &self,
        _: RequestContext,
        _: GetMonitorSummaryRequest,
    ) -> ServiceResult<GetMonitorSummaryResponse> {
        Response::ok(GetMonitorSummaryResponse::default())
    }

    async fn list_response_logs(
        &self,
        _: RequestContext,
        _: ListResponseLogsRequest,
    ) -> ServiceResult<ListResponseLogsResponse> {
        Response::ok(ListResponseLogsResponse::default())
    }

    async fn list_missed_slots(
        &self,
        _: RequestContext,
        _: ListMissedSlotsRequest,
    ) -> ServiceResult<ListMissedSlotsResponse> {
        Response::ok(ListMissedSlotsResponse::default())
    }

    async fn get_response_log(
        &self,
        _: RequestContext,
        _: GetResponseLogRequest,
    ) -> ServiceResult<GetResponseLogResponse> {
        Response::ok(GetResponseLogResponse::default())
    }
}

/// Mounts the service as a server does.
pub(crate) fn app() -> Router {
    let routes = Arc::new(Echo).register(rpc::Routes::new());
    let reflector =
        connectrpc_reflection::Reflector::from_descriptor_set_bytes(rpc::DESCRIPTORS).unwrap();
    let service = rpc::serve(connectrpc_reflection::install(routes, reflector));
    Router::new()
        .nest_service("/rpc", service.clone())
        .fallback_service(service)
        .layer(from_fn(authenticate))
}

/// Authenticates a request, as the server's layer does: rejects it, or adds the caller.
async fn authenticate(mut request: Request, next: Next) -> HttpResponse {
    let Some(key) = request.headers().get(rpc::KEY_HEADER) else {
        let error = rpc::unauthenticated(rpc::Reason::KeyMissing, "send a key as x-service-key");
        return error.into_http_response(request.headers()).map(Body::new);
    };
    let caller = Caller(key.to_str().unwrap().to_owned());
    request.extensions_mut().insert(caller);
    next.run(request).await
}

/// Calls a method below `/rpc` in Connect's JSON. Returns the status and the body.
pub(crate) async fn call(method: &str, body: &str) -> String {
    let request = request("POST", &format!("/rpc/monitor.v1.MonitorService/{method}"))
        .header("content-type", "application/json")
        .body(Body::from(body.to_owned()))
        .unwrap();
    answer(request).await
}

/// Starts a request with a key.
pub(crate) fn request(verb: &str, path: &str) -> http::request::Builder {
    Request::builder().method(verb).uri(path).header(rpc::KEY_HEADER, "ada")
}

/// Returns the status and the body. Values of error details are omitted, because they are base64.
pub(crate) async fn answer(request: Request) -> String {
    let response = app().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    match serde_json::from_slice::<serde_json::Value>(&body) {
        Ok(mut json) => {
            for detail in json["details"].as_array_mut().into_iter().flatten() {
                *detail = detail["type"].take();
            }
            if json["details"].is_null()
                && let Some(object) = json.as_object_mut()
            {
                object.remove("details");
            }
            format!("{status} {json}")
        }
        Err(_) => format!("{status} {}", String::from_utf8_lossy(&body)),
    }
}
