//! What goes over the wire for one channel, and what came back of it. Neither is sent here.

use std::time::Duration;

use http::{HeaderName, Method};
use rules::{ChannelId, Secret, Timestamp};

/// What belongs to one delivery, whatever the vendor.
#[derive(Clone, Debug)]
pub struct Envelope<'e> {
    /// The channel.
    pub channel: ChannelId,
    /// Identity of what is told (incident, channel, event): the same in every try of it, so that a
    /// receiver can drop the second of what arrives twice (design §5 "Alerts").
    pub key: &'e str,
    /// Identity of what the vendor shall group and close: of the incident, or of the monitor where
    /// there is none. The same in `error` and its `recovered`.
    pub thread: &'e str,
    /// When it is sent; signatures hold for minutes around it.
    pub now: Timestamp,
    /// Secrets of the workspace that webhooks are signed with, newest first; two while one is
    /// being replaced.
    pub signing: &'e [Secret<Vec<u8>>],
    /// Where people see the incident; `None` on a server without a public address.
    pub link: Option<String>,
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// An HTTP request.
    Http(HttpMessage),
    /// An email.
    Mail(Mail),
}

/// An HTTP request to a vendor or to an endpoint of the user's. URL and header values may be
/// secrets, and so both are never shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpMessage {
    /// POST, or PUT.
    pub method: Method,
    /// Absolute URL.
    pub url: Secret<String>,
    /// Headers in order, the content type among them; Host and Content-Length are the sender's.
    pub headers: Vec<(HeaderName, Secret<String>)>,
    /// The body.
    pub body: Vec<u8>,
}

/// An email; who sends it is the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Address of the one it goes to.
    pub to: String,
    /// One line.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// The same as HTML, complete in itself.
    pub html: String,
    /// Left part of its message id.
    pub id: String,
    /// Left part of the id of the thread's first message: all of one incident stand together.
    pub thread: String,
}

/// What a receiver answered, or why it did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status, or the three digits of an SMTP reply.
    pub status: u16,
    /// Header `retry-after` in time from now, where there was one.
    pub retry_after: Option<Duration>,
    /// The beginning of the body, as text.
    pub body: String,
}

/// What an answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// The receiver has it.
    Accepted,
    /// Not now; not before this much time where the receiver said so.
    Again {
        /// Least time until the next try.
        after: Option<Duration>,
        /// Why, for people.
        why: String,
    },
    /// Never: trying again would be answered alike.
    Refused(Refusal),
}

/// Why a receiver takes nothing, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// One sentence with the way out.
    pub why: String,
}
