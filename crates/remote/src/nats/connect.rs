//! Connects to NATS with the credentials of a file.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event};
use contract::rpc::Network;
use rules::Secret;
use tracing::warn;

use super::urls::NatsUrls;
use crate::BACKOFF;

/// Time limit of a connection, with TLS and authentication.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Time limit of a request, unless it has its own.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Begin of a file with a signed user (a JWT) and its key.
const SIGNED_USER: &str = "-----BEGIN NATS USER JWT-----";
/// Begin of the seed of a user's key.
const USER_SEED: &str = "SU";

/// Servers of NATS, and the way to sign in.
#[derive(Clone, Debug)]
pub struct NatsSettings {
    pub urls: NatsUrls,
    /// File with the credentials; `None` connects without.
    pub credentials: Option<PathBuf>,
    /// Trusted certificates.
    pub network: Network,
}

/// Error of a connection to NATS.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    /// A file or a setting cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// NATS does not know the credentials.
    #[error("NATS at {urls} refuses the credentials: {why}")]
    Refused { urls: NatsUrls, why: String },
    /// NATS does not answer.
    #[error("NATS at {urls} cannot be reached: {why}")]
    Unavailable { urls: NatsUrls, why: String },
    /// NATS answers, but cannot do what is asked.
    #[error("NATS at {urls} cannot be used: {why}")]
    Unfit { urls: NatsUrls, why: String },
}

/// Content of a credentials file.
enum Credentials {
    /// A signed user and its key, as `nsc` writes it.
    Signed(Secret<String>),
    /// The seed of a user's key.
    Seed(Secret<String>),
    Password {
        user: String,
        password: Secret<String>,
    },
}

/// Connects to NATS. The connection is opened again by itself if it breaks.
///
/// # Errors
///
/// Fails if the credentials cannot be read or are refused, or if no server answers.
pub async fn connect(
    settings: &NatsSettings,
    name: &str,
    inbox: &str,
) -> Result<Client, NatsError> {
    let unusable = |why: &dyn std::fmt::Display| NatsError::Unusable(why.to_string());
    let tls = settings.network.client_config().map_err(|why| unusable(&why))?;
    let mut options = ConnectOptions::new()
        .name(name)
        .custom_inbox_prefix(inbox)
        .tls_client_config(tls)
        .connection_timeout(CONNECT_WITHIN)
        .request_timeout(Some(ANSWER_WITHIN))
        // All servers are in the settings, with the encryption that each needs.
        .ignore_discovered_servers()
        .reconnect_delay_callback(pause)
        .event_callback(|event| async move { log(&event) });
    if let Some(file) = &settings.credentials {
        let cannot = |why: String| {
            NatsError::Unusable(format!("the NATS credentials in `{}` {why}", file.display()))
        };
        let text = std::fs::read_to_string(file)
            .map_err(|why| cannot(format!("are unreadable: {why}")))?;
        options = match Credentials::parse(&text) {
            Some(Credentials::Signed(text)) => options
                .credentials(text.expose())
                .map_err(|why| cannot(format!("are damaged: {why}")))?,
            Some(Credentials::Seed(seed)) => options.nkey(seed.expose().clone()),
            Some(Credentials::Password { user, password }) => {
                options.user_and_password(user, password.expose().clone())
            }
            None => {
                let expected =
                    "must be a file of `nsc`, the seed of a user's key, or `user:password`";
                return Err(cannot(expected.to_owned()));
            }
        };
    }
    options.connect(settings.urls.used()).await.map_err(|error| {
        let (urls, why) = (settings.urls.clone(), with_causes(&error));
        match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                NatsError::Refused { urls, why }
            }
            ConnectErrorKind::ServerParse => NatsError::Unusable(why),
            ConnectErrorKind::Dns
            | ConnectErrorKind::TimedOut
            | ConnectErrorKind::Tls
            | ConnectErrorKind::Io
            | ConnectErrorKind::MaxReconnects => NatsError::Unavailable { urls, why },
        }
    })
}

impl Credentials {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.contains(SIGNED_USER) {
            // The parser of the client needs the end of the last line.
            return Some(Self::Signed(Secret::new(format!("{text}\n"))));
        }
        if text.starts_with(USER_SEED) && text.chars().all(|it| it.is_ascii_alphanumeric()) {
            return Some(Self::Seed(Secret::new(text.to_owned())));
        }
        let (user, password) = text.split_once(':').filter(|_| !text.contains('\n'))?;
        let password = Secret::new(password.to_owned());
        Some(Self::Password { user: user.to_owned(), password })
    }
}

/// Returns the pause before an attempt to connect, of which the first is 1.
fn pause(attempt: usize) -> Duration {
    match u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX) {
        0 => Duration::ZERO,
        failures => BACKOFF.jittered_pause_after(failures, rand::random()),
    }
}

/// Logs what needs attention. The client itself logs each event.
fn log(event: &Event) {
    match event {
        Event::Disconnected => warn!("the connection to NATS broke; connecting again"),
        Event::ServerError(why) => warn!("NATS reports an error: {why}"),
        Event::SlowConsumer(_) => warn!("messages from NATS were lost, because they came too fast"),
        Event::Connected
        | Event::ClientError(_)
        | Event::LameDuckMode
        | Event::Draining
        | Event::Closed => {}
    }
}

/// Returns the text of an error with those of its causes.
pub fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(it) = cause {
        let next = it.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = it.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> &'static str {
        match Credentials::parse(text) {
            Some(Credentials::Signed(_)) => "signed",
            Some(Credentials::Seed(_)) => "seed",
            Some(Credentials::Password { .. }) => "password",
            None => "none",
        }
    }

    #[test]
    fn credentials_are_recognised() {
        let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
        for (text, expected) in [
            ("-----BEGIN NATS USER JWT-----\neyJ0\n", "signed"),
            (seed, "seed"),
            ("fly-ams:a:password\n", "password"),
            ("nothing", "none"),
            ("", "none"),
            ("two:\nlines:", "none"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn only_later_attempts_pause() {
        assert_eq!(pause(1), Duration::ZERO);
        assert!(pause(2) < pause(usize::MAX), "they grow");
    }
}
