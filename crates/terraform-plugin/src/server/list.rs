//! List resources: streams the objects found.

use std::sync::Arc;

use futures_util::Stream;
use tokio::sync::mpsc;

use super::provider::Typed;
use super::response::{ResponseStream, interruptible};
use super::wire;
use crate::list::{ErasedList, Found, Listing, Query};
use crate::proto::tfplugin6 as proto;
use crate::value::Type;
use crate::{Context, Outcome};

/// Maximum number of objects that Terraform has not read yet.
const BUFFERED_EVENTS_MAX: usize = 32;

/// A list with its schema, and the types of the resource that it lists.
pub(super) struct ListEntry<C> {
    list: Box<dyn ErasedList<C>>,
    pub(super) typed: Typed,
    resource: Option<Typed>,
    identity: Option<Type>,
}

impl<C: Send + Sync + 'static> ListEntry<C> {
    pub(super) fn new(
        list: Box<dyn ErasedList<C>>,
        resource: Option<Typed>,
        identity: Option<Type>,
    ) -> Self {
        Self { typed: Typed::new(list.schema()), list, resource, identity }
    }

    /// Returns whether the resource of its name exists and has an identity.
    pub(super) fn has_resource(&self) -> bool {
        self.identity.is_some()
    }

    pub(super) async fn validate(
        &self,
        ctx: &Context<C>,
        request: &proto::validate_list_resource_config::Request,
    ) -> Outcome<proto::validate_list_resource_config::Response> {
        let config = self.typed.check(ctx, request.config.as_ref())?;
        interruptible(ctx, self.list.validate(ctx, &config)).await?;
        Ok(proto::validate_list_resource_config::Response::default())
    }

    /// Searches only as fast as Terraform reads the stream.
    pub(super) fn list(
        self: Arc<Self>,
        ctx: Context<C>,
        request: proto::list_resource::Request,
    ) -> impl Stream<Item = proto::list_resource::Event> + Send + 'static {
        let (found, mut finding) = mpsc::channel(BUFFERED_EVENTS_MAX);
        let limit = u64::try_from(request.limit).ok().filter(|limit| *limit > 0);
        let include_resource = request.include_resource_object;
        let entry = Arc::clone(&self);
        let (events, receiving) = mpsc::channel(BUFFERED_EVENTS_MAX);
        let search = async move {
            let config = entry.typed.configured(request.config.as_ref())?;
            let query = Query { config, include_resource, limit: limit.unwrap_or(u64::MAX) };
            let listing = Listing(found);
            interruptible(&ctx, entry.list.list(&ctx, query, &listing)).await?;
            Ok(ctx.take_reported())
        };
        let passing = async move {
            let mut left = limit.unwrap_or(u64::MAX);
            while let Some(mut found) = finding.recv().await {
                found.resource = found.resource.filter(|_| include_resource);
                if left == 0 || events.send(self.event(found)).await.is_err() {
                    return None;
                }
                left -= 1;
            }
            Some(events)
        };
        tokio::spawn(async move {
            let (searched, events) = tokio::join!(search, passing);
            let diagnostics: Outcome<crate::Diagnostics> = searched;
            let diagnostic: Vec<_> = diagnostics
                .unwrap_or_else(|found| found)
                .into_iter()
                .map(wire::diagnostic)
                .collect();
            if let Some(events) = events.filter(|_| !diagnostic.is_empty()) {
                let last = proto::list_resource::Event { diagnostic, ..Default::default() };
                // Terraform may have disconnected.
                drop(events.send(last).await);
            }
        });
        ResponseStream::new(receiving)
    }

    fn event(&self, found: Found) -> proto::list_resource::Event {
        let diagnostics = found.diagnostics.clone().into_iter().map(wire::diagnostic);
        let mut event = self.encoded(found).unwrap_or_else(|wrong| {
            let diagnostic = wrong.into_iter().map(wire::diagnostic).collect();
            proto::list_resource::Event { diagnostic, ..Default::default() }
        });
        event.diagnostic.extend(diagnostics);
        event
    }

    fn encoded(&self, found: Found) -> Outcome<proto::list_resource::Event> {
        let resource = self.resource.as_ref().zip(found.resource);
        let resource =
            resource.map(|(typed, values)| wire::dynamic(Some(&typed.settled(values)?), &typed.ty));
        Ok(proto::list_resource::Event {
            identity: wire::identity_data(Some(&found.identity), self.identity.as_ref())?,
            display_name: found.name,
            resource_object: resource.transpose()?.flatten(),
            diagnostic: Vec::new(),
        })
    }
}
