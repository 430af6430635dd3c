//! Decides where a redirect leads (design §5, "HTTP"). `probe` applies the egress policy to the new
//! hop.

use ::http::{HeaderMap, HeaderValue, Method, StatusCode};
use bytes::Bytes;
use rules::limits;
use url::Url;

use super::HttpPlan;
use super::request::{Request, with_ours};
use crate::check::{Failure, FailureKind, redact};

/// Meaning of a response for the exchange.
#[derive(Debug)]
pub enum Redirect {
    /// It redirects to another hop.
    Follow(Box<Request>),
    /// It is the final response.
    Final,
    /// It redirects to an invalid target, which fails the attempt.
    Failed(Failure),
}

/// Decides how to continue after the response to `request`, by its `status` and first `Location`
/// header. Drops credentials in `Location`, because the target chose them, not the user. A redirect
/// without `Location` is a final response.
pub fn redirect(
    plan: &HttpPlan,
    request: &Request,
    status: StatusCode,
    location: Option<&HeaderValue>,
) -> Redirect {
    let location = location.map(|location| location.as_bytes().trim_ascii());
    let (true, Some(way), Some(location)) = (
        plan.follow_redirects,
        MethodRewrite::from_status(status),
        location.filter(|location| !location.is_empty()),
    ) else {
        return Redirect::Final;
    };
    if request.redirects >= limits::REDIRECTS_MAX {
        let detail = format!("more than {} redirects", limits::REDIRECTS_MAX);
        return Redirect::Failed(Failure::new(FailureKind::RedirectsExhausted, detail));
    }
    match target(&request.url, location) {
        Ok(url) => Redirect::Follow(Box::new(follow(plan, request, way, url))),
        Err(detail) => Redirect::Failed(Failure::new(FailureKind::RedirectInvalid, detail)),
    }
}

/// Effect of a redirect on method and body.
#[derive(Clone, Copy)]
enum MethodRewrite {
    /// 301 and 302: `POST` becomes `GET`.
    PostBecomesGet,
    /// 303: all methods but `HEAD` become `GET`.
    BecomesGet,
    /// 307 and 308: no change.
    Keeps,
}

impl MethodRewrite {
    fn from_status(status: StatusCode) -> Option<Self> {
        match status.as_u16() {
            301 | 302 => Some(Self::PostBecomesGet),
            303 => Some(Self::BecomesGet),
            307 | 308 => Some(Self::Keeps),
            _ => None,
        }
    }

    fn becomes_get(self, method: &Method) -> bool {
        match self {
            Self::PostBecomesGet => method == Method::POST,
            Self::BecomesGet => method != Method::HEAD && method != Method::GET,
            Self::Keeps => false,
        }
    }
}

fn target(from: &Url, location: &[u8]) -> Result<Url, String> {
    let text = String::from_utf8_lossy(location);
    let named = || redact::excerpt(&redact::without_userinfo(&text));
    let mut url = std::str::from_utf8(location)
        .ok()
        .and_then(|location| from.join(location).ok())
        .ok_or_else(|| format!("redirects to `{}`, which is not a valid URL", named()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("redirects to `{}`, which is not an http or https URL", named()));
    }
    if url.port() == Some(0) {
        return Err(format!("redirects to `{}`, which has port 0", named()));
    }
    redact::remove_credentials(&mut url);
    url.set_fragment(None);
    Ok(url)
}

fn follow(plan: &HttpPlan, request: &Request, rewrite: MethodRewrite, url: Url) -> Request {
    let becomes_get = rewrite.becomes_get(&request.method);
    // Headers configured for one host must not reach another host or cross the network unencrypted.
    // Compares names, not ports, so that a redirect from http to https on one host keeps them.
    let crosses = url.host() != request.url.host()
        || (request.url.scheme() == "https" && url.scheme() == "http");
    let headers = match (crosses, becomes_get) {
        (true, _) => HeaderMap::new(),
        (false, true) => without_content_headers(&request.headers),
        (false, false) => request.headers.clone(),
    };
    let body = if becomes_get { Bytes::new() } else { request.body.clone() };
    let body_type = plan.body_type.filter(|_| !body.is_empty());
    Request {
        url,
        method: if becomes_get { Method::GET } else { request.method.clone() },
        headers: with_ours(headers, body_type),
        authority: request.authority.clone().filter(|_| !crosses),
        body,
        redirects: request.redirects + 1,
    }
}

/// Removes the headers that describe a removed body: `Content-Type`, `Content-Encoding` and the
/// like. Builds a new map, because removing entries reorders others.
fn without_content_headers(headers: &HeaderMap) -> HeaderMap {
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        if !name.as_str().starts_with("content-") {
            kept.append(name, value.clone());
        }
    }
    kept
}
