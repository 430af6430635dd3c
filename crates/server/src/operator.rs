//! Notifies the operator if this server's own network may be at fault, by email or webhook. Sends
//! one message when a probe becomes suspect and one when it recovers. Workspace owners find the
//! same in their audit log. Failed messages are retried a few times and then logged.

use std::time::Duration;

use bytes::Bytes;
use domain::notify::email_style::{BODY, CARD};
use domain::notify::{ListLinks, Mail};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use probe::{Client, Request};
use rules::{Secret, Timestamp, WorkspaceId};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::context::Context;
use crate::pipeline::Notifier;

/// Maximum number of queued messages. There are few probes.
const WAITING_MAX: usize = 16;
/// Timeout of a webhook.
const WITHIN: Duration = Duration::from_secs(10);
/// Delays between attempts to send one message.
const PAUSES: [Duration; 4] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_mins(2),
    Duration::from_mins(5),
];

/// Recipient of messages about suspect probes.
#[derive(Clone, Debug)]
pub enum Operator {
    /// Email address.
    Email(String),
    /// Webhook. Its URL may contain a token.
    Webhook(Secret<String>),
}

/// Message about a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Time of the change.
    pub at: Timestamp,
    pub probe: String,
    /// Whether the probe became suspect. False if it recovered.
    pub is_suspect: bool,
    /// Reason, as a sentence.
    pub detail: String,
}

/// Task that sends the messages.
pub(crate) struct OperatorNotifier {
    ctx: Context,
    operator: Operator,
    client: Client,
    notifier: Notifier,
    notes: mpsc::Receiver<Note>,
}

impl Operator {
    /// Parses an email address or the URL of a webhook.
    pub fn parse(text: &str) -> Option<Self> {
        if text.starts_with("http://") || text.starts_with("https://") {
            let url = Url::parse(text).ok();
            return url.map(|url| Self::Webhook(Secret::new(url.into())));
        }
        let is_mailbox = rules::tables::SUBSCRIBER.shape_of("email").takes(text);
        is_mailbox.then(|| Self::Email(text.to_owned()))
    }
}

impl Note {
    fn title(&self) -> String {
        let Self { probe, is_suspect, .. } = self;
        if *is_suspect {
            format!("Aloft: probe `{probe}` may be at fault")
        } else {
            format!("Aloft: probe `{probe}` is no longer suspect")
        }
    }

    fn mail(&self, to: &str, number: u64) -> Mail {
        let (subject, detail) = (self.title(), self.detail.clone());
        let text = format!("{detail}\n\nAt {}. Check the network of this probe.\n", self.at);
        let shown = detail.replace('&', "&amp;").replace('<', "&lt;");
        let html = format!(
            "<!doctype html><html lang=\"en\"><body style=\"{BODY}\"><div style=\"{CARD}\">\
             <p>{shown}</p><p>At {}. Check the network of this probe.</p></div></body></html>",
            self.at
        );
        let id = format!("operator-{number:016x}");
        let thread = format!("operator-{}", self.probe);
        Mail { to: to.to_owned(), subject, text, html, id, thread, list: ListLinks::None }
    }

    fn body(&self) -> Bytes {
        let kind = if self.is_suspect { "probe.suspect" } else { "probe.recovered" };
        let body = json!({
            "version": 1, "type": kind, "timestamp": self.at.to_string(),
            "data": { "probe": self.probe, "message": self.detail },
        });
        Bytes::from(body.to_string())
    }
}

/// Creates the channel from the judge to the sender.
pub(crate) fn notes() -> (mpsc::Sender<Note>, mpsc::Receiver<Note>) {
    mpsc::channel(WAITING_MAX)
}

impl OperatorNotifier {
    pub(crate) fn new(
        ctx: Context,
        operator: Operator,
        (client, notifier): (Client, Notifier),
        notes: mpsc::Receiver<Note>,
    ) -> Self {
        Self { ctx, operator, client, notifier, notes }
    }

    /// Sends messages until the server stops.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        loop {
            let note = tokio::select! {
                () = stop.cancelled() => return,
                note = self.notes.recv() => note,
            };
            let Some(note) = note else { return };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.notify(&note) => {}
            }
        }
    }

    async fn notify(&self, note: &Note) {
        let mut pauses = PAUSES.iter();
        loop {
            let Err(why) = self.send(note).await else { return };
            let Some(pause) = pauses.next() else {
                tracing::error!("failed to notify the operator that {}: {why}", note.detail);
                return;
            };
            tracing::warn!("failed to notify the operator, retrying: {why}");
            self.ctx.sleep_until(self.ctx.now() + *pause).await;
        }
    }

    async fn send(&self, note: &Note) -> Result<(), String> {
        match &self.operator {
            Operator::Email(to) => {
                let mail = note.mail(to, self.ctx.random());
                // Emails are scheduled by workspace. This one belongs to none.
                self.notifier.post(WorkspaceId::from_bits(0), mail).await
            }
            Operator::Webhook(url) => {
                let url = Url::parse(url.expose()).map_err(|why| why.to_string())?;
                let json = HeaderValue::from_static("application/json");
                let request = Request {
                    method: Method::POST,
                    url,
                    headers: vec![(CONTENT_TYPE, json)],
                    body: note.body(),
                };
                let answer = self.client.send(&request, WITHIN).await.map_err(|it| it.detail)?;
                let status = answer.status;
                if status.is_success() { Ok(()) } else { Err(format!("the answer was {status}")) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operator_is_a_mailbox_or_a_webhook() {
        assert!(matches!(Operator::parse("ops@example.com"), Some(Operator::Email(_))));
        assert!(matches!(Operator::parse("https://hooks.example/x"), Some(Operator::Webhook(_))));
        for wrong in ["", "ops", "ftp://example.com", "https://"] {
            assert!(Operator::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn message_names_the_probe_and_the_reason() {
        let note = Note {
            at: Timestamp::from_millis(1_795_279_735_250),
            probe: "this server".to_owned(),
            is_suspect: true,
            detail: "4 of 6 hosts failed within a minute".to_owned(),
        };
        insta::assert_snapshot!(String::from_utf8_lossy(&note.body()), @r#"{"version":1,"type":"probe.suspect","timestamp":"2026-11-21T16:48:55.250Z","data":{"probe":"this server","message":"4 of 6 hosts failed within a minute"}}"#);
        let mail = note.mail("ops@example.com", 7);
        assert_eq!(mail.subject, "Aloft: probe `this server` may be at fault");
        assert!(mail.text.starts_with("4 of 6 hosts failed within a minute\n"), "{}", mail.text);
    }
}
