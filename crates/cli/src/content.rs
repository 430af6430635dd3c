//! Reads everything in a workspace that configurations and Terraform manage, as the wire's JSON.
//! Leaves its use to `apply`, `export` and `terraform`.

use anyhow::{Result, bail};
use contract::monitor::wire::ListMonitorsRequest;
use contract::notification::wire::ListNotificationsRequest;
use contract::rpc::Client;
use contract::status_page::wire::{
    ListComponentGroupsRequest, ListComponentsRequest, ListStatusPagesRequest,
};
use rules::Scope;
use rules::field::Resource;
use rules::limits::LIST_LIMIT_MAX;
use rules::tables;
use serde::Serialize;
use serde_json::Value as Json;

use crate::service::service_error;

/// The content of a workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Resources, oldest first within each type, so that the files grow at their ends.
    pub(crate) found: Vec<Found>,
    /// Whether the key has the scope read, so that secrets are missing.
    pub(crate) reads_only: bool,
}

/// A resource.
#[derive(Debug)]
pub(crate) struct Found {
    /// Table of its type.
    pub(crate) table: &'static Resource,
    /// Resource as received.
    pub(crate) json: Json,
}

/// A part of a list, and the token of the next part. Empty for the last part.
type Part = (Vec<Found>, String);

/// Lists all resources of a service with maximum page size.
macro_rules! all {
    ($found:ident, $client:expr, $Request:ident, $($table:ident: $list:ident),+) => {
        all(&mut $found, async |token| {
            let limit = Some(LIST_LIMIT_MAX as i32);
            let request = $Request { limit, page_token: token, ..Default::default() };
            let answer = $client.send(request).await.map_err(|error| service_error(&error))?;
            let mut found = Vec::new();
            $(add(&mut found, &tables::$table, &answer.$list)?;)+
            Ok((found, answer.next_page_token))
        })
        .await?;
    };
}

/// Reads the workspace.
pub(crate) async fn read(client: &Client) -> Result<Workspace> {
    let who = client.whoami().await.map_err(|error| service_error(&error))?;
    let writes = who.actor.scopes.iter().any(|scope| scope == Scope::Write.as_str());
    let mut found = Vec::new();
    all!(found, client, ListMonitorsRequest,
        HTTP_MONITOR: http_monitors, TCP_MONITOR: tcp_monitors, DNS_MONITOR: dns_monitors,
        HEARTBEAT_MONITOR: heartbeat_monitors);
    all!(found, client, ListNotificationsRequest,
        NOTIFICATION: notifications);
    all!(found, client, ListStatusPagesRequest,
        STATUS_PAGE: status_pages);
    all!(found, client, ListComponentsRequest,
        STATUS_PAGE_COMPONENT: components);
    all!(found, client, ListComponentGroupsRequest,
        STATUS_PAGE_COMPONENT_GROUP: component_groups);
    Ok(Workspace { found, reads_only: !writes })
}

/// Requests all parts of a list.
async fn all(
    found: &mut Vec<Found>,
    mut ask: impl AsyncFnMut(Option<String>) -> Result<Part>,
) -> Result<()> {
    let (first, mut token) = (found.len(), None);
    loop {
        let (part, next) = ask(token.clone()).await?;
        found.extend(part);
        if next.is_empty() {
            // Lists are newest first.
            found[first..].reverse();
            return Ok(());
        }
        if token.as_ref() == Some(&next) {
            bail!("the service returned the same page of a list twice");
        }
        token = Some(next);
    }
}

fn add<M: Serialize>(
    found: &mut Vec<Found>,
    table: &'static Resource,
    messages: &[M],
) -> Result<()> {
    for message in messages {
        found.push(Found { table, json: serde_json::to_value(message)? });
    }
    Ok(())
}
