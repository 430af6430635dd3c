//! Actions: validates, plans and invokes them with a stream of progress.

use std::sync::Arc;

use futures_util::Stream;
use proto::invoke_action::event::{Completed, Progress as Line, Type};
use tokio::sync::mpsc;

use super::provider::Typed;
use super::response::{ResponseStream, catch_panics, interruptible};
use super::wire;
use crate::action::{ErasedAction, Progress};
use crate::proto::tfplugin6 as proto;
use crate::{Context, Outcome};

/// Maximum number of progress lines that Terraform has not read yet.
const BUFFERED_EVENTS_MAX: usize = 32;

/// An action with its schema.
pub(super) struct ActionEntry<C> {
    action: Box<dyn ErasedAction<C>>,
    pub(super) typed: Typed,
}

impl<C: Send + Sync + 'static> ActionEntry<C> {
    pub(super) fn new(action: Box<dyn ErasedAction<C>>) -> Self {
        Self { typed: Typed::new(action.schema()), action }
    }

    pub(super) async fn validate(
        &self,
        ctx: &Context<C>,
        request: &proto::validate_action_config::Request,
    ) -> Outcome<proto::validate_action_config::Response> {
        let config = self.typed.check(ctx, request.config.as_ref())?;
        interruptible(ctx, self.action.validate(ctx, &config)).await?;
        Ok(proto::validate_action_config::Response::default())
    }

    pub(super) async fn plan(
        &self,
        ctx: &Context<C>,
        request: &proto::plan_action::Request,
    ) -> Outcome<proto::plan_action::Response> {
        let config = wire::required("configuration", request.config.as_ref(), &self.typed.ty)?;
        interruptible(ctx, self.action.plan(ctx, &config)).await?;
        Ok(proto::plan_action::Response::default())
    }

    /// Runs the action to its end, even if nobody reads the stream, because it changes something.
    pub(super) fn invoke(
        self: Arc<Self>,
        ctx: Context<C>,
        request: proto::invoke_action::Request,
    ) -> impl Stream<Item = proto::invoke_action::Event> + Send + 'static {
        let (lines, mut saying) = mpsc::channel::<String>(BUFFERED_EVENTS_MAX);
        let (events, receiving) = mpsc::channel(BUFFERED_EVENTS_MAX);
        let work = async move {
            let config = self.typed.configured(request.config.as_ref())?;
            let progress = Progress(lines);
            let done = catch_panics(self.action.invoke(&ctx, config, &progress)).await;
            let diagnostics = ctx.take_reported().into_iter();
            Ok(diagnostics.chain(done.err().into_iter().flatten()).collect())
        };
        let passing = async move {
            while let Some(message) = saying.recv().await {
                let line = Type::Progress(Line { message });
                // If nobody reads the lines, they are dropped and the action continues.
                drop(events.send(event(line)).await);
            }
            events
        };
        tokio::spawn(async move {
            let (done, events) = tokio::join!(work, passing);
            let diagnostics: Outcome<crate::Diagnostics> = done;
            let diagnostics =
                diagnostics.unwrap_or_else(|found| found).into_iter().map(wire::diagnostic);
            let completed = Completed { diagnostics: diagnostics.collect() };
            drop(events.send(event(Type::Completed(completed))).await);
        });
        ResponseStream::new(receiving)
    }
}

fn event(kind: Type) -> proto::invoke_action::Event {
    proto::invoke_action::Event { r#type: Some(kind) }
}
