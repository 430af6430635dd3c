//! Origin of a request: the address of its client, whether its connection is encrypted, and whether
//! another site sent it.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use axum::extract::FromRequestParts;
use http::header::{HOST, ORIGIN, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, HeaderName, Uri};
use web::peer::{EntryPoint, Peer};

use crate::state::Dashboard;

/// Header in which browsers say where a request comes from.
/// Format: <https://www.w3.org/TR/fetch-metadata/>
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Header in which browsers say what a request is for, such as `document` or `image`.
const FETCH_DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
/// Maximum length of a stored `User-Agent`, in characters.
const USER_AGENT_CHARS_MAX: usize = 256;

/// Client of a request.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    /// Address of the client, behind trusted proxies.
    pub(crate) address: IpAddr,
    /// Whether its connection is encrypted, by this server or by a trusted proxy.
    pub(crate) is_secure: bool,
    /// Whether the browser shows the answer as a part of a page, such as an image or a frame.
    pub(crate) is_embedded: bool,
    /// Browser, as it calls itself.
    pub(crate) user_agent: String,
}

impl FromRequestParts<Dashboard> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &Dashboard) -> Result<Self, Infallible> {
        Ok(Self::from_parts(parts, state))
    }
}

impl Client {
    /// Returns the client of a request.
    pub(crate) fn from_parts(parts: &Parts, state: &Dashboard) -> Self {
        let peer = peer(parts);
        let forwarded = text(&parts.headers, &FORWARDED_PROTO);
        let is_proxied = state.proxies.contains(peer) && forwarded == Some("https");
        let user_agent = text(&parts.headers, &USER_AGENT).unwrap_or_default();
        Self {
            address: state.proxies.address(peer, &parts.headers),
            is_embedded: text(&parts.headers, &FETCH_DESTINATION)
                .is_some_and(|it| it != "document"),
            is_secure: is_proxied || parts.extensions.get() == Some(&EntryPoint::Tls),
            user_agent: user_agent.chars().take(USER_AGENT_CHARS_MAX).collect(),
        }
    }
}

/// Returns whether another site may have caused a request. Requests without any sign of a browser
/// count as foreign too, because only browsers have sessions.
pub(crate) fn is_cross_site(parts: &Parts, state: &Dashboard) -> bool {
    match text(&parts.headers, &FETCH_SITE) {
        Some("same-origin") => return false,
        Some(_) => return true,
        None => {}
    }
    let Some(origin) = text(&parts.headers, &ORIGIN) else { return true };
    let Ok(origin) = origin.parse::<Uri>() else { return true };
    let is_proxied = state.proxies.contains(peer(parts));
    let forwarded = text(&parts.headers, &FORWARDED_HOST).filter(|_| is_proxied);
    let host = forwarded
        .or_else(|| text(&parts.headers, &HOST))
        .or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
    origin.authority().map(http::uri::Authority::as_str) != host
}

/// Returns whether a request has a sign of a browser that tells where it comes from.
pub(crate) fn is_from_browser(parts: &Parts) -> bool {
    parts.headers.contains_key(FETCH_SITE) || parts.headers.contains_key(ORIGIN)
}

fn peer(parts: &Parts) -> IpAddr {
    parts.extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0)
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
