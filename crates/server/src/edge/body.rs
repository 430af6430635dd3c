//! Request bodies: each has a deadline and takes memory from `budget`. Unread bodies are discarded,
//! within limits, so that an early error does not break the connection. Limits of single routes
//! belong to the routes.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use contract::rpc;
use http::header::{CONNECTION, EXPECT, RETRY_AFTER};
use http::{HeaderValue, StatusCode, Version};
use hyper::body::{Frame, SizeHint};
use rules::WorkspaceId;
use tokio::time::{Sleep, sleep, timeout};

use super::Edge;
use super::budget::Reservation;
use super::paths::is_public_stream;
use crate::connection::{Connection, Served, StreamLimit};

/// Deadline of a body: the largest one needs less than 150 KiB/s.
pub(crate) const BODY_WITHIN: Duration = Duration::from_secs(30);
/// Deadline of the requests of a stream with a key, which a client keeps open on purpose.
const STREAM_WITHIN: Duration = Duration::from_hours(1);
/// Time after which a caller may send a body again that found no memory.
const RETRY_AFTER_NO_MEMORY: Duration = Duration::from_secs(1);
/// Maximum number of bytes of an unread body that are discarded to keep its connection usable.
const DISCARDED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Timeout of discarding.
const DISCARD_WITHIN: Duration = Duration::from_secs(5);

/// State of a request's body, in the extensions of the request.
#[derive(Clone)]
pub(crate) struct Intake(Arc<BodyState>);

struct BodyState {
    /// Memory that the body has taken from the budget, until the response.
    reservation: Mutex<Reservation>,
    /// Part of the body that the handler did not read.
    rest: Mutex<Option<Body>>,
    /// Reason that the body was cut off, as a status.
    broken: Mutex<Option<StatusCode>>,
    connection: Option<Connection>,
    /// Mark that the body is complete and the request is being handled.
    served: Mutex<Option<Served>>,
}

/// Body that the handler reads.
struct Bounded {
    body: Option<Body>,
    within: Duration,
    deadline: Pin<Box<Sleep>>,
    /// End of a stream without a key.
    limit: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    intake: Intake,
}

/// Reason that a body is cut off.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("the body did not end within {} s", .0.as_secs())]
    TooSlow(Duration),
    #[error("the stream reached the limit of streams without a key; open it again")]
    StreamEnded,
    #[error("too many requests without a key are being received; retry later")]
    NoMemory,
    #[error("the calls of this workspace send too much at once; retry later")]
    NoMemoryForWorkspace,
}

/// Returns the error for a caller whose body was cut off.
pub(crate) fn cut_off_error(error: &(dyn Error + 'static)) -> rpc::Error {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(broken) = error.downcast_ref::<Broken>() {
            return match broken {
                Broken::TooSlow(within) => rpc::request_timeout(*within),
                Broken::NoMemory | Broken::StreamEnded => rpc::deferred(broken.to_string()),
                Broken::NoMemoryForWorkspace => {
                    rpc::resource_exhausted(broken.to_string(), RETRY_AFTER_NO_MEMORY)
                }
            };
        }
        // Kinds of hyper's errors for invalid chunks.
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(kind, Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)) {
            return rpc::malformed("the body is malformed: its chunks cannot be read");
        }
        cause = error.source();
    }
    // The caller is gone and does not read the response.
    rpc::malformed("the body ended too early")
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intake").finish_non_exhaustive()
    }
}

impl Intake {
    /// Limits the body of a request, whose memory counts for its owner if that is known. Returns
    /// `None` if it has none.
    pub(super) fn limit(
        request: &mut Request,
        edge: &Edge,
        connection: Option<&Connection>,
        owner: Option<WorkspaceId>,
    ) -> Option<Self> {
        if request.body().is_end_stream() {
            return None;
        }
        let intake = Self(Arc::new(BodyState {
            reservation: Mutex::new(edge.budget.reserve()),
            rest: Mutex::new(None),
            broken: Mutex::new(None),
            connection: connection.cloned(),
            served: Mutex::new(None),
        }));
        if let Some(owner) = owner {
            intake.set_has_key(owner);
        }
        let is_stream = is_public_stream(request.uri().path());
        let within = if is_stream { STREAM_WITHIN } else { edge.body_within };
        let limit = request.extensions().get::<StreamLimit>().cloned();
        let bounded = Bounded {
            body: Some(std::mem::take(request.body_mut())),
            within,
            deadline: Box::pin(sleep(within)),
            limit: limit.map(|limit| Box::pin(limit.reached()) as _),
            intake: intake.clone(),
        };
        *request.body_mut() = Body::new(bounded);
        request.extensions_mut().insert(intake.clone());
        Some(intake)
    }

    /// Records that the caller has shown a valid key of this workspace.
    pub(crate) fn set_has_key(&self, workspace: WorkspaceId) {
        locked(&self.0.reservation).belongs_to(workspace);
    }

    /// Discards the unread part of the body, or announces that the connection closes.
    pub(super) async fn finish(self, version: Version, expects: bool, response: &mut Response) {
        // Extractors know only that the body could not be read.
        let broken = locked(&self.0.broken).take();
        if let Some(status) = broken
            && response.status() == StatusCode::BAD_REQUEST
        {
            *response.status_mut() = status;
            if status != StatusCode::REQUEST_TIMEOUT {
                let seconds = RETRY_AFTER_NO_MEMORY.as_secs().into();
                response.headers_mut().insert(RETRY_AFTER, seconds);
            }
        }
        let rest = locked(&self.0.rest).take();
        locked(&self.0.reservation).release();
        locked(&self.0.served).take();
        let Some(rest) = rest.filter(|_| version < Version::HTTP_2) else { return };
        // A client that waits for `100 Continue` has not sent the body, and reading would request
        // it. A client that was too slow does not get more time.
        let may_end = !expects && broken != Some(StatusCode::REQUEST_TIMEOUT);
        let is_discarded = may_end && timeout(DISCARD_WITHIN, discard(rest)).await == Ok(true);
        if !is_discarded {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }

    /// Records that the body is complete.
    fn mark_complete(&self) {
        *locked(&self.0.served) = self.0.connection.as_ref().map(Connection::serve);
    }

    /// Cuts off the body.
    fn cut_off<T>(&self, why: Broken) -> Poll<Option<Result<T, axum::Error>>> {
        *locked(&self.0.broken) = Some(match why {
            Broken::TooSlow(_) => StatusCode::REQUEST_TIMEOUT,
            Broken::NoMemory | Broken::StreamEnded => StatusCode::SERVICE_UNAVAILABLE,
            Broken::NoMemoryForWorkspace => StatusCode::TOO_MANY_REQUESTS,
        });
        Poll::Ready(Some(Err(axum::Error::new(why))))
    }

    /// Takes memory for this many bytes from the budget.
    fn reserve(&self, bytes: usize) -> Result<(), Broken> {
        let mut reservation = locked(&self.0.reservation);
        match (reservation.take(bytes), reservation.has_key()) {
            (true, _) => Ok(()),
            (false, true) => Err(Broken::NoMemoryForWorkspace),
            (false, false) => Err(Broken::NoMemory),
        }
    }
}

/// Returns whether a request waits for `100 Continue` before it sends its body.
pub(super) fn expects_continue(request: &Request) -> bool {
    request.headers().contains_key(EXPECT)
}

/// Discards a body. Returns whether it ended within [`DISCARDED_BYTES_MAX`].
async fn discard(mut body: Body) -> bool {
    let mut discarded = 0;
    loop {
        match poll_fn(|task| Pin::new(&mut body).poll_frame(task)).await {
            None => return true,
            Some(Err(_)) => return false,
            Some(Ok(frame)) => discarded += frame.data_ref().map_or(0, Bytes::len),
        }
        if discarded > DISCARDED_BYTES_MAX {
            return false;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HttpBody for Bounded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = self.body.as_mut() else { return Poll::Ready(None) };
        let frame = match Pin::new(body).poll_frame(task) {
            Poll::Ready(frame) => frame,
            Poll::Pending => {
                if self.limit.as_mut().is_some_and(|it| it.as_mut().poll(task).is_ready()) {
                    self.limit = None;
                    return self.intake.cut_off(Broken::StreamEnded);
                }
                ready!(self.deadline.as_mut().poll(task));
                return self.intake.cut_off(Broken::TooSlow(self.within));
            }
        };
        match frame {
            None => {
                self.body = None;
                self.intake.mark_complete();
                Poll::Ready(None)
            }
            Some(Ok(frame)) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                if let Err(broken) = self.intake.reserve(bytes) {
                    return self.intake.cut_off(broken);
                }
                if self.body.as_ref().is_some_and(HttpBody::is_end_stream) {
                    self.body = None;
                    self.intake.mark_complete();
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => {
                self.body = None;
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        *locked(&self.intake.0.rest) = self.body.take();
    }
}
