//! Sends emails to the operator's mail server over pooled connections. `domain::notify` decides
//! their text. The operator chooses the server, so the egress policy does not apply to it, as with
//! name servers.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use domain::notify::{ListLinks, Mail, VendorResponse, in_one_line};
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::{Code, Response};
use lettre::{Address, Message};
use rules::{Secret, Timestamp};
use tokio::time::{Instant, timeout};

use super::outcome::SendError;
use crate::config::{MailServer, MailTls};

/// Maximum number of idle connections.
const IDLE_MAX: usize = 4;
/// Time that a connection may idle. It is less than servers wait for the next command (RFC 5321
/// §4.5.3.2.7: five minutes).
const IDLE_FOR: Duration = Duration::from_mins(1);
/// Body of one-click unsubscribe requests (RFC 8058 §3.1).
const ONE_CLICK: &str = "List-Unsubscribe=One-Click";
/// Reply codes about this server's account rather than the recipient.
const ACCOUNT: [u16; 4] = [530, 534, 535, 538];

/// Client of the mail server.
pub(super) struct Mailer {
    server: MailServer,
    /// TLS settings; `None` without TLS.
    tls: Option<TlsParameters>,
    hello: ClientId,
    idle: Mutex<Vec<(Instant, AsyncSmtpConnection)>>,
}

impl Mailer {
    /// Creates a client that trusts the usual authorities and `extra_roots`, each in DER. Does not
    /// connect yet.
    pub(super) fn new(server: MailServer, extra_roots: &[impl AsRef<[u8]>]) -> Result<Self, Error> {
        let tls = match server.tls {
            MailTls::Off => None,
            MailTls::Starttls | MailTls::Implicit => {
                let mut tls = TlsParameters::builder(server.host.clone());
                for root in extra_roots {
                    tls = tls.add_root_certificate(Certificate::from_der(root.as_ref().to_vec())?);
                }
                Some(tls.build_rustls()?)
            }
        };
        let hello = ClientId::Domain(server.from.email.domain().to_owned());
        Ok(Self { server, tls, hello, idle: Mutex::default() })
    }

    /// Sends `mail` at `now`, within `limit`. Returns the server's last reply.
    pub(super) async fn send(
        &self,
        mail: &Mail,
        now: Timestamp,
        limit: Duration,
    ) -> Result<VendorResponse, SendError> {
        let message = self.message(mail, now)?;
        // A connection that is abandoned midway is dropped and not reused.
        match timeout(limit, self.transmit(&message)).await {
            Ok(answer) => answer,
            Err(_) => Err(SendError::NoResponse(format!(
                "timed out after {} ms while talking to the mail server",
                limit.as_millis()
            ))),
        }
    }

    /// Returns the password of this server's account, if it logs in.
    pub(super) fn password(&self) -> Option<&Secret<String>> {
        self.server.account.as_ref().map(|account| &account.password)
    }

    async fn transmit(&self, message: &Message) -> Result<VendorResponse, SendError> {
        let mut connection = self.connection().await?;
        let sent = connection.send(message.envelope(), &message.formatted()).await;
        if !connection.has_broken() && sent.is_ok() {
            self.release(connection);
        }
        match sent {
            Ok(reply) => Ok(to_response(&reply)),
            Err(error) => match error.status() {
                Some(status) => {
                    Ok(VendorResponse { status: number(status), ..error_response(&error) })
                }
                None => Err(failed("the mail server accepted no data", &error)),
            },
        }
    }

    /// Returns a connection that is ready for a message.
    async fn connection(&self) -> Result<AsyncSmtpConnection, SendError> {
        while let Some(mut waiting) = self.idle_connection() {
            if waiting.test_connected().await {
                return Ok(waiting);
            }
        }
        let MailServer { host, port, tls, account, .. } = &self.server;
        let refused = |error: Error| failed("the mail server cannot be reached", &error);
        let implicit = if *tls == MailTls::Implicit { self.tls.clone() } else { None };
        let address = (host.as_str(), *port);
        let connected =
            AsyncSmtpConnection::connect_tokio1(address, None, &self.hello, implicit, None).await;
        let mut connection = connected.map_err(refused)?;
        if let (MailTls::Starttls, Some(tls)) = (tls, &self.tls) {
            if !connection.can_starttls() {
                let why = "the mail server does not support STARTTLS, which is required";
                return Err(SendError::NoResponse(why.to_owned()));
            }
            connection.starttls(tls.clone(), &self.hello).await.map_err(refused)?;
        }
        if let Some(account) = account {
            let credentials =
                Credentials::new(account.user.clone(), account.password.expose().clone());
            let ways = [Mechanism::Plain, Mechanism::Login];
            connection.auth(&ways, &credentials).await.map_err(|error| match error.status() {
                Some(status) if ACCOUNT.contains(&number(status)) => {
                    SendError::Responded(VendorResponse {
                        status: number(status),
                        ..error_response(&error)
                    })
                }
                Some(_) | None => refused(error),
            })?;
        }
        Ok(connection)
    }

    fn idle_connection(&self) -> Option<AsyncSmtpConnection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(since, _)| since.elapsed() < IDLE_FOR);
        Some(idle.pop()?.1)
    }

    fn release(&self, connection: AsyncSmtpConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push((Instant::now(), connection));
        }
    }

    /// Builds the MIME message: text and HTML with the same content. Its IDs are below the sender's
    /// domain, and headers prevent automatic replies (RFC 3834).
    fn message(&self, mail: &Mail, now: Timestamp) -> Result<Message, SendError> {
        let to: Address = mail.to.parse().map_err(|why| {
            SendError::Impossible(format!(
                "no email can be sent to the address of the channel: {why}"
            ))
        })?;
        let domain = self.server.from.email.domain();
        let thread = format!("<{}@{domain}>", mail.thread);
        let automatic = HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            "auto-generated".to_owned(),
        );
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        let message = Message::builder()
            .from(self.server.from.clone())
            .to(Mailbox::new(None, to))
            .subject(mail.subject.as_str())
            .date(UNIX_EPOCH + Duration::from_millis(millis))
            .message_id(Some(format!("<{}@{domain}>", mail.id)))
            .in_reply_to(thread.clone())
            .references(thread)
            .raw_header(automatic);
        let message = match &mail.list {
            ListLinks::None => message,
            ListLinks::OneClick(url) => message
                .raw_header(list_header("List-Unsubscribe", format!("<{url}>")))
                .raw_header(list_header("List-Unsubscribe-Post", ONE_CLICK.to_owned())),
        };
        message
            .multipart(MultiPart::alternative_plain_html(mail.text.clone(), mail.html.clone()))
            .map_err(|why| SendError::Impossible(format!("the email cannot be written: {why}")))
    }
}

impl std::fmt::Debug for Mailer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mailer").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Creates a header of one unfolded line, because folding would change the URL.
fn list_header(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::dangerous_new_pre_encoded(
        HeaderName::new_from_ascii_str(name),
        value.clone(),
        value,
    )
}

fn to_response(reply: &Response) -> VendorResponse {
    let body = reply.message().collect::<Vec<_>>().join(" ");
    VendorResponse { status: number(reply.code()), retry_after: None, body }
}

/// Returns an error reply as a response. The caller sets its status.
fn error_response(error: &Error) -> VendorResponse {
    VendorResponse { status: 0, retry_after: None, body: source_text(error) }
}

fn number(code: Code) -> u16 {
    u16::from(code)
}

/// Returns the reason of a failure on one line. `send` hides secrets in it.
fn failed(what: &str, error: &Error) -> SendError {
    SendError::NoResponse(format!("{what}: {}", in_one_line(&error.to_string())))
}

/// Returns the text of the error's source.
fn source_text(error: &Error) -> String {
    let mut cause = std::error::Error::source(error);
    let mut words = Vec::new();
    while let Some(error) = cause {
        words.push(error.to_string());
        cause = error.source();
    }
    if words.is_empty() { error.to_string() } else { words.join(": ") }
}

#[cfg(test)]
mod tests;
