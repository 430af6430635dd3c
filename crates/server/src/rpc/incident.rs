//! `incident.v1.IncidentService`: incidents of monitors and the actions of people on them. The
//! judge opens and closes incidents, even if a person resolves one. `encode` encodes them.

mod encode;

use contract::incident::wire::{
    AcknowledgeIncidentRequest, AcknowledgeIncidentResponse, CommentIncidentRequest,
    CommentIncidentResponse, GetIncidentRequest, GetIncidentResponse, IncidentService,
    ListIncidentsRequest, ListIncidentsResponse, ResolveIncidentRequest, ResolveIncidentResponse,
};
use contract::rpc::{self, Error, RequestContext, Response, ServiceResult};
use rules::incident::{Comment, IncidentState};
use rules::{IncidentId, MonitorId, MonitorKind, Violation, Violations};
use store::{Incident, IncidentFilter, NewComment};

use self::encode::{encode_entry, encode_incident, evidence};
use super::list::{PageRequest, PageSlice, encode_total};
use super::monitor::status::RegionNames;
use super::pipeline_call::{run_to_end, unavailable};
use super::request::{caller, change, id, idempotency, parse_time, secrets};
use crate::auth::Caller;
use crate::rpc::{Services, rpc_error};

/// Noun of this resource in error messages.
const NOUN: &str = "incident";

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct Incidents(pub(super) Services);

impl IncidentService for Incidents {
    async fn list_incidents(
        &self,
        context: RequestContext,
        request: ListIncidentsRequest,
    ) -> ServiceResult<ListIncidentsResponse> {
        let caller = caller(&context);
        let (filter, page) = parse_request(&request)?;
        let incidents = self.0.store.incidents();
        let found = incidents.list(caller.workspace, filter, page.with_one_more()).await;
        let found = found.map_err(rpc_error)?;
        let (incidents, next_page_token) =
            page.cut(&found, |incident| incident.id, encode_incident, rpc::encoded_bytes);
        Response::ok(ListIncidentsResponse {
            incidents,
            total_size: encode_total(found.total),
            next_page_token,
        })
    }

    async fn get_incident(
        &self,
        context: RequestContext,
        request: GetIncidentRequest,
    ) -> ServiceResult<GetIncidentResponse> {
        let (caller, id) = (caller(&context), id(NOUN, &request.id)?);
        let found = self.0.store.incidents().get(caller.workspace, id).await.map_err(rpc_error)?;
        let names = RegionNames::new(self.0.probes(caller), found.incident.monitor_kind);
        Response::ok(GetIncidentResponse {
            incident: encode_incident(&found.incident).into(),
            timeline: found.timeline.iter().map(|it| encode_entry(it, names)).collect(),
            evidence: found
                .evidence
                .iter()
                .map(|it| evidence(it, names, secrets(caller)))
                .collect(),
        })
    }

    async fn acknowledge_incident(
        &self,
        context: RequestContext,
        request: AcknowledgeIncidentRequest,
    ) -> ServiceResult<AcknowledgeIncidentResponse> {
        let (caller, id) = (caller(&context), id(NOUN, &request.id)?);
        let (incidents, change) = (self.0.store.incidents(), change(&self.0, caller));
        let incident = incidents.acknowledge(caller.workspace, id, change).await;
        let incident = encode_incident(&incident.map_err(rpc_error)?).into();
        Response::ok(AcknowledgeIncidentResponse { incident })
    }

    async fn resolve_incident(
        &self,
        context: RequestContext,
        request: ResolveIncidentRequest,
    ) -> ServiceResult<ResolveIncidentResponse> {
        let incident = self.resolve(caller(&context), id(NOUN, &request.id)?).await?;
        Response::ok(ResolveIncidentResponse { incident: encode_incident(&incident).into() })
    }

    async fn comment_incident(
        &self,
        context: RequestContext,
        request: CommentIncidentRequest,
    ) -> ServiceResult<CommentIncidentResponse> {
        let (caller, incident) = (caller(&context), id(NOUN, &request.id)?);
        let idempotency = idempotency(&context, "CommentIncident", &request)?;
        let comment =
            Comment::parse(request.text).map_err(|violations| rpc::invalid(&violations))?;
        let new = NewComment {
            workspace: caller.workspace,
            incident,
            text: comment.into_text(),
            idempotency,
        };
        let written = self.0.store.incidents().comment(new, change(&self.0, caller)).await;
        let written = written.map_err(rpc_error)?.into_inner();
        // A comment has no region.
        let names = RegionNames::new(self.0.probes(caller), MonitorKind::Http);
        Response::ok(CommentIncidentResponse { entry: encode_entry(&written, names).into() })
    }
}

impl Incidents {
    /// Has the judge close the incident, in order with the changes of its monitor. Completes even
    /// if the caller disconnects.
    async fn resolve(&self, caller: Caller, id: IncidentId) -> Result<Incident, Error> {
        let (services, workspace, change) =
            (self.0.clone(), caller.workspace, change(&self.0, caller));
        let found = services.store.incidents().find(workspace, id).await.map_err(rpc_error)?;
        if found.closed.is_some() {
            return Ok(found);
        }
        let monitor = found.monitor;
        let resolve = async move {
            let incidents = services.store.incidents();
            incidents.request_resolution(workspace, id, change).await.map_err(rpc_error)?;
            let resolved = services.pipeline.resolve_incident(monitor, id).await;
            resolved.map_err(|error| unavailable(&error, &monitor.to_string()))?;
            incidents.find(workspace, id).await.map_err(rpc_error)
        };
        run_to_end(&self.0, monitor, resolve).await
    }
}

/// Parses the filter and the page of a request. Returns all violations.
fn parse_request(
    request: &ListIncidentsRequest,
) -> Result<(IncidentFilter, PageSlice<IncidentId>), Error> {
    let mut wrong = Vec::new();
    let page_token = request.page_token.as_deref();
    let page = PageRequest { limit: request.limit, offset: request.offset, page_token }.parse();
    let state = request.state.as_deref().filter(|state| !state.is_empty());
    let state = state.map(IncidentState::parse).transpose();
    let monitor = request.monitor_id.as_deref().filter(|monitor| !monitor.is_empty());
    let monitor = monitor.map(MonitorId::parse).transpose();
    if let Err(unknown) = &state {
        let allowed = format!("must be one of {}", unknown.known);
        wrong.push(Violation::new("state", &unknown.given, allowed));
    }
    if let Err(unreadable) = &monitor {
        let allowed = format!("must be a monitor's identifier, {}…", unreadable.prefix);
        wrong.push(Violation::new("monitor_id", &unreadable.given, allowed));
    }
    let from = parse_time(request.from.as_option(), "from", &mut wrong);
    let to = parse_time(request.to.as_option(), "to", &mut wrong);
    match (page, state, monitor) {
        (Ok(page), Ok(state), Ok(monitor)) if wrong.is_empty() => {
            let is_open = state.map(|state| state == IncidentState::Open);
            Ok((IncidentFilter { monitor, is_open, from, to }, page))
        }
        (page, _, _) => {
            wrong.extend(page.err().into_iter().flat_map(|violations| violations.0));
            Err(rpc::invalid(&Violations(wrong)))
        }
    }
}
