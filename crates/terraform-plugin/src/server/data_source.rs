//! Data sources.

use super::answer::interruptible;
use super::provider::Typed;
use super::wire;
use crate::data_source::ErasedDataSource;
use crate::plan::propose;
use crate::proto::tfplugin6 as proto;
use crate::value::{Object, Value};
use crate::{Context, Diagnostic, Outcome, validate};

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
        request: proto::validate_data_resource_config::Request,
    ) -> Outcome<proto::validate_data_resource_config::Response> {
        let config = wire::required("configuration", request.config.as_ref(), &self.typed.ty)?;
        validate::walk(&self.typed.schema.body, &config)
            .into_iter()
            .for_each(|found| ctx.report(found));
        interruptible(ctx, self.source.validate(ctx, &config)).await?;
        Ok(proto::validate_data_resource_config::Response::default())
    }

    pub(super) async fn read(
        &self,
        ctx: &Context<C>,
        request: proto::read_data_source::Request,
    ) -> Outcome<proto::read_data_source::Response> {
        let config = wire::required("configuration", request.config.as_ref(), &self.typed.ty)?;
        let config = propose(&self.typed.schema.body, &config, None);
        let config = config.into_iter().map(|(name, value)| (name, known(value)));
        let config: Object = config.collect();
        let state = interruptible(ctx, self.source.read(ctx, config)).await?;
        let state = wire::conform(&self.typed.schema, state)?;
        if state.values().any(Value::has_unknown) {
            let detail =
                "A data source answered with an unknown value. This is a fault of the provider.";
            return Err(Diagnostic::error("Unknown value after reading", detail).into());
        }
        let state = wire::dynamic(Some(&state), &self.typed.ty)?;
        Ok(proto::read_data_source::Response { state, ..Default::default() })
    }
}

/// What the source is to compute is null while it is asked.
fn known(value: Value) -> Value {
    if value.is_unknown() { Value::Null } else { value }
}
