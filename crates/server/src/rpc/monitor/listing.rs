//! Pages of monitors, by tags.

use contract::monitor::wire::{Kind, ListMonitorsRequest, ListMonitorsResponse};
use contract::rpc::{self, Error};
use rules::{MonitorId, Tag, Validator, Violations, tables};

use super::{Monitors, heartbeat};
use crate::auth::Caller;
use crate::rpc::{list, rpc_error};

/// Returns a page of the caller's monitors.
pub(super) async fn list(
    service: &Monitors,
    caller: Caller,
    request: ListMonitorsRequest,
) -> Result<ListMonitorsResponse, Error> {
    let services = &service.0;
    let (limit, offset, page_token) =
        (request.limit, request.offset, request.page_token.as_deref());
    let page = list::PageRequest { limit, offset, page_token };
    let (page, tags) = filtered(page, request.tags)?;
    let monitors = services.store.monitors();
    let found = monitors.list_tagged(caller.workspace, &tags, page.with_one_more()).await;
    let found = found.map_err(rpc_error)?;
    let show = |stored: &_| {
        let heartbeat = heartbeat::outputs(services, stored);
        service.stored_monitor((stored, heartbeat.as_ref()), caller).kind()
    };
    let (monitors, next_page_token) =
        page.cut(&found, |stored| stored.monitor.id, show, encoded_bytes);
    let mut answer = ListMonitorsResponse {
        total_size: list::encode_total(found.total),
        next_page_token,
        ..ListMonitorsResponse::default()
    };
    for monitor in monitors {
        match monitor {
            Kind::Http(monitor) => answer.http_monitors.push(*monitor),
            Kind::Tcp(monitor) => answer.tcp_monitors.push(*monitor),
            Kind::Dns(monitor) => answer.dns_monitors.push(*monitor),
            Kind::Heartbeat(monitor) => answer.heartbeat_monitors.push(*monitor),
        }
    }
    Ok(answer)
}

/// Validates the page and the filter of a list together, to report all violations.
fn filtered(
    page: list::PageRequest<'_>,
    tags: Vec<String>,
) -> Result<(list::PageSlice<MonitorId>, Vec<Tag>), Error> {
    let mut validator = Validator::new(&tables::MONITORS_DATA);
    let tags = Some(validator.tags("tags", tags));
    match (page.parse(), validator.finish(tags)) {
        (Ok(page), Ok(tags)) => Ok((page, tags)),
        (page, tags) => {
            let violations = [page.err(), tags.err()].into_iter().flatten().flat_map(|it| it.0);
            Err(rpc::invalid(&Violations(violations.collect())))
        }
    }
}

fn encoded_bytes(monitor: &Kind) -> usize {
    match monitor {
        Kind::Http(monitor) => rpc::encoded_bytes(&**monitor),
        Kind::Tcp(monitor) => rpc::encoded_bytes(&**monitor),
        Kind::Dns(monitor) => rpc::encoded_bytes(&**monitor),
        Kind::Heartbeat(monitor) => rpc::encoded_bytes(&**monitor),
    }
}
