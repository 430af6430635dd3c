//! Type-erased resources, so that all kinds fit in one map.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::{Create, Identity, Import, Move, Plan, Resource, State, Update, Upgrade};
use crate::schema::Schema;
use crate::value::Object;
use crate::{Context, Outcome};

type BoxedOutcome<'a, T> = BoxFuture<'a, Outcome<T>>;

/// Object-safe form of [`Resource`], with boxed futures.
pub(crate) trait ErasedResource<C>: Send + Sync {
    fn schema(&self) -> Schema;
    fn identity(&self) -> Option<Identity>;
    fn upgrades(&self) -> Vec<Upgrade>;
    fn validate<'a>(&'a self, ctx: &'a Context<C>, config: &'a Object) -> BoxedOutcome<'a, ()>;
    fn plan<'a>(&'a self, ctx: &'a Context<C>, plan: &'a mut Plan) -> BoxedOutcome<'a, ()>;
    fn plan_delete<'a>(&'a self, ctx: &'a Context<C>, prior: &'a State) -> BoxedOutcome<'a, ()>;
    fn create<'a>(&'a self, ctx: &'a Context<C>, create: Create) -> BoxedOutcome<'a, State>;
    fn read<'a>(&'a self, ctx: &'a Context<C>, prior: State) -> BoxedOutcome<'a, Option<State>>;
    fn update<'a>(&'a self, ctx: &'a Context<C>, update: Update) -> BoxedOutcome<'a, State>;
    fn delete<'a>(&'a self, ctx: &'a Context<C>, prior: State) -> BoxedOutcome<'a, ()>;
    fn import<'a>(&'a self, ctx: &'a Context<C>, import: Import) -> BoxedOutcome<'a, State>;
    fn move_state<'a>(&'a self, ctx: &'a Context<C>, from: Move)
    -> BoxedOutcome<'a, Option<State>>;
}

impl<R: Resource> ErasedResource<R::Client> for R {
    fn schema(&self) -> Schema {
        Resource::schema(self)
    }

    fn identity(&self) -> Option<Identity> {
        Resource::identity(self)
    }

    fn upgrades(&self) -> Vec<Upgrade> {
        Resource::upgrades(self)
    }

    fn validate<'a>(
        &'a self,
        ctx: &'a Context<R::Client>,
        config: &'a Object,
    ) -> BoxedOutcome<'a, ()> {
        Resource::validate(self, ctx, config).boxed()
    }

    fn plan<'a>(&'a self, ctx: &'a Context<R::Client>, plan: &'a mut Plan) -> BoxedOutcome<'a, ()> {
        Resource::plan(self, ctx, plan).boxed()
    }

    fn plan_delete<'a>(
        &'a self,
        ctx: &'a Context<R::Client>,
        prior: &'a State,
    ) -> BoxedOutcome<'a, ()> {
        Resource::plan_delete(self, ctx, prior).boxed()
    }

    fn create<'a>(
        &'a self,
        ctx: &'a Context<R::Client>,
        create: Create,
    ) -> BoxedOutcome<'a, State> {
        Resource::create(self, ctx, create).boxed()
    }

    fn read<'a>(
        &'a self,
        ctx: &'a Context<R::Client>,
        prior: State,
    ) -> BoxedOutcome<'a, Option<State>> {
        Resource::read(self, ctx, prior).boxed()
    }

    fn update<'a>(
        &'a self,
        ctx: &'a Context<R::Client>,
        update: Update,
    ) -> BoxedOutcome<'a, State> {
        Resource::update(self, ctx, update).boxed()
    }

    fn delete<'a>(&'a self, ctx: &'a Context<R::Client>, prior: State) -> BoxedOutcome<'a, ()> {
        Resource::delete(self, ctx, prior).boxed()
    }

    fn import<'a>(
        &'a self,
        ctx: &'a Context<R::Client>,
        import: Import,
    ) -> BoxedOutcome<'a, State> {
        Resource::import(self, ctx, import).boxed()
    }

    fn move_state<'a>(
        &'a self,
        ctx: &'a Context<R::Client>,
        from: Move,
    ) -> BoxedOutcome<'a, Option<State>> {
        Resource::move_state(self, ctx, from).boxed()
    }
}
