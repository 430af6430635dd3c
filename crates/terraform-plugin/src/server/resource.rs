//! Managed resources: validates, reads and imports them. Leaves plans, applies and upgrades to its
//! submodules.

mod apply;
mod plan;
mod upgrade;

use super::provider::Typed;
use super::response::interruptible;
use super::wire;
use crate::proto::tfplugin6 as proto;
use crate::resource::{ErasedResource, Identity, Import, Move, State, Upgrade};
use crate::value::{Object, Type};
use crate::{Context, Diagnostic, Outcome, Private, schema};

/// A resource with its schemas.
pub(super) struct ResourceEntry<C> {
    resource: Box<dyn ErasedResource<C>>,
    pub(super) typed: Typed,
    pub(super) identity: Option<Identity>,
    identity_type: Option<Type>,
    upgrades: Vec<Upgrade>,
}

impl<C> ResourceEntry<C> {
    pub(super) fn new(resource: Box<dyn ErasedResource<C>>) -> Self {
        let identity = resource.identity();
        Self {
            typed: Typed::new(resource.schema()),
            identity_type: identity.as_ref().map(Identity::ty),
            identity,
            upgrades: resource.upgrades(),
            resource,
        }
    }

    pub(super) async fn validate(
        &self,
        ctx: &Context<C>,
        request: &proto::validate_resource_config::Request,
    ) -> Outcome<proto::validate_resource_config::Response> {
        let config = self.typed.check(ctx, request.config.as_ref())?;
        let able = request.client_capabilities.as_ref();
        if !able.is_some_and(|able| able.write_only_attributes_allowed) {
            for path in schema::write_only(&self.typed.schema.body, &config) {
                let detail = "Write-only arguments need Terraform 1.11 or newer.";
                ctx.report(Diagnostic::error("Terraform is too old", detail).at(path));
            }
        }
        interruptible(ctx, self.resource.validate(ctx, &config)).await?;
        Ok(proto::validate_resource_config::Response::default())
    }

    pub(super) async fn read(
        &self,
        ctx: &Context<C>,
        request: &proto::read_resource::Request,
    ) -> Outcome<proto::read_resource::Response> {
        let values = wire::object("state", request.current_state.as_ref(), &self.typed.ty)?;
        let Some(values) = values else { return Ok(proto::read_resource::Response::default()) };
        let ty = self.identity_type.as_ref();
        let prior = State {
            values,
            private: Private::from_bytes(&request.private),
            identity: wire::identity(request.current_identity.as_ref(), ty)?,
        };
        let known = prior.identity.clone();
        let state = interruptible(ctx, self.resource.read(ctx, prior)).await?;
        let Some(state) = state else {
            let new_state = wire::dynamic(None, &self.typed.ty)?;
            return Ok(proto::read_resource::Response { new_state, ..Default::default() });
        };
        let values = self.typed.settled(state.values)?;
        let identity = state.identity.or(known).or_else(|| self.identity_in(&values));
        Ok(proto::read_resource::Response {
            new_state: wire::dynamic(Some(&values), &self.typed.ty)?,
            private: state.private.encode_over(&request.private),
            new_identity: wire::identity_data(identity.as_ref(), ty)?,
            ..Default::default()
        })
    }

    pub(super) async fn import(
        &self,
        ctx: &Context<C>,
        request: &proto::import_resource_state::Request,
    ) -> Outcome<proto::import_resource_state::Response> {
        let ty = self.identity_type.as_ref();
        let import = match wire::identity(request.identity.as_ref(), ty)? {
            Some(identity) if request.id.is_empty() => Import::Identity(identity),
            _by_id => Import::Id(request.id.clone()),
        };
        let state = interruptible(ctx, self.resource.import(ctx, import)).await?;
        let values = self.typed.settled(state.values)?;
        let identity = state.identity.or_else(|| self.identity_in(&values));
        let imported = proto::import_resource_state::ImportedResource {
            type_name: request.type_name.clone(),
            state: wire::dynamic(Some(&values), &self.typed.ty)?,
            private: state.private.to_bytes(),
            identity: wire::identity_data(identity.as_ref(), ty)?,
        };
        Ok(proto::import_resource_state::Response {
            imported_resources: vec![imported],
            ..Default::default()
        })
    }

    pub(super) async fn move_state(
        &self,
        ctx: &Context<C>,
        request: &proto::move_resource_state::Request,
    ) -> Outcome<proto::move_resource_state::Response> {
        let json = |raw: Option<&proto::RawState>| {
            raw.and_then(|raw| serde_json::from_slice(&raw.json).ok())
        };
        let from = Move {
            provider: request.source_provider_address.clone(),
            resource: request.source_type_name.clone(),
            version: request.source_schema_version,
            state: json(request.source_state.as_ref()).unwrap_or_default(),
            private: request.source_private.clone(),
            identity: json(request.source_identity.as_ref()),
        };
        let state = interruptible(ctx, self.resource.move_state(ctx, from)).await?;
        let Some(state) = state else {
            let (from, to) = (&request.source_type_name, &request.target_type_name);
            let detail = format!("`{to}` cannot use the state of `{from}`.");
            return Err(Diagnostic::error("Move is not supported", detail).into());
        };
        let values = self.typed.settled(state.values)?;
        let ty = self.identity_type.as_ref();
        let identity = state.identity.or_else(|| self.identity_in(&values));
        Ok(proto::move_resource_state::Response {
            target_state: wire::dynamic(Some(&values), &self.typed.ty)?,
            target_private: state.private.to_bytes(),
            target_identity: wire::identity_data(identity.as_ref(), ty)?,
            ..Default::default()
        })
    }

    /// Returns the identity made of attributes of the state, if all are known.
    fn identity_in(&self, values: &Object) -> Option<Object> {
        let names = self.identity.as_ref()?.attributes.iter();
        let found = names.map(|(name, attribute)| {
            let value = values.value(name);
            let there = !value.is_null() && !value.is_unknown();
            (there || !attribute.required).then(|| (name.clone(), value.clone()))
        });
        found.collect()
    }
}
