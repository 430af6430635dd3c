//! Read timeout of HTTP/2 responses: resets a stream whose client reads nothing of its response for
//! a while. `write_timeout` does not see this, because the connection itself makes progress.
//!
//! hyper runs each stream as a task and asks its body for data only while the client reads. Only
//! the end of the task resets the stream, so [`StreamExecutor`] ends it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use hyper::rt::Executor;
use tokio::time::{Sleep, sleep};

use crate::edge::hint_with_taken;

/// Maximum size of a part of a response. A client must read one within the timeout.
const PART_BYTES: usize = 16 * 1024;
/// Maximum size of the last part. hyper ends the task when it has passed it on, so that nobody
/// watches it any longer.
const LAST_PART_BYTES: usize = 256;

tokio::task_local! {
    /// Progress of the stream of this task.
    static PROGRESS: Arc<Progress>;
}

/// Runs the streams of HTTP/2 connections, and ends those that stall.
#[derive(Clone, Debug)]
pub(super) struct StreamExecutor {
    within: Duration,
}

/// Body of a response, in parts.
#[derive(Debug)]
pub(super) struct WatchedBody {
    body: Body,
    /// `None` for HTTP/1, whose connection carries nothing else.
    progress: Option<Arc<Progress>>,
    /// Rest of the current part.
    rest: Bytes,
}

#[derive(Debug, Default)]
struct Progress {
    /// Number of parts that the client made room for.
    parts: AtomicU64,
    /// Whether a part waits for the client.
    is_waiting: AtomicBool,
}

impl StreamExecutor {
    /// Lets a client read nothing of a response for this time.
    pub(super) const fn within(within: Duration) -> Self {
        Self { within }
    }
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let (within, progress) = (self.within, Arc::<Progress>::default());
        tokio::spawn(async move {
            let mut stream = pin!(PROGRESS.scope(Arc::clone(&progress), stream));
            let mut deadline: Option<(u64, Pin<Box<Sleep>>)> = None;
            poll_fn(|task| {
                if stream.as_mut().poll(task).is_ready() {
                    return Poll::Ready(());
                }
                let Some(parts) = progress.waiting() else {
                    deadline = None;
                    return Poll::Pending;
                };
                let current = deadline.take().filter(|(since, _)| *since == parts);
                let (_, timer) =
                    deadline.insert(current.unwrap_or_else(|| (parts, Box::pin(sleep(within)))));
                timer.as_mut().poll(task)
            })
            .await;
        });
    }
}

impl Progress {
    /// Returns the number of parts if one waits for the client.
    fn waiting(&self) -> Option<u64> {
        let is_waiting = self.is_waiting.load(Ordering::Relaxed);
        is_waiting.then(|| self.parts.load(Ordering::Relaxed))
    }
}

impl WatchedBody {
    /// Watches the body of a response of the current task.
    pub(super) fn new(body: Body) -> Self {
        Self { body, progress: PROGRESS.try_with(Arc::clone).ok(), rest: Bytes::new() }
    }

    /// Returns the next part of the data and keeps the rest.
    fn part(&mut self, mut data: Bytes) -> Bytes {
        if self.progress.is_none() || data.len() <= LAST_PART_BYTES {
            return data;
        }
        let part = data.split_to((data.len() - LAST_PART_BYTES).min(PART_BYTES));
        // A small part must not keep the whole body in memory.
        let is_last = data.len() <= LAST_PART_BYTES;
        self.rest = if is_last { Bytes::copy_from_slice(&data) } else { data };
        part
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let rest = std::mem::take(&mut self.rest);
        let polled = if rest.is_empty() {
            Pin::new(&mut self.body).poll_frame(task)
        } else {
            Poll::Ready(Some(Ok(Frame::data(rest))))
        };
        if let Some(progress) = &self.progress {
            progress.parts.fetch_add(1, Ordering::Relaxed);
            progress.is_waiting.store(polled.is_ready(), Ordering::Relaxed);
        }
        polled.map_ok(|frame| match frame.into_data() {
            Ok(data) => Frame::data(self.part(data)),
            Err(trailers) => trailers,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        hint_with_taken(self.body.size_hint(), self.rest.len())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::FutureExt as _;
    use http::{Request, Response};
    use http_body_util::{BodyExt as _, Empty};
    use hyper::body::Incoming;
    use hyper::client::conn::http2 as client;
    use hyper::server::conn::http2 as server;
    use hyper::service::service_fn;
    use hyper_util::rt::{TokioExecutor, TokioIo};
    use tokio::sync::oneshot;

    use super::*;

    const BODY_BYTES: usize = 100_000;

    /// Requests a body over a connection with this window. Also returns a receiver that fails when
    /// the server drops the body.
    async fn ask(window: u32, within: Duration) -> (Response<Incoming>, oneshot::Receiver<()>) {
        let (ours, theirs) = tokio::io::duplex(4_096);
        let (alive, dropped) = oneshot::channel::<()>();
        let alive = Arc::new(std::sync::Mutex::new(Some(alive)));
        let service = service_fn(move |_: Request<Incoming>| {
            let alive = alive.lock().unwrap().take();
            let body = Body::from(vec![7; BODY_BYTES]).map_frame(move |frame| {
                let _ = &alive;
                frame
            });
            let body = Body::new(body);
            // The future belongs to the stream, the call itself to the connection.
            async move { Ok::<_, Infallible>(Response::new(WatchedBody::new(body))) }
        });
        let executor = StreamExecutor::within(within);
        let serving =
            server::Builder::new(executor).serve_connection(TokioIo::new(theirs), service);
        tokio::spawn(serving);
        let mut builder = client::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(window);
        let (mut sender, connection) = builder.handshake(TokioIo::new(ours)).await.unwrap();
        tokio::spawn(connection);
        let request = Request::new(Empty::<Bytes>::new());
        (sender.send_request(request).await.unwrap(), dropped)
    }

    // 24,000 unread responses stayed in memory as long as the client answered pings
    #[tokio::test]
    async fn unread_response_is_reset() {
        for window in [0, 1, 1_000, 65_535] {
            let (response, dropped) = ask(window, Duration::from_millis(1)).await;
            assert!(dropped.await.is_err());
            assert!(response.into_body().collect().await.is_err(), "window of {window} bytes");
        }
    }

    #[tokio::test]
    async fn read_response_is_complete() {
        for window in [1_000, 65_535, 2 * BODY_BYTES as u32] {
            let (response, _dropped) = ask(window, Duration::from_hours(1)).await;
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, vec![7; BODY_BYTES], "window of {window} bytes");
        }
    }

    #[test]
    fn length_is_known_at_each_part() {
        PROGRESS.sync_scope(Arc::default(), || {
            let mut body = WatchedBody::new(Body::from(vec![7; BODY_BYTES]));
            let mut left = BODY_BYTES as u64;
            let mut parts = 0;
            while let Some(frame) = body.frame().now_or_never().unwrap() {
                left -= frame.unwrap().into_data().unwrap().len() as u64;
                parts += 1;
                assert_eq!(
                    (body.size_hint().exact(), body.is_end_stream()),
                    (Some(left), left == 0)
                );
            }
            assert_eq!((left, parts), (0, 8));
        });
    }

    #[test]
    fn waiting_for_the_handler_is_no_stall() {
        let progress = Arc::<Progress>::default();
        PROGRESS.sync_scope(Arc::clone(&progress), || {
            let pending = futures_util::stream::pending::<Result<Bytes, Infallible>>();
            assert!(WatchedBody::new(Body::from_stream(pending)).frame().now_or_never().is_none());
            assert_eq!(progress.waiting(), None);
            assert!(WatchedBody::new(Body::from("x")).frame().now_or_never().is_some());
            assert_eq!(progress.waiting(), Some(2));
        });
    }
}
