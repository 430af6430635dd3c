//! The connection to the server over HTTP: a stream of jobs, and reports of results. Both are requests
//! that the probe sends.

use std::time::Duration;

use buffa::Message;
use bytes::{Buf as _, Bytes, BytesMut};
use contract::rpc::{Network, Transport, is_sendable_key};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use rules::Secret;
use tokio::time::{Instant, timeout};

use super::super::AgentError;
use super::super::clock::Sample;
use super::{Answer, LinkError, refused};
use crate::nats::with_causes;
use crate::{FRAME_BYTES_MAX, FRAME_HEAD_BYTES, JOBS_PATH, RESULTS_PATH, wire};

/// Time limit of an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// Time without a frame after which a stream counts as broken, until the server says another.
const SILENCE_MAX: Duration = Duration::from_secs(20);
/// Maximum size of an answer or an error, in bytes.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// Length of an error text in logs, in characters.
const ERROR_CHARS: usize = 300;

/// The way to the server over HTTP.
pub(in crate::agent) struct HttpLink {
    transport: Transport,
    jobs: Uri,
    results: Uri,
    authorization: HeaderValue,
}

/// The frames of a stream of jobs.
pub(in crate::agent) struct HttpFrames {
    body: Incoming,
    buffer: BytesMut,
    silence_max: Duration,
}

impl HttpLink {
    pub(super) fn new(
        url: &str,
        network: &Network,
        token: &Secret<String>,
    ) -> Result<Self, AgentError> {
        let (transport, base) = Transport::to(url.trim_end_matches('/'), network)?;
        if !is_sendable_key(token) {
            return Err(AgentError::UnusableToken);
        }
        let authorization = format!("Bearer {}", token.expose());
        let mut authorization =
            HeaderValue::try_from(authorization).map_err(|_| AgentError::UnusableToken)?;
        authorization.set_sensitive(true);
        let base = base.to_string();
        let at = |path: &str| format!("{}{path}", base.trim_end_matches('/')).parse::<Uri>();
        let (Ok(jobs), Ok(results)) = (at(JOBS_PATH), at(RESULTS_PATH)) else {
            let given = url.to_owned();
            return Err(contract::rpc::UnusableClient::BaseUrl { given }.into());
        };
        Ok(Self { transport, jobs, results, authorization })
    }

    /// Opens a stream of jobs.
    pub(super) async fn open(&self, request: &wire::OpenRequest) -> Result<HttpFrames, LinkError> {
        let response = self.send(&self.jobs, request.encode_to_vec()).await?;
        let body = response.into_body();
        Ok(HttpFrames { body, buffer: BytesMut::new(), silence_max: SILENCE_MAX })
    }

    /// Reports results.
    pub(super) async fn report(
        &self,
        request: &wire::ReportRequest,
        within: Duration,
    ) -> Result<Answer, LinkError> {
        let asked = Instant::now();
        let whole = async {
            let response = self.send(&self.results, request.encode_to_vec()).await?;
            let body = read(response).await?;
            Ok((body, Instant::now()))
        };
        let (body, answered) =
            timeout(within, whole).await.map_err(|_| LinkError::Silent(within))??;
        let response = wire::ReportResponse::decode_from_slice(&body)
            .map_err(|_| LinkError::Malformed("not an answer to a report"))?;
        let server = rules::Timestamp::from_millis(response.sent_at_ms);
        let sample = Some(Sample { asked, answered, server });
        Ok(Answer { refusals: response.refusals, sample })
    }

    /// Sends a message and returns the response if it is a success.
    async fn send(&self, to: &Uri, message: Vec<u8>) -> Result<Response<Incoming>, LinkError> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(to.clone())
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, crate::CONTENT_TYPE)
            .body(Full::new(Bytes::from(message)))
            .expect("the parts of the request are valid");
        let sent = timeout(ANSWER_WITHIN, self.transport.send(request)).await;
        let response = sent
            .map_err(|_| LinkError::Silent(ANSWER_WITHIN))?
            .map_err(|error| LinkError::Unavailable(with_causes(&error)))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = timeout(ANSWER_WITHIN, read(response)).await;
        let text = text.ok().and_then(Result::ok).unwrap_or_default();
        let text: String =
            String::from_utf8_lossy(&text).trim().chars().take(ERROR_CHARS).collect();
        let reason = if text.is_empty() { status.to_string() } else { text };
        Err(refused(status, reason))
    }
}

impl HttpFrames {
    /// Sets the time without a frame after which the stream counts as broken.
    pub(super) const fn set_silence_max(&mut self, silence_max: Duration) {
        self.silence_max = silence_max;
    }

    /// Waits for the next frame.
    pub(super) async fn next(&mut self) -> Result<wire::Frame, LinkError> {
        let within = self.silence_max;
        timeout(within, self.read_frame()).await.map_err(|_| LinkError::Silent(within))?
    }

    async fn read_frame(&mut self) -> Result<wire::Frame, LinkError> {
        loop {
            if let Some(frame) = take_frame(&mut self.buffer)? {
                return Ok(frame);
            }
            let part = self.body.frame().await;
            let part = part.ok_or_else(|| LinkError::Broken("the server ended it".to_owned()))?;
            let part = part.map_err(|error| LinkError::Broken(with_causes(&error)))?;
            if let Ok(data) = part.into_data() {
                self.buffer.extend_from_slice(&data);
            }
        }
    }
}

/// Takes the first frame of `buffer` if it is complete.
fn take_frame(buffer: &mut BytesMut) -> Result<Option<wire::Frame>, LinkError> {
    let Some(head) = buffer.first_chunk::<FRAME_HEAD_BYTES>() else { return Ok(None) };
    let length = u32::from_be_bytes(*head) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(LinkError::Malformed("a frame is too large"));
    }
    if buffer.len() < FRAME_HEAD_BYTES + length {
        return Ok(None);
    }
    buffer.advance(FRAME_HEAD_BYTES);
    let frame = buffer.split_to(length);
    wire::Frame::decode_from_slice(&frame)
        .map(Some)
        .map_err(|_| LinkError::Malformed("a frame is not a message"))
}

async fn read(response: Response<Incoming>) -> Result<Bytes, LinkError> {
    let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
    body.map(http_body_util::Collected::to_bytes)
        .map_err(|error| LinkError::Unavailable(with_causes(&*error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(frame: &wire::Frame) -> Vec<u8> {
        let message = frame.encode_to_vec();
        let mut bytes = (message.len() as u32).to_be_bytes().to_vec();
        bytes.extend(message);
        bytes
    }

    #[test]
    fn frames_are_read_in_any_pieces() {
        let frames: Vec<wire::Frame> = (1..=3)
            .map(|at| wire::Frame { sent_at_ms: at * 1_000, ..wire::Frame::default() })
            .collect();
        let bytes: Vec<u8> = frames.iter().flat_map(framed).collect();
        for size in 1..=bytes.len() {
            let (mut buffer, mut found) = (BytesMut::new(), Vec::new());
            for piece in bytes.chunks(size) {
                buffer.extend_from_slice(piece);
                while let Some(frame) = take_frame(&mut buffer).unwrap() {
                    found.push(frame);
                }
            }
            assert_eq!(found, frames, "pieces of {size} bytes");
        }
    }

    #[test]
    fn oversized_frame_is_malformed() {
        let mut buffer = BytesMut::from(&u32::MAX.to_be_bytes()[..]);
        assert!(matches!(take_frame(&mut buffer), Err(LinkError::Malformed(_))));
    }
}
