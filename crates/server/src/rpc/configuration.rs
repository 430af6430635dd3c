//! `configuration.v1.ConfigurationService`: which resources the configurations of a workspace own.

use contract::configuration::wire::{
    Configuration as WireConfiguration, ConfigurationService, ConfiguredResource as WireEntry,
    DeleteConfigurationRequest, DeleteConfigurationResponse, ListConfigurationsRequest,
    ListConfigurationsResponse, ListConfiguredResourcesRequest, ListConfiguredResourcesResponse,
    RecordConfiguredResourcesRequest, RecordConfiguredResourcesResponse,
};
use contract::monitor::encode_instant;
use contract::rpc::{self, RequestContext, Response, ServiceResult};
use rules::configuration::{EntryDraft, RecordDraft, parse_name};
use rules::{Violations, configuration};
use store::{Configuration, NumberedEntry};

use super::list::{PageRequest, PageSlice, encode_total};
use super::request::{caller, change};
use crate::rpc::{Services, rpc_error};

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct Configurations(pub(super) Services);

impl ConfigurationService for Configurations {
    async fn list_configurations(
        &self,
        context: RequestContext,
        _: ListConfigurationsRequest,
    ) -> ServiceResult<ListConfigurationsResponse> {
        let found = self.0.store.configurations().list(caller(&context).workspace).await;
        let configurations = found.map_err(rpc_error)?.iter().map(encode).collect();
        Response::ok(ListConfigurationsResponse { configurations })
    }

    async fn list_configured_resources(
        &self,
        context: RequestContext,
        request: ListConfiguredResourcesRequest,
    ) -> ServiceResult<ListConfiguredResourcesResponse> {
        let workspace = caller(&context).workspace;
        let (name, page) = parse_list(request).map_err(|wrong| rpc::invalid(&wrong))?;
        let configurations = self.0.store.configurations();
        let found = configurations.entries(workspace, &name, page.with_one_more()).await;
        let found = found.map_err(rpc_error)?;
        let (resources, next_page_token) =
            page.cut(&found, |row| row.number, encode_entry, rpc::encoded_bytes);
        Response::ok(ListConfiguredResourcesResponse { resources, next_page_token })
    }

    async fn record_configured_resources(
        &self,
        context: RequestContext,
        request: RecordConfiguredResourcesRequest,
    ) -> ServiceResult<RecordConfiguredResourcesResponse> {
        let caller = caller(&context);
        let entries = |list: Vec<WireEntry>| list.into_iter().map(decode_entry).collect();
        let name = Some(request.name);
        let draft =
            RecordDraft { name, put: entries(request.put), remove: entries(request.remove) };
        let record = draft.parse().map_err(|wrong| rpc::invalid(&wrong))?;
        let change = change(&self.0, caller);
        let recorded = self.0.store.configurations().record(caller.workspace, record, change).await;
        recorded.map_err(rpc_error)?;
        Response::ok(RecordConfiguredResourcesResponse::default())
    }

    async fn delete_configuration(
        &self,
        context: RequestContext,
        request: DeleteConfigurationRequest,
    ) -> ServiceResult<DeleteConfigurationResponse> {
        let caller = caller(&context);
        let name = parse_name(request.name).map_err(|wrong| rpc::invalid(&wrong))?;
        let change = change(&self.0, caller);
        let deleted = self.0.store.configurations().delete(caller.workspace, name, change).await;
        deleted.map_err(rpc_error)?;
        Response::ok(DeleteConfigurationResponse::default())
    }
}

/// Parses the name and the page of a request. Returns all violations.
fn parse_list(
    request: ListConfiguredResourcesRequest,
) -> Result<(String, PageSlice<i64>), Violations> {
    let page_token = request.page_token.as_deref();
    let page = PageRequest { limit: request.limit, offset: None, page_token }.parse();
    match (configuration::parse_name(request.name), page) {
        (Ok(name), Ok(page)) => Ok((name, page)),
        (name, page) => {
            let both = [name.err(), page.err()].into_iter().flatten();
            Err(Violations(both.flat_map(|violations| violations.0).collect()))
        }
    }
}

fn decode_entry(entry: WireEntry) -> EntryDraft {
    EntryDraft { kind: Some(entry.kind), key: Some(entry.key), id: Some(entry.id) }
}

fn encode(configuration: &Configuration) -> WireConfiguration {
    WireConfiguration {
        name: configuration.name.clone(),
        resource_count: encode_total(configuration.resource_count),
        updated_at: encode_instant(configuration.updated_at),
    }
}

fn encode_entry(row: &NumberedEntry) -> WireEntry {
    let entry = &row.entry;
    WireEntry {
        kind: entry.key.kind.to_owned(),
        key: entry.key.key.clone(),
        id: entry.id.clone().unwrap_or_default(),
    }
}
