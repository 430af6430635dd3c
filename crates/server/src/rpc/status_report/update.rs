//! Updates of a report: adds, edits and deletes them.

use contract::IntoDraft as _;
use contract::monitor::mask;
use contract::rpc::{self, Error, RequestContext};
use contract::status_report::wire::{AddStatusReportUpdateRequest, EditStatusReportUpdateRequest};
use rules::report::{Report, ReportUpdate, UpdateDraft, UpdateSettings};
use rules::{ReportId, UpdateId};
use store::{NewUpdate, StoreError};

use super::{NOUN as REPORT, UPDATE};
use crate::auth::Caller;
use crate::rpc::request::{
    caller, change, id, idempotency, invalid, require, require_id, retry_edit, store_error,
};
use crate::rpc::{Services, rpc_error};

/// Noun of this resource in error messages.
const NOUN: &str = "update of a report";

pub(super) async fn add(
    services: &Services,
    context: &RequestContext,
    request: AddStatusReportUpdateRequest,
) -> Result<Report, Error> {
    let caller = caller(context);
    let report: ReportId = id(REPORT, &request.id)?;
    let idempotency = idempotency(context, "AddStatusReportUpdate", &request)?;
    let draft = require(UPDATE, request.update.into_option())?.into_draft();
    let settings = draft.parse(services.ctx.now()).map_err(invalid(UPDATE))?;
    let new = NewUpdate {
        id: services.ctx.new_id(),
        workspace: caller.workspace,
        report,
        settings,
        notify: request.notify.unwrap_or(true),
        idempotency,
    };
    let added = services.store.reports().add(new, change(services, caller)).await;
    Ok(added.map_err(store_error(UPDATE))?.into_inner())
}

pub(super) async fn edit(
    services: &Services,
    context: &RequestContext,
    request: EditStatusReportUpdateRequest,
) -> Result<Report, Error> {
    let caller = caller(context);
    let mut given = require(UPDATE, request.update.into_option())?;
    let id: UpdateId = require_id(UPDATE, NOUN, given.id.take())?;
    let wanted = given.into_draft();
    let mask = mask(request.update_mask.as_option());
    let attempt = || try_edit(services, caller, id, (wanted.clone(), mask));
    retry_edit(NOUN, id, attempt).await
}

pub(super) async fn delete(
    services: &Services,
    context: &RequestContext,
    given: &str,
) -> Result<Report, Error> {
    let caller = caller(context);
    let (id, change) = (id(NOUN, given)?, change(services, caller));
    services.store.reports().delete_update(caller.workspace, id, change).await.map_err(rpc_error)
}

/// Makes one attempt. Returns `None` on a conflict with another edit.
async fn try_edit(
    services: &Services,
    caller: Caller,
    id: UpdateId,
    (wanted, mask): (UpdateDraft, Option<&[String]>),
) -> Result<Option<Report>, Error> {
    let seen = services.store.reports().by_update(caller.workspace, id).await.map_err(rpc_error)?;
    let Some(update) = seen.updates.iter().find(|update| update.id == id) else {
        return Ok(None);
    };
    let settings = settings(update);
    let draft = match mask {
        None => wanted,
        Some(mask) => {
            let mut draft = UpdateDraft::from(&settings);
            draft.apply_mask(wanted, mask).map_err(|violations| rpc::invalid(&violations))?;
            draft
        }
    };
    let wanted = draft.parse_change(&settings, services.ctx.now()).map_err(invalid(UPDATE))?;
    if wanted == settings {
        return Ok(Some(seen));
    }
    match services.store.reports().edit(seen, id, wanted, change(services, caller)).await {
        Ok(report) => Ok(Some(report)),
        Err(StoreError::Conflict { .. }) => Ok(None),
        Err(error) => Err(store_error(UPDATE)(error)),
    }
}

/// Converts the arguments of an update to the stored form.
fn settings(update: &ReportUpdate) -> UpdateSettings {
    UpdateSettings {
        status: update.status,
        text: update.text.clone(),
        at: update.at,
        components: update.components.clone(),
    }
}
