//! Turns a panic in a call into an error of that call. The process and its other calls continue.
//! The panic is also written to stderr in the form that Terraform recognizes and shows to people.

use std::any::Any;
use std::backtrace::Backtrace;
use std::convert::Infallible;
use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::task::{Context, Poll};

use futures_util::FutureExt;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::NamedService;

/// A service whose calls may panic.
#[derive(Clone)]
pub(super) struct Guarded<S>(pub(super) S);

impl<S: NamedService> NamedService for Guarded<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for Guarded<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let call = AssertUnwindSafe(self.0.call(request)).catch_unwind();
        Box::pin(call.map(|ended| {
            ended.unwrap_or_else(|payload| {
                let what = message(payload.as_ref());
                Ok(Status::internal(format!("the provider panicked: {what}")).into_http())
            })
        }))
    }
}

/// Writes panics in the form that Terraform looks for: a line that begins with `panic: `, followed
/// by the location.
pub(super) fn report_panics() {
    std::panic::set_hook(Box::new(report));
}

fn report(panic: &PanicHookInfo<'_>) {
    let what = message(panic.payload());
    let place = panic.location().map_or_else(String::new, |at| format!("\tat {at}\n"));
    let stack = Backtrace::capture();
    // If stderr is closed, nobody can read the panic.
    drop(write!(std::io::stderr().lock(), "panic: {what}\n{place}{stack}\n"));
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone)]
    struct Panics;

    impl Service<http::Request<Body>> for Panics {
        type Response = http::Response<Body>;
        type Error = Infallible;
        type Future = BoxFuture<Self::Response, Self::Error>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: http::Request<Body>) -> Self::Future {
            Box::pin(async { panic!("no {}", "way") })
        }
    }

    #[tokio::test]
    async fn panic_fails_only_its_call() {
        let answer = Guarded(Panics).call(http::Request::new(Body::empty())).await.unwrap();
        let status = Status::from_header_map(answer.headers()).unwrap();
        assert_eq!(status.code(), tonic::Code::Internal);
        assert_eq!(status.message(), "the provider panicked: no way");
    }
}
