//! Combines a handler's result, reported diagnostics and panics into one response.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{self, Poll};

use futures_util::{FutureExt, Stream};
use tokio::sync::mpsc;

use super::wire;
use crate::proto::tfplugin6 as proto;
use crate::{Context, Diagnostic, Outcome};

/// A response that carries diagnostics.
pub(super) trait Response: Default {
    fn diagnostics(&mut self) -> &mut Vec<proto::Diagnostic>;
}

macro_rules! responses {
    ($($method:ident),*) => {$(
        impl Response for proto::$method::Response {
            fn diagnostics(&mut self) -> &mut Vec<proto::Diagnostic> {
                &mut self.diagnostics
            }
        }
    )*};
}
responses!(
    validate_provider_config,
    configure_provider,
    validate_resource_config,
    upgrade_resource_state,
    upgrade_resource_identity,
    read_resource,
    plan_resource_change,
    apply_resource_change,
    import_resource_state,
    move_resource_state,
    generate_resource_config,
    validate_data_resource_config,
    read_data_source,
    validate_list_resource_config,
    validate_ephemeral_resource_config,
    open_ephemeral_resource,
    renew_ephemeral_resource,
    close_ephemeral_resource,
    validate_action_config,
    plan_action
);

/// Runs a call and adds all diagnostics to its response.
pub(super) async fn respond<C, R: Response>(
    ctx: &Context<C>,
    work: impl Future<Output = Outcome<R>>,
) -> R {
    let (mut response, found) = match catch_panics(work).await {
        Ok(response) => (response, crate::Diagnostics::new()),
        Err(found) => (R::default(), found),
    };
    let all = ctx.take_reported().into_iter().chain(found);
    response.diagnostics().extend(all.map(wire::diagnostic));
    response
}

/// Converts a panic into an error of the call.
pub(super) async fn catch_panics<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|payload| {
        let detail = format!(
            "The provider panicked: {}. This is a bug in the provider.",
            message(payload.as_ref())
        );
        Err(Diagnostic::error("Provider panicked", detail).into())
    })
}

/// Cancels a call that changes nothing when Terraform sends a stop.
pub(super) async fn interruptible<C, T>(
    ctx: &Context<C>,
    work: impl Future<Output = Outcome<T>>,
) -> Outcome<T> {
    let ended = ctx.cancelled().run_until_cancelled(catch_panics(work)).await;
    ended.unwrap_or_else(|| {
        Err(Diagnostic::error("Cancelled", "Terraform asked the provider to stop.").into())
    })
}

/// A stream of a channel's messages.
pub(super) struct ResponseStream<T>(mpsc::Receiver<T>);

impl<T> ResponseStream<T> {
    pub(super) fn new(receiving: mpsc::Receiver<T>) -> Self {
        Self(receiving)
    }
}

impl<T> Stream for ResponseStream<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, waker: &mut task::Context<'_>) -> Poll<Option<T>> {
        self.0.poll_recv(waker)
    }
}

/// Returns the message of a panic.
pub(super) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
