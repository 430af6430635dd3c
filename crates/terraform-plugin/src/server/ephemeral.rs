//! Ephemeral resources: validates, opens, renews and closes them.

use super::provider::Typed;
use super::response::{catch_panics, interruptible};
use super::wire;
use crate::ephemeral::ErasedEphemeral;
use crate::proto::tfplugin6 as proto;
use crate::{Context, Outcome, Private};

/// An ephemeral resource with its schema.
pub(super) struct EphemeralEntry<C> {
    ephemeral: Box<dyn ErasedEphemeral<C>>,
    pub(super) typed: Typed,
}

impl<C> EphemeralEntry<C> {
    pub(super) fn new(ephemeral: Box<dyn ErasedEphemeral<C>>) -> Self {
        Self { typed: Typed::new(ephemeral.schema()), ephemeral }
    }

    pub(super) async fn validate(
        &self,
        ctx: &Context<C>,
        request: &proto::validate_ephemeral_resource_config::Request,
    ) -> Outcome<proto::validate_ephemeral_resource_config::Response> {
        let config = self.typed.check(ctx, request.config.as_ref())?;
        interruptible(ctx, self.ephemeral.validate(ctx, &config)).await?;
        Ok(proto::validate_ephemeral_resource_config::Response::default())
    }

    pub(super) async fn open(
        &self,
        ctx: &Context<C>,
        request: &proto::open_ephemeral_resource::Request,
    ) -> Outcome<proto::open_ephemeral_resource::Response> {
        let config = self.typed.configured(request.config.as_ref())?;
        // Not interruptible, because an opened value must be closed.
        let opened = catch_panics(self.ephemeral.open(ctx, config)).await?;
        let values = self.typed.settled(opened.values)?;
        Ok(proto::open_ephemeral_resource::Response {
            result: wire::dynamic(Some(&values), &self.typed.ty)?,
            private: Some(opened.private.to_bytes()),
            renew_at: opened.renew_at.map(Into::into),
            ..Default::default()
        })
    }

    pub(super) async fn renew(
        &self,
        ctx: &Context<C>,
        request: &proto::renew_ephemeral_resource::Request,
    ) -> Outcome<proto::renew_ephemeral_resource::Response> {
        let private = Private::from_bytes(request.private.as_deref().unwrap_or_default());
        let renewed = catch_panics(self.ephemeral.renew(ctx, private)).await?;
        Ok(proto::renew_ephemeral_resource::Response {
            private: Some(renewed.private.to_bytes()),
            renew_at: renewed.renew_at.map(Into::into),
            ..Default::default()
        })
    }

    pub(super) async fn close(
        &self,
        ctx: &Context<C>,
        request: &proto::close_ephemeral_resource::Request,
    ) -> Outcome<proto::close_ephemeral_resource::Response> {
        let private = Private::from_bytes(request.private.as_deref().unwrap_or_default());
        catch_panics(self.ephemeral.close(ctx, private)).await?;
        Ok(proto::close_ephemeral_resource::Response::default())
    }
}
