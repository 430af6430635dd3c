//! `audit.v1.AuditService`: the audit log of the caller's workspace. The store writes the entries,
//! in the transaction of each change.

use contract::audit::wire::{
    AuditEntry as WireEntry, AuditService, FieldChange as WireChange, ListAuditEntriesRequest,
    ListAuditEntriesResponse,
};
use contract::monitor::encode_instant;
use contract::rpc::{self, Error, RequestContext, Response, ServiceResult};
use rules::{Violation, Violations};
use store::{AuditEntry, AuditFilter, FieldChange};

use super::list::{PageRequest, PageSlice};
use super::request::{caller, parse_time};
use crate::actor;
use crate::rpc::{Services, rpc_error};

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct AuditLog(pub(super) Services);

impl AuditService for AuditLog {
    async fn list_audit_entries(
        &self,
        context: RequestContext,
        request: ListAuditEntriesRequest,
    ) -> ServiceResult<ListAuditEntriesResponse> {
        let workspace = caller(&context).workspace;
        let (filter, page) = parse_request(&request)?;
        let found = self.0.store.audit().list(workspace, &filter, page.with_one_more()).await;
        let found = found.map_err(rpc_error)?;
        let (entries, next_page_token) =
            page.cut(&found, |entry| entry.number, encode, rpc::encoded_bytes);
        Response::ok(ListAuditEntriesResponse { entries, next_page_token })
    }
}

/// Parses the filter and the page of a request.
fn parse_request(
    request: &ListAuditEntriesRequest,
) -> Result<(AuditFilter, PageSlice<i64>), Error> {
    let mut wrong = Vec::new();
    let page_token = request.page_token.as_deref();
    let page = PageRequest { limit: request.limit, offset: None, page_token }.parse();
    let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let actor = text(&request.actor).and_then(|given| {
        let actor = actor::parse(&given);
        if actor.is_none() {
            wrong.push(Violation::new("actor", given, actor::ALLOWED));
        }
        actor
    });
    let from = parse_time(request.from.as_option(), "from", &mut wrong);
    let to = parse_time(request.to.as_option(), "to", &mut wrong);
    match page {
        Ok(page) if wrong.is_empty() => {
            let resource_id = text(&request.resource_id);
            Ok((AuditFilter { resource_id, actor, from, to }, page))
        }
        page => {
            wrong.extend(page.err().into_iter().flat_map(|violations| violations.0));
            Err(rpc::invalid(&Violations(wrong)))
        }
    }
}

fn encode(entry: &AuditEntry) -> WireEntry {
    WireEntry {
        at: encode_instant(entry.at),
        actor: actor::encode(entry.actor.clone()),
        actor_name: entry.actor_name.clone().unwrap_or_default(),
        action: entry.action.clone(),
        resource_id: entry.resource_id.clone(),
        detail: entry.detail.clone(),
        address: entry.address.clone().unwrap_or_default(),
        changes: entry.changes.as_slice().iter().map(encode_change).collect(),
    }
}

fn encode_change(change: &FieldChange) -> WireChange {
    WireChange {
        field: change.field.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
    }
}
