//! Logins of a program through the browser of a person. The endpoints are on the same host as the
//! services, but outside of their prefix. Format: <https://www.rfc-editor.org/rfc/rfc8628>

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use rules::Secret;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::http_status::code;
use super::whoami::address_beside;
use super::{Error, Network, Transport, UnusableClient};

const CODE_PATH: &str = "/login/device/code";
const TOKEN_PATH: &str = "/login/device/token";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// Maximum size of a response, in bytes.
const RESPONSE_BYTES_MAX: usize = 64 * 1024;
/// Time between two questions if the server names none (RFC 8628 §3.2).
const DEFAULT_INTERVAL_SECONDS: u64 = 5;

/// Bounds of what a server may ask for.
const LIFETIME_SECONDS_MAX: u64 = 3_600;
const INTERVAL_SECONDS_MAX: u64 = 60;

/// Client of the endpoints of one server.
#[derive(Clone, Debug)]
pub struct DeviceLoginClient {
    transport: Transport,
    base: Uri,
}

/// A login that has begun.
#[derive(Clone, Debug, Deserialize)]
pub struct DeviceLogin {
    #[serde(deserialize_with = "secret")]
    device_code: Secret<String>,
    /// Code that the person compares.
    pub user_code: String,
    /// Address of the screen.
    pub verification_uri: String,
    /// The same with the code.
    #[serde(default)]
    pub verification_uri_complete: Option<String>,
    expires_in: u64,
    #[serde(default = "default_interval")]
    interval: u64,
}

/// State of a login.
#[derive(Clone, Debug)]
pub enum DeviceProgress {
    /// Nobody has decided.
    Pending,
    /// As `Pending`, but the next questions must come later.
    TooOften,
    /// The person approved, and this is the key.
    Approved(Secret<String>),
    /// The login is over, with the error code of the server.
    Ended(String),
}

impl DeviceLoginClient {
    /// Creates a client of the server with the services at `base_url`.
    ///
    /// # Errors
    /// Fails if the URL or an environment variable cannot be used.
    pub fn new(network: &Network, base_url: &str) -> Result<Self, UnusableClient> {
        let (transport, base) = Transport::to(base_url, network)?;
        Ok(Self { transport, base })
    }

    /// Begins a login on the machine with this name. The caller has to set a timeout.
    ///
    /// # Errors
    /// `unimplemented` if the server has no such logins; the error of the transport.
    pub async fn begin(&self, device_name: &str) -> Result<DeviceLogin, Error> {
        let form = [("client_id", "aloft"), ("device_name", device_name)];
        let (status, body) = self.post(CODE_PATH, &form).await?;
        if status == StatusCode::OK {
            return decode(&body);
        }
        Err(refused(status, &body))
    }

    /// Returns the state of a login. The caller has to set a timeout.
    ///
    /// # Errors
    /// The error of the transport, or `unavailable` if the server cannot answer now.
    pub async fn poll(&self, begun: &DeviceLogin) -> Result<DeviceProgress, Error> {
        let device_code = begun.device_code.expose().as_str();
        let form = [("client_id", "aloft"), ("grant_type", GRANT), ("device_code", device_code)];
        let (status, body) = self.post(TOKEN_PATH, &form).await?;
        if status == StatusCode::OK {
            return decode::<Token>(&body).map(|it| DeviceProgress::Approved(it.access_token));
        }
        if status != StatusCode::BAD_REQUEST {
            return Err(refused(status, &body));
        }
        Ok(match decode::<OauthError>(&body)?.error.as_str() {
            "authorization_pending" => DeviceProgress::Pending,
            "slow_down" => DeviceProgress::TooOften,
            ended => DeviceProgress::Ended(ended.to_owned()),
        })
    }

    async fn post(&self, path: &str, form: &[(&str, &str)]) -> Result<(StatusCode, Bytes), Error> {
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = Request::post(address_beside(&self.base, path))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Full::from(form))
            .map_err(|error| Error::internal(format!("failed to build the request: {error}")))?;
        let (parts, body) = self.transport.send(request).await?.into_parts();
        let body = Limited::new(body, RESPONSE_BYTES_MAX).collect().await;
        let body =
            body.map_err(|error| Error::unavailable(format!("no whole response: {error}")))?;
        Ok((parts.status, body.to_bytes()))
    }
}

impl DeviceLogin {
    /// Returns how long the person may take, at most an hour.
    pub fn lifetime(&self) -> Duration {
        Duration::from_secs(self.expires_in.min(LIFETIME_SECONDS_MAX))
    }

    /// Returns the time between two questions, from a second to a minute.
    pub fn interval(&self) -> Duration {
        Duration::from_secs(self.interval.clamp(1, INTERVAL_SECONDS_MAX))
    }
}

#[derive(Deserialize)]
struct Token {
    #[serde(deserialize_with = "secret")]
    access_token: Secret<String>,
}

/// Error of OAuth (RFC 6749 §5.2).
#[derive(Default, Deserialize)]
struct OauthError {
    error: String,
    #[serde(default)]
    error_description: String,
}

fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Secret<String>, D::Error> {
    String::deserialize(from).map(Secret::new)
}

const fn default_interval() -> u64 {
    DEFAULT_INTERVAL_SECONDS
}

fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body)
        .map_err(|error| Error::internal(format!("failed to decode the answer: {error}")))
}

fn refused(status: StatusCode, body: &[u8]) -> Error {
    let given: OauthError = serde_json::from_slice(body).unwrap_or_default();
    let description = Some(given.error_description).filter(|it| !it.is_empty());
    let description = description.unwrap_or_else(|| format!("HTTP error {}", status.as_u16()));
    Error::new(code(status), description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_interval_is_five_seconds() {
        let begun = r#"{"device_code":"s","user_code":"BCDF-GHJK","verification_uri":"u","expires_in":600}"#;
        let begun: DeviceLogin = decode(begun.as_bytes()).unwrap();
        assert_eq!(begun.interval(), Duration::from_secs(5));
        assert!(!format!("{begun:?}").contains("\"s\""), "{begun:?}");
    }

    #[test]
    fn endless_times_of_a_server_are_bounded() {
        let begun = format!(
            r#"{{"device_code":"s","user_code":"c","verification_uri":"u","expires_in":{0},"interval":{0}}}"#,
            u64::MAX
        );
        let begun: DeviceLogin = decode(begun.as_bytes()).unwrap();
        assert_eq!(begun.lifetime(), Duration::from_hours(1));
        assert_eq!(begun.interval(), Duration::from_mins(1));
    }

    #[test]
    fn page_of_another_server_is_no_answer() {
        assert!(decode::<DeviceLogin>(b"<html>").is_err());
        let error = refused(StatusCode::NOT_FOUND, b"<html>");
        assert_eq!(error.code, crate::rpc::Code::Unimplemented);
        assert_eq!(error.message.as_deref(), Some("HTTP error 404"));
    }
}
