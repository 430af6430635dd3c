//! Messages to a channel and the responses to them. The pipeline sends them.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, Method};
use percent_encoding::percent_decode_str;
use rules::{ChannelId, Secret, Timestamp};
use serde_json::Value;

use crate::check::redact::{Configured, request_secrets};

/// Data of one delivery that is independent of the vendor.
#[derive(Clone, Debug)]
pub struct Envelope<'e> {
    pub channel: ChannelId,
    /// Key of the delivery (incident, channel, event): the same in every attempt, so that a
    /// receiver can drop duplicates (design §5 "Alerts").
    pub key: &'e str,
    /// Key by which the vendor groups and closes alerts: the incident, else the monitor. The same
    /// in `error` and its `recovered`.
    pub thread: &'e str,
    /// Time of sending; signatures are valid for minutes around it.
    pub now: Timestamp,
    /// Secrets of the workspace for signing webhooks, newest first; two while one is being
    /// replaced. Without any, webhooks are not signed.
    pub signing: &'e [Secret<Vec<u8>>],
    /// URL of the public page, component or incident; `None` if there is none.
    pub link: Option<String>,
}

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    Http(HttpMessage),
    Mail(Mail),
}

/// An HTTP request to a vendor or to a user's endpoint. URL, header values and body may contain
/// secrets, so `Debug` does not print them.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpMessage {
    pub method: Method,
    /// Absolute URL.
    pub url: Secret<String>,
    /// Headers in order, including the content type; the sender adds Host and Content-Length.
    pub headers: Vec<(HeaderName, Secret<String>)>,
    pub body: Vec<u8>,
    /// Secret of the channel's settings, which may be anywhere in the request.
    pub(super) secret: Option<Secret<String>>,
}

/// An email. The server's configuration defines the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Address of the recipient.
    pub to: String,
    /// One line.
    pub subject: String,
    pub text: String,
    /// The same content as HTML.
    pub html: String,
    /// Left part of its message ID.
    pub id: String,
    /// Left part of the ID that all emails of one incident refer to (`References`, `In-Reply-To`),
    /// so that they form a thread. No message has this ID, because the first message differs
    /// between mailboxes.
    pub thread: String,
    /// How the recipient can unsubscribe.
    pub list: ListLinks,
}

/// The unsubscribe header of an email.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListLinks {
    /// None: the email was requested, or the owner of the channel can change it.
    None,
    /// A POST to this URL unsubscribes without confirmation (RFC 8058).
    OneClick(String),
}

/// Response of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorResponse {
    /// HTTP status, or the three digits of an SMTP reply.
    pub status: u16,
    /// Time to wait from now, from the `retry-after` header.
    pub retry_after: Option<Duration>,
    /// Beginning of the body, as text.
    pub body: String,
}

/// Classification of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The receiver accepted the message.
    Accepted,
    /// Retry later, not before the time that the receiver requested.
    Again {
        /// Minimum time until the next attempt.
        after: Option<Duration>,
        /// Human-readable reason.
        why: String,
    },
    /// Permanent failure: a retry would fail alike.
    Rejected(Rejection),
}

/// Human-readable reason for a permanent failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
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

impl From<HttpMessage> for Message {
    fn from(message: HttpMessage) -> Self {
        Self::Http(message)
    }
}

impl Message {
    /// Hides the secrets of this message in the response of its receiver, which may repeat it, and
    /// `password`, with which this server logs in to its mail server.
    pub fn hide_secrets(&self, text: &mut String, password: Option<&Secret<String>>) {
        let mut secrets = match self {
            Self::Http(message) => message.secrets(),
            Self::Mail(mail) => match &mail.list {
                ListLinks::None => Vec::new(),
                ListLinks::OneClick(url) => request_secrets(url, std::iter::empty()),
            },
        };
        secrets.extend(password.map(|password| password.expose().clone()));
        Configured::in_forms(secrets).redact(text);
    }
}

impl HttpMessage {
    /// Creates a POST request with a JSON body.
    pub(super) fn json(url: &str, body: &Value) -> Self {
        Self::post(url, "application/json", body.to_string())
    }

    /// Creates a POST request with a form.
    pub(super) fn form(url: &str, fields: &[(&str, &str)]) -> Self {
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        Self::post(url, "application/x-www-form-urlencoded", body)
    }

    fn secrets(&self) -> Vec<String> {
        let headers = self.headers.iter().map(|(name, value)| (name.as_str(), &**value.expose()));
        let mut secrets = request_secrets(self.url.expose(), headers);
        secrets.extend(self.secret.as_ref().map(|secret| secret.expose().clone()));
        secrets
    }

    /// Sets a header, replacing one of the same name.
    pub(super) fn with_header(mut self, name: HeaderName, value: String) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, Secret::new(value)));
        self
    }

    /// Sets Basic authorization.
    pub(super) fn with_basic(self, name: &str, password: &str) -> Self {
        self.with_header(AUTHORIZATION, basic(name.as_bytes(), password.as_bytes()))
    }

    /// Creates a POST request. Moves credentials from the URL to a header, as browsers do (design
    /// §5 "HTTP").
    fn post(url: &str, content_type: &str, body: String) -> Self {
        let (url, authorization) = without_credentials(url);
        let message = Self {
            method: Method::POST,
            url: Secret::new(url),
            headers: Vec::new(),
            body: body.into_bytes(),
            secret: None,
        };
        let message = message.with_header(CONTENT_TYPE, content_type.to_owned());
        match authorization {
            Some(authorization) => message.with_header(AUTHORIZATION, authorization),
            None => message,
        }
    }
}

/// Removes credentials from `text` if it is a URL, and returns them as a header value.
pub(super) fn without_credentials(text: &str) -> (String, Option<String>) {
    let Ok(mut url) = url::Url::parse(text) else { return (text.to_owned(), None) };
    if url.username().is_empty() && url.password().is_none() {
        return (text.to_owned(), None);
    }
    let name: Vec<u8> = percent_decode_str(url.username()).collect();
    let password: Vec<u8> = percent_decode_str(url.password().unwrap_or_default()).collect();
    // Both fail only for URLs without a host, which have no credentials.
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
    fn url_credentials_become_a_header() {
        // design: §5 "HTTP"
        let message = HttpMessage::json("https://us%40er:p%3Ass@example.com/a?b", &Value::Null);
        assert_eq!(message.url.expose(), "https://example.com/a?b");
        let (name, value) = message.headers.last().unwrap();
        assert_eq!((name, value.expose().as_str()), (&AUTHORIZATION, "Basic dXNAZXI6cDpzcw=="));
    }

    #[test]
    fn debug_of_request_shows_no_secret() {
        let body = serde_json::json!({ "routing_key": "hunter2" });
        let message = HttpMessage::json("https://hunter2@example.com/hunter2", &body);
        let shown = format!("{message:?}");
        assert!(!shown.contains("hunter2") && shown.contains("authorization"), "{shown}");
    }

    // issue 16, point 9: a receiver that echoes its request
    #[test]
    fn echoed_secrets_are_hidden_from_the_delivery_log() {
        let url = "https://ada:pass-word@example.com/hooks/s3cr3t-path?k=qu3ry";
        let message = HttpMessage::json(url, &Value::Null)
            .with_header(HeaderName::from_static("x-token"), "t0ken".to_owned());
        for (text, expected) in [
            ("no hook s3cr3t-path", "no hook …"),
            ("/hooks/s3cr3t%2Dpath?k=qu3ry", "/hooks/…?k=…"),
            ("bad token t0ken", "bad token …"),
            ("Basic YWRhOnBhc3Mtd29yZA== is wrong", "… is wrong"),
            ("ada:pass-word", "…"),
            ("application/json is fine", "application/json is fine"),
        ] {
            let mut text = text.to_owned();
            Message::Http(message.clone()).hide_secrets(&mut text, None);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn echoed_email_shows_no_secret() {
        let mail = Mail {
            to: "ada@example.com".to_owned(),
            subject: "Down".to_owned(),
            text: String::new(),
            html: String::new(),
            id: "1".to_owned(),
            thread: "1".to_owned(),
            list: ListLinks::OneClick(
                "https://status.example.com/unsubscribe/t1cket-42".to_owned(),
            ),
        };
        let password = Secret::new("pass-word".to_owned());
        let login = BASE64_STANDARD.encode("\0aloft\0pass-word");
        let mut text = format!("no login {login}, user aloft, pass-word for unsubscribe/t1cket-42");
        Message::Mail(mail).hide_secrets(&mut text, Some(&password));
        assert!(
            text.starts_with("no login AGFsb2Z0A") && text.ends_with(", user aloft, … for …/…"),
            "{text}"
        );
    }

    #[test]
    fn url_without_credentials_is_unchanged() {
        let written = "https://Example.com/a b?c=ä";
        let message = HttpMessage::json(written, &Value::Null);
        assert_eq!(message.url.expose(), written);
        assert_eq!(message.headers.len(), 1);
    }
}
