//! The connection to the server: a stream of jobs, and reports of results, over HTTP or through NATS. The
//! probe opens all connections, so it needs no open port.

mod http;
mod nats;

use std::time::Duration;

use ::http::StatusCode;

use self::http::{HttpFrames, HttpLink};
use self::nats::{NatsFrames, NatsLink};
use super::clock::Sample;
use super::{AgentError, AgentSettings, ServerAddress};
use crate::wire;

/// The way to the server.
pub(super) enum Link {
    Http(Box<HttpLink>),
    Nats(Box<NatsLink>),
}

/// The frames of a stream of jobs.
pub(super) enum Frames<'l> {
    Http(HttpFrames),
    Nats(NatsFrames<'l>),
}

/// The answer to reported results.
#[derive(Debug)]
pub(super) struct Answer {
    /// Results that were refused and must not be sent again.
    pub(super) refusals: Vec<wire::Refusal>,
    /// Reading of the server's clock; `None` if the server itself did not answer, and NATS keeps the
    /// results for it.
    pub(super) sample: Option<Sample>,
}

/// Error of a request to the server.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum LinkError {
    /// The server did not answer, or could not serve the request at the moment.
    #[error("{0}")]
    Unavailable(String),
    /// The server refuses this probe or this request.
    #[error("{reason}")]
    Refused {
        reason: String,
        /// Whether only this request is refused, and another one may succeed.
        is_request: bool,
    },
    /// The first connection to NATS cannot succeed.
    #[error("{0}")]
    UnusableNats(String),
    #[error("the stream of jobs broke: {0}")]
    Broken(String),
    #[error("no sign of life from the server for {} s", .0.as_secs())]
    Silent(Duration),
    #[error("the answer is malformed: {0}")]
    Malformed(&'static str),
}

impl Link {
    pub(super) fn new(settings: &AgentSettings) -> Result<Self, AgentError> {
        Ok(match &settings.server {
            ServerAddress::Http { url, network } => {
                Self::Http(Box::new(HttpLink::new(url, network, &settings.token)?))
            }
            ServerAddress::Nats(nats) => {
                Self::Nats(Box::new(NatsLink::new(nats.clone(), &settings.token)?))
            }
        })
    }

    /// Opens a stream of jobs.
    pub(super) async fn open(&self, request: &wire::OpenRequest) -> Result<Frames<'_>, LinkError> {
        Ok(match self {
            Self::Http(link) => Frames::Http(link.open(request).await?),
            Self::Nats(link) => Frames::Nats(link.open(request).await?),
        })
    }

    /// Reports results.
    pub(super) async fn report(
        &self,
        request: &wire::ReportRequest,
        within: Duration,
    ) -> Result<Answer, LinkError> {
        match self {
            Self::Http(link) => link.report(request, within).await,
            Self::Nats(link) => link.report(request, within).await,
        }
    }

    /// Tells the server that the stream ends, unless it notices by itself.
    pub(super) async fn close(&self) {
        match self {
            Self::Http(_) => {}
            Self::Nats(link) => link.close().await,
        }
    }
}

impl Frames<'_> {
    /// Sets the time without a frame after which the stream counts as broken. Through NATS, it ends if the
    /// server no longer knows it.
    pub(super) const fn set_silence_max(&mut self, silence_max: Duration) {
        match self {
            Self::Http(frames) => frames.set_silence_max(silence_max),
            Self::Nats(_) => {}
        }
    }

    /// Waits for the next frame.
    pub(super) async fn next(&mut self) -> Result<wire::Frame, LinkError> {
        match self {
            Self::Http(frames) => frames.next().await,
            Self::Nats(frames) => frames.next().await,
        }
    }
}

/// Returns the error of a request that the server refused with this status.
fn refused(status: StatusCode, reason: String) -> LinkError {
    match status {
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
            LinkError::Unavailable(reason)
        }
        StatusCode::GONE => LinkError::Broken(reason),
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE => {
            LinkError::Refused { reason, is_request: true }
        }
        _ if status.is_client_error() => LinkError::Refused { reason, is_request: false },
        _ => LinkError::Unavailable(format!("{status}: {reason}")),
    }
}
