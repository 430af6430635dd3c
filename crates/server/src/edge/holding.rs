//! Bodies of responses: their memory counts until they are sent, and their requests without a key do
//! too.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use futures_util::FutureExt as _;
use http::Version;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};

use crate::connection::{Connection, Open, UnreadResponse};

/// Body of a response. Its request counts until the body ends.
pub(super) struct Holding {
    /// Frame that was taken from the body to count it.
    first: Option<Result<Frame<Bytes>, axum::Error>>,
    body: Body,
    _open: Option<Open>,
}

/// Data of a response. Its memory counts until the last part of it is sent.
struct CountedBytes {
    data: Bytes,
    _unread: UnreadResponse,
}

impl Holding {
    /// Keeps `open` until the body has ended. A complete body counts for its connection only: it
    /// needs no further work, only memory. Live updates of pages have limits of their own.
    pub(super) fn until_it_ends(response: Response, version: Version, mut open: Open) -> Response {
        if is_live(&response) {
            return response;
        }
        if response.body().size_hint().exact().is_none() {
            return response.map(|body| Body::new(Self { first: None, body, _open: Some(open) }));
        }
        open.mark_answered();
        response.map(|mut body| {
            let first = count_first(&mut body, open.connection());
            // HTTP/1 has one response at a time.
            let open = (version >= Version::HTTP_2).then_some(open);
            Body::new(Self { first, body, _open: open })
        })
    }

    /// Counts the memory of a body, or of its first part, until it is sent. Its request does not
    /// count.
    pub(super) fn until_it_is_read(response: Response, connection: &Connection) -> Response {
        if is_live(&response) {
            return response;
        }
        response.map(|mut body| {
            let first = count_first(&mut body, connection);
            Body::new(Self { first, body, _open: None })
        })
    }
}

/// Returns whether a response has live updates of a page.
fn is_live(response: &Response) -> bool {
    let content_type = response.headers().get(CONTENT_TYPE);
    content_type.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"))
}

/// Takes the first frame of a complete body and counts its data.
fn count_first(
    body: &mut Body,
    connection: &Connection,
) -> Option<Result<Frame<Bytes>, axum::Error>> {
    let frame = body.frame().now_or_never()??;
    let count = |data: Bytes| {
        // Shared data stay in their cache anyway.
        let own = if data.is_unique() { data.len() } else { 0 };
        Bytes::from_owner(CountedBytes { data, _unread: connection.count_unread(own) })
    };
    Some(frame.map(|frame| frame.map_data(count)))
}

/// Returns the size hint of a body behind `bytes` that were taken from it and are not sent yet.
pub(crate) fn hint_with_taken(mut hint: SizeHint, bytes: usize) -> SizeHint {
    let bytes = bytes as u64;
    if let Some(upper) = hint.upper() {
        hint.set_upper(upper + bytes);
    }
    hint.set_lower(hint.lower() + bytes);
    hint
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

impl HttpBody for Holding {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => Pin::new(&mut self.body).poll_frame(task),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let first = self.first.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
        hint_with_taken(self.body.size_hint(), first.map_or(0, Bytes::len))
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use http::{HeaderMap, HeaderValue};
    use http_body_util::Empty;
    use web::proxies::TrustedProxies;

    use super::*;
    use crate::connection::{AdmitResult, ConnectionLimits, RequestKind};

    #[tokio::test]
    async fn data_count_until_their_last_part_is_dropped() {
        let limits = ConnectionLimits::new(10, TrustedProxies::default());
        let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let AdmitResult::Admitted(permit) = limits.admit(peer) else {
            panic!("the listener has a permit")
        };
        let hold = |data: Bytes, version| {
            let open = permit.connection().open(RequestKind::WithoutBody, peer).unwrap();
            Holding::until_it_ends(Response::new(Body::from(data)), version, open).into_body()
        };
        let cached = Bytes::from(vec![7; 100_000]);
        for version in [Version::HTTP_11, Version::HTTP_2] {
            let mut body = hold(Bytes::from(vec![7; 100_000]), version);
            assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(100_000), false));
            assert!(limits.unread_bytes() > 100_000);
            let mut data = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(body.is_end_stream() && body.frame().await.is_none());
            drop(data.split_to(90_000));
            assert!(limits.unread_bytes() > 100_000, "a part is in the buffer of the connection");
            drop(data);
            assert_eq!(limits.unread_bytes(), 0);

            let body = hold(cached.clone(), version);
            assert!((1..100_000).contains(&limits.unread_bytes()), "the cache has the bytes too");
            drop(body);
            assert_eq!(limits.unread_bytes(), 0);
            assert!(hold(Bytes::new(), version).is_end_stream());
        }
    }

    #[tokio::test]
    async fn trailers_and_errors_are_passed_on() {
        let limits = ConnectionLimits::new(10, TrustedProxies::default());
        let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let AdmitResult::Admitted(permit) = limits.admit(peer) else {
            panic!("the listener has a permit")
        };
        let mut trailers = Body::new(Empty::new().with_trailers(std::future::ready(Some(Ok(
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("x"))]),
        )))));
        let first = count_first(&mut trailers, permit.connection()).unwrap();
        assert!(first.unwrap().is_trailers());
    }
}
