//! Applies changes of resources. After any error it returns the last known state, so that Terraform
//! does not lose an existing object.

use super::ResourceEntry;
use crate::plan::check_state;
use crate::proto::tfplugin6 as proto;
use crate::resource::{Create, State, Update};
use crate::schema::salvage;
use crate::server::response::catch_panics;
use crate::server::wire;
use crate::value::Object;
use crate::{Context, Diagnostics, Outcome, Private};

impl<C> ResourceEntry<C> {
    pub(in crate::server) async fn apply(
        &self,
        ctx: &Context<C>,
        request: &proto::apply_resource_change::Request,
    ) -> Outcome<proto::apply_resource_change::Response> {
        let answer = self.change(ctx, request).await;
        answer.or_else(|found| {
            found.into_iter().for_each(|found| ctx.report(found));
            // Terraform would read a response without a state as a deletion.
            Ok(proto::apply_resource_change::Response {
                new_state: request.prior_state.clone(),
                private: request.planned_private.clone(),
                new_identity: request.planned_identity.clone(),
                ..Default::default()
            })
        })
    }

    async fn change(
        &self,
        ctx: &Context<C>,
        request: &proto::apply_resource_change::Request,
    ) -> Outcome<proto::apply_resource_change::Response> {
        let (ty, identity_type) = (&self.typed.ty, self.identity_type.as_ref());
        let private = Private::from_bytes(&request.planned_private);
        let identity = wire::identity(request.planned_identity.as_ref(), identity_type)?;
        let prior = wire::object("prior state", request.prior_state.as_ref(), ty)?;
        let prior = prior.map(|values| State {
            values,
            private: private.clone(),
            identity: identity.clone(),
        });
        let planned = wire::object("planned state", request.planned_state.as_ref(), ty)?;
        let config =
            wire::object("configuration", request.config.as_ref(), ty)?.unwrap_or_default();
        let outcome = match (prior.clone(), planned.clone()) {
            (None, None) => Ok(None),
            (Some(prior), None) => {
                catch_panics(self.resource.delete(ctx, prior)).await.map(|()| None)
            }
            (None, Some(planned)) => {
                let create = Create { planned, config, private, identity };
                catch_panics(self.resource.create(ctx, create)).await.map(Some)
            }
            (Some(prior), Some(planned)) => {
                let update = Update { prior, planned, config, private, identity };
                catch_panics(self.resource.update(ctx, update)).await.map(Some)
            }
        };
        self.applied(ctx, outcome, prior, planned.as_ref(), request)
    }

    fn applied(
        &self,
        ctx: &Context<C>,
        outcome: Outcome<Option<State>>,
        prior: Option<State>,
        planned: Option<&Object>,
        request: &proto::apply_resource_change::Request,
    ) -> Outcome<proto::apply_resource_change::Response> {
        let (ty, identity_type) = (&self.typed.ty, self.identity_type.as_ref());
        let planned_identity = wire::identity(request.planned_identity.as_ref(), identity_type)?;
        let report = |found: Diagnostics| found.into_iter().for_each(|found| ctx.report(found));
        let state = match outcome {
            Ok(None) => None,
            Ok(Some(state)) => Some(self.conform_state(ctx, state, planned)),
            Err(found) => {
                report(found);
                prior
            }
        };
        let Some(state) = state else {
            let new_state = wire::dynamic(None, ty)?;
            return Ok(proto::apply_resource_change::Response { new_state, ..Default::default() });
        };
        let identity = state.identity.or(planned_identity);
        let identity = identity.or_else(|| self.identity_in(&state.values));
        // The object exists even if its identity is invalid.
        let identity = wire::identity_data(identity.as_ref(), identity_type);
        let new_identity = identity.unwrap_or_else(|found| {
            report(found);
            request.planned_identity.clone()
        });
        Ok(proto::apply_resource_change::Response {
            new_state: wire::dynamic(Some(&state.values), ty)?,
            private: state.private.encode_over(&request.planned_private),
            new_identity,
            ..Default::default()
        })
    }

    /// Fits the new state to the schema and compares it with the plan. Reports what does not fit
    /// and keeps the rest, because the object exists.
    fn conform_state(&self, ctx: &Context<C>, state: State, planned: Option<&Object>) -> State {
        let report = |found: Diagnostics| found.into_iter().for_each(|found| ctx.report(found));
        let schema = &self.typed.schema;
        let values = wire::conform(schema, state.values.clone()).unwrap_or_else(|found| {
            report(found);
            salvage(&schema.body, state.values)
        });
        if let Err(found) = self.typed.settled(values.clone()) {
            report(found);
        }
        let planned = planned.map(|planned| check_state(&schema.body, planned, &values));
        report(planned.into_iter().flatten().collect());
        State { values: values.without_unknown(), ..state }
    }
}
