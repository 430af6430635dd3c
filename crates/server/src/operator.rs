//! Notifies the operator if this server's own network may be at fault, by email or webhook, and the
//! owners of workspaces by email (`owners`). Sends one message when a probe becomes suspect and one
//! when it recovers. Failed messages are retried a few times and then logged.

mod owners;

use std::time::Duration;

use bytes::Bytes;
use domain::notify::email_style::{BODY, CARD};
use domain::notify::{ListLinks, Mail};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use probe::{Client, Request};
use rules::{ProviderType, WorkspaceId};
use serde_json::json;
use store::Store;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;
use web::context::Context;

use self::owners::OwnerNotifier;
use crate::config::Operator;
use crate::pipeline::{Notifier, SuspicionNotice};

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

/// Dependencies of the recipients of notices.
#[derive(Clone)]
pub(crate) struct NoticeMeans {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) notifier: Notifier,
    /// Client for the operator's webhook.
    pub(crate) client: Client,
}

/// Those who are notified, until their tasks start.
pub(crate) struct Recipients {
    operator: Option<OperatorNotifier>,
    owners: Option<OwnerNotifier>,
}

/// Task that sends the operator's messages.
struct OperatorNotifier {
    means: NoticeMeans,
    operator: Operator,
    notices: mpsc::Receiver<SuspicionNotice>,
}

impl SuspicionNotice {
    fn title(&self) -> String {
        let Self { probe, is_suspect, .. } = self;
        if *is_suspect {
            format!("Aloft: probe `{probe}` may be at fault")
        } else {
            format!("Aloft: probe `{probe}` is no longer suspect")
        }
    }

    /// Returns an email about the notice that ends with some advice.
    fn mail(&self, to: &str, (number, advice): (u64, &str)) -> Mail {
        let (subject, detail) = (self.title(), self.detail.clone());
        let text = format!("{detail}\n\nAt {}. {advice}\n", self.at);
        let shown = detail.replace('&', "&amp;").replace('<', "&lt;");
        let html = format!(
            "<!doctype html><html lang=\"en\"><body style=\"{BODY}\"><div style=\"{CARD}\">\
             <p>{shown}</p><p>At {}. {advice}</p></div></body></html>",
            self.at
        );
        let id = format!("probe-{number:016x}");
        let thread = format!("probe-{}", self.probe);
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

/// Returns the channels to those who are notified: the operator, if one is set, and owners, if the server
/// sends emails.
pub(crate) fn recipients(
    means: NoticeMeans,
    operator: Option<Operator>,
) -> (Vec<mpsc::Sender<SuspicionNotice>>, Recipients) {
    let mut channels = Vec::new();
    let mut channel = || {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        channels.push(sender);
        receiver
    };
    let operator = operator.map(|operator| OperatorNotifier {
        means: means.clone(),
        operator,
        notices: channel(),
    });
    let has_mail = means.notifier.missing_setting(ProviderType::Email).is_none();
    let owners = has_mail.then(|| OwnerNotifier { means, notices: channel() });
    (channels, Recipients { operator, owners })
}

impl Recipients {
    /// Starts the tasks, which run until `stop` is cancelled.
    pub(crate) fn start(self, stop: &CancellationToken) -> Vec<JoinHandle<()>> {
        let operator = self.operator.map(|it| tokio::spawn(it.run(stop.clone())));
        let owners = self.owners.map(|it| tokio::spawn(it.run(stop.clone())));
        operator.into_iter().chain(owners).collect()
    }
}

impl OperatorNotifier {
    /// Sends messages until the server stops.
    async fn run(mut self, stop: CancellationToken) {
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

    async fn notify(&self, notice: &SuspicionNotice) {
        let mut pauses = PAUSES.iter();
        loop {
            let Err(why) = self.send(notice).await else { return };
            let Some(pause) = pauses.next() else {
                tracing::error!("failed to notify the operator that {}: {why}", notice.detail);
                return;
            };
            tracing::warn!("failed to notify the operator, retrying: {why}");
            self.means.ctx.sleep_until(self.means.ctx.now() + *pause).await;
        }
    }

    async fn send(&self, notice: &SuspicionNotice) -> Result<(), String> {
        match &self.operator {
            Operator::Email(to) => {
                let advice = "Check the network of this probe.";
                let mail = notice.mail(to, (self.means.ctx.random(), advice));
                // Emails are scheduled by workspace. This one belongs to none.
                self.means.notifier.send_email(WorkspaceId::from_bits(0), mail).await
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
                let answer =
                    self.means.client.send(&request, WITHIN).await.map_err(|it| it.detail)?;
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
        let notice = SuspicionNotice {
            at: Timestamp::from_millis(1_795_279_735_250),
            probe: "this server".to_owned(),
            is_suspect: true,
            workspaces: Vec::new(),
            detail: "4 of 6 hosts failed within a minute".to_owned(),
        };
        insta::assert_snapshot!(String::from_utf8_lossy(&notice.body()), @r#"{"version":1,"type":"probe.suspect","timestamp":"2026-11-21T16:48:55.250Z","data":{"probe":"this server","message":"4 of 6 hosts failed within a minute"}}"#);
        let mail = notice.mail("ops@example.com", (7, "Check the network of this probe."));
        assert_eq!(mail.subject, "Aloft: probe `this server` may be at fault");
        assert!(mail.text.starts_with("4 of 6 hosts failed within a minute\n"), "{}", mail.text);
    }
}
