//! Plans changes of resources.

use super::ResourceEntry;
use crate::plan::{changed, check_plan, propose, replacements};
use crate::proto::tfplugin6 as proto;
use crate::resource::{Plan, State};
use crate::server::response::interruptible;
use crate::server::wire;
use crate::{Context, Outcome, Private};

impl<C> ResourceEntry<C> {
    pub(in crate::server) async fn plan(
        &self,
        ctx: &Context<C>,
        request: &proto::plan_resource_change::Request,
    ) -> Outcome<proto::plan_resource_change::Response> {
        let ty = &self.typed.ty;
        let identity_type = self.identity_type.as_ref();
        let prior = wire::object("prior state", request.prior_state.as_ref(), ty)?;
        let identity = wire::identity(request.prior_identity.as_ref(), identity_type)?;
        let private = Private::from_bytes(&request.prior_private);
        let prior = prior.map(|values| State {
            values,
            private: private.clone(),
            identity: identity.clone(),
        });
        let proposed = wire::object("proposed state", request.proposed_new_state.as_ref(), ty)?;
        if proposed.is_none() {
            return self.plan_delete(ctx, prior, request).await;
        }
        let config = wire::required("configuration", request.config.as_ref(), ty)?;
        let body = &self.typed.schema.body;
        let values = propose(body, &config, prior.as_ref().map(|prior| &prior.values));
        let mut plan =
            Plan { prior, config, planned: values, private, replace: Vec::new(), identity };
        self.refine(ctx, &mut plan).await?;
        Ok(proto::plan_resource_change::Response {
            planned_state: wire::dynamic(Some(&plan.planned), ty)?,
            requires_replace: plan.replace.iter().map(wire::attribute_path).collect(),
            planned_private: plan.private.to_bytes(),
            planned_identity: wire::identity_data(plan.identity.as_ref(), identity_type)?,
            ..Default::default()
        })
    }

    /// Calls the provider's code to change the plan, and compares the result with the schema.
    async fn refine(&self, ctx: &Context<C>, plan: &mut Plan) -> Outcome<()> {
        let body = &self.typed.schema.body;
        interruptible(ctx, self.resource.plan(ctx, plan)).await?;
        plan.planned = wire::conform(&self.typed.schema, std::mem::take(&mut plan.planned))?;
        let Some(prior) = plan.prior.as_ref() else {
            for found in check_plan(body, &plan.config, None, &plan.planned) {
                ctx.report(found);
            }
            return Ok(());
        };
        // The provider's code made a change that the schema did not see. Plan an update instead:
        // computed attributes become unknown, and the code runs again on that plan.
        let same = propose(body, &plan.config, Some(&prior.values));
        if same == prior.values && plan.planned != prior.values {
            plan.planned = changed(body, &plan.config, &prior.values);
            interruptible(ctx, self.resource.plan(ctx, plan)).await?;
            plan.planned = wire::conform(&self.typed.schema, std::mem::take(&mut plan.planned))?;
        }
        let Some(prior) = plan.prior.as_ref().map(|prior| &prior.values) else { return Ok(()) };
        for found in check_plan(body, &plan.config, Some(prior), &plan.planned) {
            ctx.report(found);
        }
        plan.replace.extend(replacements(body, &plan.config, prior, &plan.planned));
        plan.replace.sort();
        plan.replace.dedup();
        Ok(())
    }

    async fn plan_delete(
        &self,
        ctx: &Context<C>,
        prior: Option<State>,
        request: &proto::plan_resource_change::Request,
    ) -> Outcome<proto::plan_resource_change::Response> {
        if let Some(prior) = &prior {
            interruptible(ctx, self.resource.plan_delete(ctx, prior)).await?;
        }
        Ok(proto::plan_resource_change::Response {
            planned_state: wire::dynamic(None, &self.typed.ty)?,
            planned_private: request.prior_private.clone(),
            planned_identity: request.prior_identity.clone(),
            ..Default::default()
        })
    }
}
