//! HTTP checks: requests, redirects and assertions.

mod certificates;
mod headers;
mod json;
mod redirects;
mod requests;
mod responses;

use ::http::{HeaderMap, HeaderName, Version};
use bytes::Bytes;
use rules::monitor::{Header, HttpCheck};

use super::HttpPlan;
use crate::check::findings::Findings;
use crate::check::{Hop, HttpObservation, ObservedBody, Phases};

/// Returns a `GET` of this URL without assertions.
pub(super) fn a_check(url: &str) -> HttpCheck {
    HttpCheck::new(url.to_owned())
}

fn header(key: &str, value: &str) -> Header {
    Header { key: key.to_owned(), value: value.to_owned() }
}

pub(super) fn plan(check: &HttpCheck) -> HttpPlan {
    HttpPlan::new(check).expect("the check is valid")
}

/// Returns an exchange of one hop.
fn seen(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> HttpObservation {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    let hop = Hop {
        url: "http://example.com/".parse().unwrap(),
        address: None,
        phases: Phases::default(),
        version: Version::HTTP_11,
        status: Some(status),
        headers: map,
        certificate: None,
    };
    HttpObservation {
        hops: vec![hop],
        body: ObservedBody { bytes: body.into(), truncated: false, ..ObservedBody::default() },
    }
}

fn assess(check: &HttpCheck, seen: &HttpObservation) -> Findings {
    super::assess(&plan(check), seen)
}

/// Formats the headers in order, one per line, with values as text.
fn lines(headers: &HeaderMap) -> String {
    let line = |(name, value): (&HeaderName, &::http::HeaderValue)| {
        format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()))
    };
    headers.iter().map(line).collect::<Vec<_>>().join("\n")
}
