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
use rules::WorkspaceId;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use url::Url;
use web::context::Context;

use crate::config::Operator;
use crate::pipeline::{Notifier, OperatorNotice};

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

/// Task that sends the messages.
pub(crate) struct OperatorNotifier {
    ctx: Context,
    operator: Operator,
    client: Client,
    notifier: Notifier,
    notices: mpsc::Receiver<OperatorNotice>,
}

impl OperatorNotice {
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
pub(crate) fn notice_channel() -> (mpsc::Sender<OperatorNotice>, mpsc::Receiver<OperatorNotice>) {
    mpsc::channel(WAITING_MAX)
}

impl OperatorNotifier {
    pub(crate) fn new(
        ctx: Context,
        operator: Operator,
        (client, notifier): (Client, Notifier),
        notices: mpsc::Receiver<OperatorNotice>,
    ) -> Self {
        Self { ctx, operator, client, notifier, notices }
    }

    /// Sends messages until the server stops.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        loop {
            let notice = tokio::select! {
                () = stop.cancelled() => return,
                notice = self.notices.recv() => notice,
            };
            let Some(notice) = notice else { return };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.notify(&notice) => {}
            }
        }
    }

    async fn notify(&self, notice: &OperatorNotice) {
        let mut pauses = PAUSES.iter();
        loop {
            let Err(why) = self.send(notice).await else { return };
            let Some(pause) = pauses.next() else {
                tracing::error!("failed to notify the operator that {}: {why}", notice.detail);
                return;
            };
            tracing::warn!("failed to notify the operator, retrying: {why}");
            self.ctx.sleep_until(self.ctx.now() + *pause).await;
        }
    }

    async fn send(&self, notice: &OperatorNotice) -> Result<(), String> {
        match &self.operator {
            Operator::Email(to) => {
                let mail = notice.mail(to, self.ctx.random());
                // Emails are scheduled by workspace. This one belongs to none.
                self.notifier.send_email(WorkspaceId::from_bits(0), mail).await
            }
            Operator::Webhook(url) => {
                let url = Url::parse(url.expose()).map_err(|why| why.to_string())?;
                let json = HeaderValue::from_static("application/json");
                let request = Request {
                    method: Method::POST,
                    url,
                    headers: vec![(CONTENT_TYPE, json)],
                    body: notice.body(),
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
    use rules::Timestamp;

    use super::*;

    #[test]
    fn message_names_the_probe_and_the_reason() {
        let notice = OperatorNotice {
            at: Timestamp::from_millis(1_795_279_735_250),
            probe: "this server".to_owned(),
            is_suspect: true,
            detail: "4 of 6 hosts failed within a minute".to_owned(),
        };
        insta::assert_snapshot!(String::from_utf8_lossy(&notice.body()), @r#"{"version":1,"type":"probe.suspect","timestamp":"2026-11-21T16:48:55.250Z","data":{"probe":"this server","message":"4 of 6 hosts failed within a minute"}}"#);
        let mail = notice.mail("ops@example.com", 7);
        assert_eq!(mail.subject, "Aloft: probe `this server` may be at fault");
        assert!(mail.text.starts_with("4 of 6 hosts failed within a minute\n"), "{}", mail.text);
    }
}
