//! The provider itself: its schemas, its configuration and its shutdown.

use std::sync::{Arc, PoisonError};

use super::response::interruptible;
use super::{Server, wire};
use crate::plan::propose;
use crate::proto::tfplugin6 as proto;
use crate::schema::{self, Schema};
use crate::value::{Object, Type};
use crate::{Context, Diagnostic, Outcome, Provider};

/// A schema and the type of its values.
pub(super) struct Typed {
    pub(super) schema: Schema,
    pub(super) ty: Type,
}

impl Typed {
    pub(super) fn new(schema: Schema) -> Self {
        Self { ty: schema.ty(), schema }
    }

    /// Validates a configuration by the schema's rules and reports violations.
    pub(super) fn check<C>(
        &self,
        ctx: &Context<C>,
        config: Option<&proto::DynamicValue>,
    ) -> Outcome<Object> {
        let config = wire::required("configuration", config, &self.ty)?;
        for found in schema::violations(&self.schema.body, &config) {
            ctx.report(found);
        }
        Ok(config)
    }

    /// Decodes a configuration and fills in its defaults. Computed attributes are null.
    pub(super) fn configured(&self, config: Option<&proto::DynamicValue>) -> Outcome<Object> {
        let config = wire::required("configuration", config, &self.ty)?;
        Ok(propose(&self.schema.body, &config, None).without_unknown())
    }

    /// Checks that values match the schema and are known, as a state requires.
    pub(super) fn settled(&self, values: Object) -> Outcome<Object> {
        let values = wire::conform(&self.schema, values)?;
        let Some((name, _)) = values.iter().find(|(_, value)| value.has_unknown()) else {
            return Ok(values);
        };
        let detail = format!("`{name}` is still unknown. This is a bug in the provider.");
        Err(Diagnostic::error("Unknown value in a response", detail).at(name.as_str()).into())
    }
}

impl<P: Provider> Server<P> {
    pub(super) async fn validate(
        &self,
        ctx: &Context<P::Client>,
        request: proto::validate_provider_config::Request,
    ) -> Outcome<proto::validate_provider_config::Response> {
        let config = self.schema.check(ctx, request.config.as_ref())?;
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
