//! Data sources: validates and reads them.

use super::provider::Typed;
use super::response::interruptible;
use super::wire;
use crate::data_source::ErasedDataSource;
use crate::proto::tfplugin6 as proto;
use crate::{Context, Outcome};

/// A data source with its schema.
pub(super) struct DataSourceEntry<C> {
    source: Box<dyn ErasedDataSource<C>>,
    pub(super) typed: Typed,
}

impl<C> DataSourceEntry<C> {
    pub(super) fn new(source: Box<dyn ErasedDataSource<C>>) -> Self {
        Self { typed: Typed::new(source.schema()), source }
    }

    pub(super) async fn validate(
        &self,
        ctx: &Context<C>,
        request: &proto::validate_data_resource_config::Request,
    ) -> Outcome<proto::validate_data_resource_config::Response> {
        let config = self.typed.check(ctx, request.config.as_ref())?;
        interruptible(ctx, self.source.validate(ctx, &config)).await?;
        Ok(proto::validate_data_resource_config::Response::default())
    }

    pub(super) async fn read(
        &self,
        ctx: &Context<C>,
        request: &proto::read_data_source::Request,
    ) -> Outcome<proto::read_data_source::Response> {
        let config = self.typed.configured(request.config.as_ref())?;
        let state = interruptible(ctx, self.source.read(ctx, config)).await?;
        let state = self.typed.settled(state)?;
        let state = wire::dynamic(Some(&state), &self.typed.ty)?;
        Ok(proto::read_data_source::Response { state, ..Default::default() })
    }
}
