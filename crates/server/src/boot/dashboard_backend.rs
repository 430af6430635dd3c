//! Connects the dashboard to the services of the contract, in process, to emails, and to status pages
//! with their domains.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::{Router, body};
use bytes::Bytes;
use contract::rpc::{self, Error};
use dashboard::{
    Backend, BoxFuture, CallingMember, CheckedDraft, Codec, Dashboard, DashboardParts, DnsRecord,
    DnsRequirement, DomainClaim, DomainSetup, DraftCall, MemberCall, NewKey, PagePreview,
};
use domain::notify::Mail;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use pages::Pages;
use rules::{PageId, ProviderType, Region, Role, Secret, WorkspaceId};
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::app::App;
use crate::auth::Caller;
use crate::config::Settings;
use crate::control::{ControlService, IssuedKey};
use crate::domains::{Claim, Domains, Requirement};
use crate::pipeline::Notifier;
use crate::rpc::{Services, check_draft, draft_warnings, parse_draft, rpc_error};

/// Maximum size of a response in bytes: above that of the largest list.
const RESPONSE_BYTES_MAX: usize = 64 << 20;

/// Time for a request to the provider of single sign-on.
const FETCH_WITHIN: Duration = Duration::from_secs(8);
/// Maximum size of its response in bytes: keys with their certificates are the longest.
const FETCH_BYTES_MAX: usize = 512 << 10;

/// Creates the dashboard of this server.
pub(super) fn dashboard(
    app: &App,
    settings: &Settings,
    listener_url: String,
    stop: &CancellationToken,
) -> Dashboard {
    let backend = DashboardBackend {
        routes: app.member_routes(stop.clone()),
        services: app.services(),
        notifier: app.notifier.clone(),
        control: app.control(),
        pages: app.pages.clone(),
        store: app.store.clone(),
        domains: Arc::clone(&app.domains),
        client: app.client.clone(),
    };
    Dashboard::new(DashboardParts {
        ctx: app.ctx.clone(),
        store: app.store.clone(),
        backend: Arc::new(backend),
        proxies: app.proxies.clone(),
        public_url: settings.public_url.clone(),
        listener_url,
        single_sign_on: settings.single_sign_on.clone(),
        stop: stop.clone(),
    })
}

/// The parts of this server that the dashboard uses.
#[derive(Debug)]
struct DashboardBackend {
    /// Routes of the services behind authentication.
    routes: Router,
    services: Services,
    notifier: Notifier,
    /// Issues keys.
    control: ControlService,
    pages: Pages,
    store: Store,
    domains: Arc<Domains>,
    /// Client for the provider of single sign-on.
    client: probe::Client,
}

impl Backend for DashboardBackend {
    fn call(&self, call: MemberCall) -> BoxFuture<'_, Result<Bytes, Error>> {
        let routes = self.routes.clone();
        Box::pin(async move {
            let request = request(call)?;
            let Ok(response) = routes.oneshot(request).await;
            let status = response.status();
            let body = body::to_bytes(response.into_body(), RESPONSE_BYTES_MAX).await;
            let body = body.map_err(|error| Error::internal(format!("no response: {error}")))?;
            if status == StatusCode::OK { Ok(body) } else { Err(rpc::decode_error(status, &body)) }
        })
    }

    fn issue_key(
        &self,
        member: CallingMember,
        key: NewKey,
    ) -> BoxFuture<'_, Result<Secret<String>, Error>> {
        Box::pin(async move {
            let expires_in = key.days.map(|days| Duration::from_hours(u64::from(days) * 24));
            let (workspace, scope) = (member.workspace, Some(key.scope));
            let new = IssuedKey { workspace, name: key.name, scope, expires_in };
            let change = caller(member).change(self.control.ctx().now());
            let issued = self.control.issue_key(new, change).await;
            issued.map(|issued| issued.key).map_err(rpc_error)
        })
    }

    fn check_draft(&self, call: DraftCall) -> BoxFuture<'_, Result<CheckedDraft, Error>> {
        Box::pin(async move {
            let caller = changing_member(call.member)?;
            let settings = parse_draft(call.kind, &call.request)?;
            let warnings = draft_warnings(&self.services, caller.workspace, &settings).await?;
            let results = match &call.regions[..] {
                [] => Vec::new(),
                regions => check_draft(&self.services, caller, settings, regions).await?,
            };
            Ok(CheckedDraft { warnings, results })
        })
    }

    fn location_of(&self, workspace: WorkspaceId, region: Region) -> Option<String> {
        let probes = self.services.pipeline.probes().of(workspace);
        probes.location_of(region).map(|name| name.0.to_string())
    }

    fn can_send_emails(&self) -> bool {
        self.notifier.missing_setting(ProviderType::Email).is_none()
    }

    fn send_email(
        &self,
        workspace: WorkspaceId,
        mail: Mail,
    ) -> BoxFuture<'static, Result<(), String>> {
        let notifier = self.notifier.clone();
        Box::pin(async move { notifier.send_email(workspace, mail).await })
    }

    fn page_preview(&self, preview: PagePreview) -> BoxFuture<'_, Result<Response, Error>> {
        Box::pin(async move {
            let PagePreview { workspace, page, draft, headers } = preview;
            let mut page = self.store.pages().get(workspace, page).await.map_err(rpc_error)?;
            draft.apply(&mut page.settings);
            self.pages.preview(page, &headers).await.map_err(rpc_error)
        })
    }

    fn page_states(
        &self,
        workspace: WorkspaceId,
        pages: Vec<PageId>,
    ) -> BoxFuture<'_, Result<HashMap<PageId, String>, Error>> {
        Box::pin(async move {
            let states = self.pages.states(workspace, &pages).await;
            states.map_err(|why| rpc::unavailable(format!("failed to read the pages: {why}")))
        })
    }

    fn domain_setup(&self, claim: DomainClaim) -> BoxFuture<'_, Result<DomainSetup, String>> {
        Box::pin(async move {
            let DomainClaim { workspace, slug, domain } = claim;
            let required = self.domains.requirements(&domain, &Claim { workspace, slug }).await?;
            let (target, ownership) = (required.target, required.ownership);
            Ok(DomainSetup { target: encode(target), ownership: encode(ownership) })
        })
    }

    fn fetch(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'static, Result<http::Response<Bytes>, String>> {
        let client = self.client.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let url = head.uri.to_string().parse();
            let url = url.map_err(|error: url::ParseError| error.to_string())?;
            let mut headers = Vec::with_capacity(head.headers.len());
            for (name, value) in &head.headers {
                headers.push((name.clone(), value.clone()));
            }
            let request = probe::Request { method: head.method, url, headers, body };
            let fetched = client.fetch(&request, FETCH_WITHIN, FETCH_BYTES_MAX).await;
            let fetched = fetched.map_err(|failure| failure.detail)?;
            if fetched.truncated {
                return Err(format!("the response is longer than {FETCH_BYTES_MAX} bytes"));
            }
            let mut response = http::Response::new(fetched.body);
            *response.status_mut() = fetched.status;
            *response.headers_mut() = fetched.headers;
            Ok(response)
        })
    }
}

fn encode(requirement: Requirement) -> DnsRequirement {
    let records = requirement.records.into_iter();
    let records =
        records.map(|it| DnsRecord { kind: it.kind, name: it.name, value: it.value }).collect();
    DnsRequirement { records, problem: requirement.problem }
}

/// Returns a member as a caller of services.
const fn caller(member: CallingMember) -> Caller {
    let CallingMember { workspace, user, role, address } = member;
    Caller::member(workspace, user, role).from_address(address)
}

/// Returns the caller of a member who may make changes.
fn changing_member(member: CallingMember) -> Result<Caller, Error> {
    let caller = caller(member);
    if caller.scope.may_write() {
        return Ok(caller);
    }
    Err(rpc_error(StoreError::RoleRequired { role: Role::Editor }))
}

/// Returns the request of a call.
fn request(call: MemberCall) -> Result<Request, Error> {
    let MemberCall { member, method, codec, request, idempotency_key } = call;
    let content_type = match codec {
        Codec::Protobuf => "application/proto",
        Codec::Json => "application/json",
    };
    let mut builder =
        Request::post(method).header(CONTENT_TYPE, content_type).extension(caller(member));
    if let Some(key) = idempotency_key {
        builder = builder.header(rpc::IDEMPOTENCY_KEY_HEADER, key);
    }
    let request = builder.body(Body::from(request));
    request.map_err(|error| Error::internal(format!("failed to build the request: {error}")))
}
