//! Routes requests by host name, to this service or to a page with a custom domain. A custom domain
//! serves only its page.
//!
//! ACME challenges are answered first. On a custom domain with a certificate, requests without TLS are
//! redirected to HTTPS; on the redirecting listener, so are those for this server's own name. Until a
//! domain has a certificate, its page is served in plain text. The redirecting listener then rejects
//! forms, because a password would travel unencrypted.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::future::RouteFuture;
use futures_util::future::Either;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use pages::PageDomain;
use tower::Service;
use web::peer::{EntryPoint, Peer};
use web::proxies::TrustedProxies;

use super::{Domains, host};

/// Path of HTTP challenges (RFC 8555 §8.3).
const CHALLENGES: &str = "/.well-known/acme-challenge/";

/// Routes requests by host name.
#[derive(Clone)]
pub(crate) struct HostRouter {
    pub(crate) domains: Arc<Domains>,
    pub(crate) proxies: TrustedProxies,
    /// Routes of this service.
    pub(crate) service: Router,
    /// Routes of pages at the root of their domains.
    pub(crate) pages: Router,
}

impl Service<Request> for HostRouter {
    type Response = Response;
    type Error = Infallible;
    type Future = Either<RouteFuture<Infallible>, Ready<Result<Response, Infallible>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let entry_point = request.extensions().get().copied().unwrap_or(EntryPoint::Plain);
        if let Some(answer) = self.challenge_response(&request) {
            return Either::Right(ready(Ok(answer)));
        }
        let table = self.domains.table();
        if table.is_empty() && entry_point != EntryPoint::Redirecting {
            return Either::Left(self.service.call(request));
        }
        let trusted = self.is_from_proxy(&request);
        let host_name = host::requested_host(&request, trusted);
        let Some(domain) = host_name.as_deref().filter(|host_name| table.has(host_name)) else {
            return match entry_point {
                EntryPoint::Plain | EntryPoint::Tls => Either::Left(self.service.call(request)),
                EntryPoint::Redirecting => Either::Right(ready(Ok(
                    self.redirect_to_service(host_name.as_deref(), &request)
                ))),
            };
        };
        // A proxy that terminates TLS sends plain HTTP; a redirect would loop.
        let came_in_the_clear = entry_point != EntryPoint::Tls && !trusted;
        if came_in_the_clear && self.domains.certificates.has(domain) {
            return Either::Right(ready(Ok(redirect_to_tls(domain, &request))));
        }
        if came_in_the_clear
            && entry_point == EntryPoint::Redirecting
            && !request.method().is_safe()
        {
            return Either::Right(ready(Ok(unavailable())));
        }
        request.extensions_mut().insert(PageDomain(domain.to_owned()));
        Either::Left(self.pages.call(request))
    }
}

impl HostRouter {
    fn is_from_proxy(&self, request: &Request) -> bool {
        let peer = request.extensions().get::<Peer>();
        peer.is_some_and(|peer| self.proxies.contains(peer.0))
    }

    /// Answers an ACME server that requests a challenge.
    fn challenge_response(&self, request: &Request) -> Option<Response> {
        let token = request.uri().path().strip_prefix(CHALLENGES)?;
        let answer = self.domains.certificates.http_challenge(token)?;
        let mut response = Response::new(Body::from(answer));
        let kind = HeaderValue::from_static("application/octet-stream");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        Some(response)
    }

    /// Redirects a request for this service to HTTPS, on a listener that serves nothing else.
    fn redirect_to_service(&self, requested: Option<&str>, request: &Request) -> Response {
        let own = self.domains.settings.own.as_ref().map(rules::DomainName::as_str);
        match own {
            Some(own) if requested == Some(own) && self.domains.certificates.has(own) => {
                redirect_to_tls(own, request)
            }
            Some(own) if requested == Some(own) => unavailable(),
            Some(_) | None => empty(StatusCode::NOT_FOUND),
        }
    }
}

/// Redirects to the same address over HTTPS with the same method (RFC 9110 §15.4.9).
fn redirect_to_tls(domain: &str, request: &Request) -> Response {
    let rest = request.uri().path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let mut response = empty(StatusCode::PERMANENT_REDIRECT);
    let place = HeaderValue::try_from(format!("https://{domain}{rest}"));
    let place = place.expect("a name and a path that were read are a header");
    response.headers_mut().insert(LOCATION, place);
    // Browsers that cache the redirect could not reach the page after the certificate expires.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns the response while a name has no certificate yet.
fn unavailable() -> Response {
    let mut response = empty(StatusCode::SERVICE_UNAVAILABLE);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("30"));
    response
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
