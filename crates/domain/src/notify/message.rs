//! What goes over the wire for one channel, and what came back of it. Neither is sent here.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, Method};
use percent_encoding::percent_decode_str;
use rules::{ChannelId, Secret, Timestamp};
use serde_json::Value;

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
    /// being replaced. Without any, webhooks go out unsigned.
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

/// An HTTP request to a vendor or to an endpoint of the user's. URL, header values and body may have
/// secrets, so `Debug` shows none of them.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpMessage {
    /// POST.
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
    /// Left part of the id that all of one incident refer to (`References`, `In-Reply-To`), so that
    /// they stand together. No message has it: which is first differs from mailbox to mailbox.
    pub thread: String,
    /// How whoever gets it ends getting more.
    pub list: ListLinks,
}

/// What the header of an email says to programs about getting no more of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListLinks {
    /// Nothing: it was asked for, or a channel is changed by its owner.
    None,
    /// A POST to this URL ends it, without a question (RFC 8058).
    OneClick(String),
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

impl fmt::Debug for HttpMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpMessage")
            .field("method", &self.method)
            .field("headers", &self.headers)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl HttpMessage {
    /// A POST of JSON.
    pub(super) fn json(url: &str, body: &Value) -> Self {
        Self::post(url, "application/json", body.to_string())
    }

    /// A POST of a form.
    pub(super) fn form(url: &str, fields: &[(&str, &str)]) -> Self {
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        Self::post(url, "application/x-www-form-urlencoded", body)
    }

    /// With this header, in the place of one of the same name.
    pub(super) fn with(mut self, name: HeaderName, value: String) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, Secret::new(value)));
        self
    }

    /// With the header that shows a name and a password.
    pub(super) fn with_basic(self, name: &str, password: &str) -> Self {
        self.with(AUTHORIZATION, basic(name.as_bytes(), password.as_bytes()))
    }

    /// Name and password in the URL become a header, as browsers do it (design §5 "HTTP").
    fn post(url: &str, content_type: &str, body: String) -> Self {
        let (url, authorization) = without_credentials(url);
        let message = Self {
            method: Method::POST,
            url: Secret::new(url),
            headers: Vec::new(),
            body: body.into_bytes(),
        };
        let message = message.with(CONTENT_TYPE, content_type.to_owned());
        match authorization {
            Some(authorization) => message.with(AUTHORIZATION, authorization),
            None => message,
        }
    }
}

/// `text` without name and password where it is a URL that has them, and these as a header's value.
pub(super) fn without_credentials(text: &str) -> (String, Option<String>) {
    let Ok(mut url) = url::Url::parse(text) else { return (text.to_owned(), None) };
    if url.username().is_empty() && url.password().is_none() {
        return (text.to_owned(), None);
    }
    let name: Vec<u8> = percent_decode_str(url.username()).collect();
    let password: Vec<u8> = percent_decode_str(url.password().unwrap_or_default()).collect();
    // Both fail only for URLs without a host, which have no credentials either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    (url.into(), Some(basic(&name, &password)))
}

fn basic(name: &[u8], password: &[u8]) -> String {
    format!("Basic {}", BASE64_STANDARD.encode([name, b":", password].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_a_url_become_a_header() {
        // design: §5 "HTTP"
        let message = HttpMessage::json("https://us%40er:p%3Ass@example.com/a?b", &Value::Null);
        assert_eq!(message.url.expose(), "https://example.com/a?b");
        let (name, value) = message.headers.last().unwrap();
        assert_eq!((name, value.expose().as_str()), (&AUTHORIZATION, "Basic dXNAZXI6cDpzcw=="));
    }

    #[test]
    fn nothing_secret_of_a_request_is_shown() {
        let body = serde_json::json!({ "routing_key": "hunter2" });
        let message = HttpMessage::json("https://hunter2@example.com/hunter2", &body);
        let shown = format!("{message:?}");
        assert!(!shown.contains("hunter2") && shown.contains("authorization"), "{shown}");
    }

    #[test]
    fn a_url_without_credentials_goes_out_as_written() {
        let written = "https://Example.com/a b?c=ä";
        let message = HttpMessage::json(written, &Value::Null);
        assert_eq!(message.url.expose(), written);
        assert_eq!(message.headers.len(), 1);
    }
}
