//! Builds the plan of an HTTP monitor from its settings.

use std::time::Duration;

use ::http::header::{AUTHORIZATION, HOST};
use ::http::uri::Authority;
use ::http::{HeaderMap, HeaderName, HeaderValue, Method};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use percent_encoding::percent_decode_str;
use rules::monitor::{Header, HeaderAssertion, HttpCheck, TextAssertion};
use rules::{TextComparator, limits};
use url::Url;

use super::{BodyType, ClientIdentity, HeaderExpectation, HttpPlan, JsonExpectation};
use crate::check::redact;
use crate::check::text::TextExpectation;

const DAY: Duration = Duration::from_hours(24);

impl HttpPlan {
    /// Creates the plan of this check. Returns the reason if the settings are invalid.
    pub(in crate::check) fn new(check: &HttpCheck) -> Result<Self, String> {
        let mut url = Url::parse(&check.url).map_err(|error| format!("its URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!(
                "its URL has the scheme `{}` instead of http or https",
                url.scheme()
            ));
        }
        if url.port() == Some(0) {
            return Err("the port of its URL is 0".to_owned());
        }
        let (mut headers, authority) = configured(&check.headers)?;
        if let Some(basic) = basic_authorization(&url)
            && !headers.contains_key(AUTHORIZATION)
        {
            headers.insert(AUTHORIZATION, basic);
        }
        redact::remove_credentials(&mut url);
        url.set_fragment(None);
        let body = match check.method {
            rules::Method::Post | rules::Method::Put | rules::Method::Patch => &*check.body,
            rules::Method::Get
            | rules::Method::Head
            | rules::Method::Delete
            | rules::Method::Options => "",
        };
        Ok(Self {
            url,
            method: method(check.method),
            headers,
            authority,
            body: Bytes::copy_from_slice(body.as_bytes()),
            body_type: BodyType::detect(body),
            follow_redirects: check.follow_redirects,
            ip_version: check.ip_version,
            certificate_warning: (check.certificate_warn_days > 0)
                .then(|| DAY * u32::from(check.certificate_warn_days)),
            client_identity: ClientIdentity::of(check).map(Box::new),
            body_kept: body_bytes_to_keep(check),
            body_read: if check.body_assertions.is_empty() && check.json_assertions.is_empty() {
                limits::EVIDENCE_BODY_BYTES
            } else {
                limits::BODY_READ_BYTES_MAX
            },
            status_code_assertions: check.status_code_assertions.clone(),
            body_assertions: check
                .body_assertions
                .iter()
                .map(|it| TextExpectation::new(it.comparator, &it.target))
                .collect::<Result<_, _>>()?,
            json_assertions: check
                .json_assertions
                .iter()
                .map(JsonExpectation::new)
                .collect::<Result<_, _>>()?,
            header_assertions: check
                .header_assertions
                .iter()
                .map(header_expectation)
                .collect::<Result<_, _>>()?,
        })
    }
}

fn header_expectation(assertion: &HeaderAssertion) -> Result<HeaderExpectation, String> {
    let expected = TextExpectation::new(assertion.comparator, &assertion.target)?;
    Ok(HeaderExpectation { key: assertion.key.clone(), expected })
}

/// Returns how many bytes of a body to keep.
fn body_bytes_to_keep(check: &HttpCheck) -> usize {
    if !check.json_assertions.is_empty() {
        return limits::BODY_READ_BYTES_MAX;
    }
    let needed = check.body_assertions.iter().map(bytes_needed).max().unwrap_or(0);
    needed.clamp(limits::EVIDENCE_BODY_BYTES, limits::BODY_READ_BYTES_MAX)
}

/// Returns how many bytes of a body an assertion needs. A comparison needs the length of its target in
/// the widest charset, and a few more bytes to detect that the body is longer.
fn bytes_needed(assertion: &TextAssertion) -> usize {
    const BYTES_FOR_EACH: usize = 4;
    const MORE: usize = 16;
    match assertion.comparator {
        // `Search` examines the body while it is read.
        TextComparator::Contains | TextComparator::NotContains => 0,
        TextComparator::Matches | TextComparator::NotMatches => limits::BODY_READ_BYTES_MAX,
        TextComparator::Eq
        | TextComparator::Neq
        | TextComparator::Empty
        | TextComparator::NotEmpty
        | TextComparator::Gt
        | TextComparator::Gte
        | TextComparator::Lt
        | TextComparator::Lte => assertion.target.len() * BYTES_FOR_EACH + MORE,
    }
}

impl BodyType {
    fn detect(body: &str) -> Option<Self> {
        let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(body).is_ok();
        match body.trim_ascii_start().bytes().next() {
            _ if body.is_empty() => None,
            Some(b'{' | b'[') if is_json() => Some(Self::Json),
            Some(_) | None => Some(Self::Text),
        }
    }
}

/// Returns the configured headers in order, and the authority from `Host`. White space around a
/// value is not part of it (RFC 9110 §5.5), and HTTP/2 rejects it.
fn configured(headers: &[Header]) -> Result<(HeaderMap, Option<HeaderValue>), String> {
    let mut map = HeaderMap::new();
    let mut authority = None;
    for Header { key, value } in headers {
        let name = HeaderName::from_bytes(key.as_bytes())
            .map_err(|_| format!("`{}` is not a valid header name", redact::excerpt(key)))?;
        let value = value.trim_matches([' ', '\t']);
        if name == HOST {
            authority = authority.or(authority_of(value)?);
            continue;
        }
        let mut value = HeaderValue::from_bytes(value.as_bytes())
            .map_err(|_| format!("the value of its header `{name}` has control characters"))?;
        value.set_sensitive(true);
        map.append(name, value);
    }
    Ok((map, authority))
}

/// Parses the value of a `Host` header; returns `None` if it is empty.
fn authority_of(host: &str) -> Result<Option<HeaderValue>, String> {
    if host.is_empty() {
        return Ok(None);
    }
    Authority::try_from(host)
        .ok()
        .and_then(|_| HeaderValue::from_str(host).ok())
        .map(Some)
        .ok_or_else(|| "its header `host` must be a host or host:port".to_owned())
}

fn basic_authorization(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut credentials: Vec<u8> = percent_decode_str(url.username()).collect();
    credentials.push(b':');
    credentials.extend(percent_decode_str(url.password().unwrap_or_default()));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(credentials)))
        .expect("base64 has no control characters");
    value.set_sensitive(true);
    Some(value)
}

const fn method(method: rules::Method) -> Method {
    match method {
        rules::Method::Get => Method::GET,
        rules::Method::Post => Method::POST,
        rules::Method::Head => Method::HEAD,
        rules::Method::Put => Method::PUT,
        rules::Method::Patch => Method::PATCH,
        rules::Method::Delete => Method::DELETE,
        rules::Method::Options => Method::OPTIONS,
    }
}
