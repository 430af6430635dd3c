//! What an answer depends on: who asks, for what, and in which form.

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, Method};
use rules::WorkspaceId;

use crate::auth::Caller;

/// Largest message of a question whose answer is kept, in bytes. Those of reads are some hundred.
const MESSAGE_BYTES_MAX: usize = 4_096;

/// What the form of an answer depends on: protocol, codec and compression. How long a caller waits
/// is no part of it: the answer is there.
const FORM: [HeaderName; 8] = [
    CONTENT_TYPE,
    CONTENT_ENCODING,
    ACCEPT_ENCODING,
    HeaderName::from_static("connect-protocol-version"),
    HeaderName::from_static("connect-content-encoding"),
    HeaderName::from_static("connect-accept-encoding"),
    HeaderName::from_static("grpc-encoding"),
    HeaderName::from_static("grpc-accept-encoding"),
];

/// All that an answer depends on beside what is stored: equal questions have equal answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    workspace: WorkspaceId,
    /// Keys that may write read secrets, others do not.
    may_write: bool,
    method: &'static str,
    /// Verb, form, query and message, each with its length, so that none runs into the next.
    rest: Vec<u8>,
}

impl Question {
    /// The question of a request, and the request as it was; `None` where it is too large to be
    /// kept, or was cut short.
    pub(super) async fn read(
        caller: Caller,
        method: &'static str,
        request: Request,
    ) -> (Option<Self>, Request) {
        let (parts, body) = request.into_parts();
        let (message, body) = match read_small(body).await {
            Ok(message) => (message.clone(), Body::from(message)),
            Err(body) => return (None, Request::from_parts(parts, body)),
        };
        let query = parts.uri.query().unwrap_or_default();
        if query.len() > MESSAGE_BYTES_MAX {
            return (None, Request::from_parts(parts, body));
        }
        let mut rest = form(&parts.method, &parts.headers);
        push(&mut rest, query.as_bytes());
        push(&mut rest, &message);
        let (workspace, may_write) = (caller.workspace, caller.scope.may_write());
        let question = Self { workspace, may_write, method, rest };
        (Some(question), Request::from_parts(parts, body))
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.rest.len()
    }
}

fn form(verb: &Method, headers: &HeaderMap) -> Vec<u8> {
    let mut form = Vec::with_capacity(256);
    push(&mut form, verb.as_str().as_bytes());
    for name in &FORM {
        let values = headers.get_all(name);
        // How many there are, before they are: none and an empty one are two things.
        form.extend_from_slice(&(values.iter().count() as u32).to_le_bytes());
        for value in values {
            push(&mut form, value.as_bytes());
        }
    }
    form
}

fn push(to: &mut Vec<u8>, part: &[u8]) {
    to.extend_from_slice(&(part.len() as u32).to_le_bytes());
    to.extend_from_slice(part);
}

/// A body that is small, or the body as it was.
async fn read_small(body: Body) -> Result<Bytes, Body> {
    if body.size_hint().lower() > MESSAGE_BYTES_MAX as u64 {
        return Err(body);
    }
    let mut data = body.into_data_stream();
    let mut read = BytesMut::new();
    while let Some(next) = data.next().await {
        let is_whole = match &next {
            Ok(part) => {
                read.extend_from_slice(part);
                read.len() <= MESSAGE_BYTES_MAX
            }
            Err(_) => false,
        };
        if !is_whole {
            // What broke breaks again where the message is decoded, and is answered there.
            let read = read.freeze();
            let broken = next.err().map(Err);
            let before = stream::iter([Ok(read)].into_iter().chain(broken));
            return Err(Body::from_stream(before.chain(data)));
        }
    }
    Ok(read.freeze())
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use rules::{KeyId, Scope};

    use super::*;

    const METHOD: &str = "/a.B/C";

    fn caller(workspace: u64, scope: Scope) -> Caller {
        let workspace = WorkspaceId::from_bits(workspace);
        Caller { workspace, key: KeyId::from_bits(1), scope, legacy: false }
    }

    fn request(headers: &[(&'static str, &'static str)], uri: &str, body: &str) -> Request {
        let mut request = http::Request::post(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::from(body.to_owned())).unwrap()
    }

    async fn question(caller: Caller, request: Request) -> Question {
        Question::read(caller, METHOD, request).await.0.unwrap()
    }

    #[tokio::test]
    async fn whatever_an_answer_depends_on_makes_another_question() {
        let write = caller(1, Scope::Write);
        let json = ("content-type", "application/json");
        let asked = [
            question(write, request(&[json], "/x", "{}")).await,
            question(caller(2, Scope::Write), request(&[json], "/x", "{}")).await,
            question(caller(1, Scope::Read), request(&[json], "/x", "{}")).await,
            question(write, request(&[("content-type", "application/grpc")], "/x", "{}")).await,
            question(write, request(&[json, ("accept-encoding", "gzip")], "/x", "{}")).await,
            question(write, request(&[json, ("accept-encoding", "")], "/x", "{}")).await,
            question(write, request(&[json, ("grpc-accept-encoding", "gzip")], "/x", "{}")).await,
            question(write, request(&[json, ("connect-protocol-version", "1")], "/x", "{}")).await,
            question(write, request(&[json], "/x?{}", "")).await,
            question(write, request(&[json], "/x", "{ }")).await,
            Question::read(write, "/a.B/D", request(&[json], "/x", "{}")).await.0.unwrap(),
        ];
        for (index, one) in asked.iter().enumerate() {
            assert!(!asked[index + 1..].contains(one), "question {index} is another's");
        }
    }

    #[tokio::test]
    async fn what_an_answer_does_not_depend_on_makes_no_other_question() {
        let asked = question(caller(1, Scope::Read), request(&[], "/x", "{}")).await;
        let other = [("x-request-id", "7"), ("user-agent", "x"), ("connect-timeout-ms", "5")];
        assert_eq!(question(caller(1, Scope::Read), request(&other, "/rpc/x", "{}")).await, asked);
    }

    #[tokio::test]
    async fn a_message_past_its_bound_is_no_question_and_goes_on_unharmed() {
        for (length, is_kept) in [(MESSAGE_BYTES_MAX, true), (MESSAGE_BYTES_MAX + 1, false)] {
            let text = "x".repeat(length);
            // In parts, as a body comes whose length is not said.
            let parts: Vec<Bytes> =
                text.as_bytes().chunks(1_000).map(Bytes::copy_from_slice).collect();
            let body = Body::from_stream(stream::iter(parts.into_iter().map(Ok::<_, axum::Error>)));
            let request = http::Request::post("/x").body(body).unwrap();
            let (question, request) = Question::read(caller(1, Scope::Read), METHOD, request).await;
            assert_eq!(question.is_some(), is_kept, "{length}");
            assert_eq!(to_bytes(request.into_body(), usize::MAX).await.unwrap(), text);
        }
    }

    #[tokio::test]
    async fn a_message_that_was_cut_short_stays_so() {
        let broken = stream::iter([Ok(Bytes::from_static(b"{")), Err("gone")]);
        let request = http::Request::post("/x").body(Body::from_stream(broken)).unwrap();
        let (question, request) = Question::read(caller(1, Scope::Read), METHOD, request).await;
        assert!(question.is_none());
        to_bytes(request.into_body(), usize::MAX).await.unwrap_err();
    }
}
