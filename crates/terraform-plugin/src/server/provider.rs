//! The provider itself: its schemas, its configuration, and the end.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use super::answer::interruptible;
use super::{Server, describe, wire};
use crate::plan::propose;
use crate::proto::tfplugin6 as proto;
use crate::schema::Schema;
use crate::value::Type;
use crate::{Context, Outcome, Provider, validate};

/// A schema and the type of its values.
pub(super) struct Typed {
    pub(super) schema: Schema,
    pub(super) ty: Type,
}

impl Typed {
    pub(super) fn new(schema: Schema) -> Self {
        Self { ty: schema.ty(), schema }
    }
}

impl<P: Provider> Server<P> {
    pub(super) fn metadata(&self) -> proto::get_metadata::Response {
        use proto::get_metadata::{DataSourceMetadata, ResourceMetadata};
        let resources = self.resources.keys().cloned();
        let data_sources = self.data_sources.keys().cloned();
        proto::get_metadata::Response {
            server_capabilities: Some(capabilities()),
            resources: resources.map(|type_name| ResourceMetadata { type_name }).collect(),
            data_sources: data_sources.map(|type_name| DataSourceMetadata { type_name }).collect(),
            ..Default::default()
        }
    }

    pub(super) fn schemas(&self) -> proto::get_provider_schema::Response {
        let resources = self.resources.iter();
        let data_sources = self.data_sources.iter();
        proto::get_provider_schema::Response {
            provider: Some(describe::schema(&self.schema.schema)),
            resource_schemas: resources
                .map(|(name, it)| (name.clone(), describe::schema(&it.typed.schema)))
                .collect(),
            data_source_schemas: data_sources
                .map(|(name, it)| (name.clone(), describe::schema(&it.typed.schema)))
                .collect(),
            server_capabilities: Some(capabilities()),
            ..Default::default()
        }
    }

    pub(super) fn identities(&self) -> proto::get_resource_identity_schemas::Response {
        let identities = self.resources.iter().filter_map(|(name, it)| {
            Some((name.clone(), describe::identity(it.identity.as_ref()?)))
        });
        let identity_schemas: HashMap<_, _> = identities.collect();
        proto::get_resource_identity_schemas::Response { identity_schemas, diagnostics: Vec::new() }
    }

    pub(super) async fn validate(
        &self,
        ctx: &Context<P::Client>,
        request: proto::validate_provider_config::Request,
    ) -> Outcome<proto::validate_provider_config::Response> {
        let config = wire::required("configuration", request.config.as_ref(), &self.schema.ty)?;
        validate::walk(&self.schema.schema.body, &config)
            .into_iter()
            .for_each(|found| ctx.report(found));
        interruptible(ctx, self.provider.validate(ctx, &config)).await?;
        Ok(proto::validate_provider_config::Response::default())
    }

    pub(super) async fn configure(
        &self,
        ctx: &Context<P::Client>,
        request: proto::configure_provider::Request,
    ) -> Outcome<proto::configure_provider::Response> {
        let config = wire::required("configuration", request.config.as_ref(), &self.schema.ty)?;
        let config = propose(&self.schema.schema.body, &config, None);
        let client = interruptible(ctx, self.provider.configure(ctx, config)).await?;
        *self.client.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(client));
        Ok(proto::configure_provider::Response::default())
    }

    pub(super) fn stop(&self) -> proto::stop_provider::Response {
        self.stop.now();
        proto::stop_provider::Response::default()
    }
}

fn capabilities() -> proto::ServerCapabilities {
    proto::ServerCapabilities {
        plan_destroy: true,
        get_provider_schema_optional: true,
        move_resource_state: true,
        generate_resource_config: false,
    }
}
