//! Pages as HTML. Templates are in `crates/dashboard/templates`; the screens fill them.

use std::time::Duration;

use askama::Template;
use axum::body::Body;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    REFERRER_POLICY, RETRY_AFTER, SET_COOKIE, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rules::Role;
use web::http_body::EncodedBody;

use crate::assets;
use crate::notice::{self, Notice};
use crate::session::{Member, SignedIn};

const HTML: &str = "text/html; charset=utf-8";
/// Content security policy: pages load only this server's files and run no inline code.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
     font-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; frame-src 'self'",
);

/// Section of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Home,
    Monitors,
    Incidents,
    Channels,
    Pages,
    Maintenance,
    Uptime,
    Regions,
    Settings,
    /// No entry of the navigation: the person's account, a new workspace, the search.
    Other,
}

/// Entry of the navigation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NavigationEntry {
    pub(crate) section: Section,
    pub(crate) label: &'static str,
    /// Path below the workspace.
    pub(crate) path: &'static str,
    /// Name of the symbol in `icons.html`.
    pub(crate) icon: &'static str,
}

/// Entries of the navigation, in their order.
pub(crate) const NAVIGATION: [NavigationEntry; 9] = [
    entry(Section::Home, "Home", "", "home"),
    entry(Section::Monitors, "Monitors", "/monitors", "pulse"),
    entry(Section::Incidents, "Incidents", "/incidents", "bolt"),
    entry(Section::Channels, "Channels", "/channels", "bell"),
    entry(Section::Pages, "Status pages", "/pages", "page"),
    entry(Section::Maintenance, "Maintenance", "/maintenance", "wrench"),
    entry(Section::Uptime, "Uptime", "/uptime", "chart"),
    entry(Section::Regions, "Regions", "/regions", "globe"),
    entry(Section::Settings, "Settings", "/settings", "gear"),
];

const fn entry(
    section: Section,
    label: &'static str,
    path: &'static str,
    icon: &'static str,
) -> NavigationEntry {
    NavigationEntry { section, label, path, icon }
}

/// Frame of a page: title, navigation and notice.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) section: Section,
    pub(crate) notice: Option<Notice>,
    /// Path of the workspace, such as `/w/acme`. Empty outside of one.
    pub(crate) base: String,
    pub(crate) workspace: String,
    /// Paths and names of the person's workspaces.
    pub(crate) workspaces: Vec<(String, String)>,
    pub(crate) user: String,
    pub(crate) email: String,
    /// Whether the person may change the workspace that the search is for.
    pub(crate) may_edit: bool,
}

impl Frame {
    /// Returns the frame of a screen in a workspace.
    pub(crate) fn of_member(
        member: &Member,
        section: Section,
        title: impl Into<String>,
        request: &HeaderMap,
    ) -> Self {
        Self {
            base: member.path(""),
            workspace: member.membership.workspace.name.clone(),
            may_edit: member.membership.role.includes(Role::Editor),
            ..Self::of_user(&member.signed_in, section, title, request)
        }
    }

    /// Returns the frame of a screen of a person, outside of a workspace.
    pub(crate) fn of_user(
        signed_in: &SignedIn,
        section: Section,
        title: impl Into<String>,
        request: &HeaderMap,
    ) -> Self {
        let (all, first) = (signed_in.memberships.iter(), signed_in.memberships.first());
        Self {
            title: title.into(),
            section,
            notice: notice::read(request),
            base: String::new(),
            workspace: String::new(),
            workspaces: all
                .map(|it| (format!("/w/{}", it.workspace.slug), it.workspace.name.clone()))
                .collect(),
            user: signed_in.user.name.clone(),
            email: signed_in.user.email.clone(),
            may_edit: first.is_some_and(|it| it.role.includes(Role::Editor)),
        }
    }

    /// Returns the path of the workspace that the search and the keys are for: outside of one, the first.
    pub(crate) fn palette_base(&self) -> Option<&str> {
        let first = self.workspaces.first().map(|(path, _)| path.as_str());
        if self.base.is_empty() { first } else { Some(&self.base) }
    }

    /// Returns whether an entry of the navigation is the current one.
    pub(crate) fn is_current(&self, entry: &NavigationEntry) -> bool {
        self.section == entry.section
    }
}

/// Frame of a page for people who are not signed in.
#[derive(Clone, Debug)]
pub(crate) struct BareFrame {
    pub(crate) title: &'static str,
}

/// Message that replaces a screen.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) title: &'static str,
    pub(crate) text: String,
}

#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage {
    frame: BareFrame,
    text: String,
}

/// Returns a rendered page.
pub(crate) fn page(template: &impl Template, request: &HeaderMap) -> Response {
    page_with_status(StatusCode::OK, template, request)
}

/// Returns a rendered page, such as a form with errors.
pub(crate) fn page_with_status(
    status: StatusCode,
    template: &impl Template,
    request: &HeaderMap,
) -> Response {
    let body = EncodedBody::new(HTML, render(template));
    let encoding = body.encoding(request);
    let mut response = Response::new(Body::from(body.bytes(encoding)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    add_headers(headers);
    if let Some(token) = encoding.as_token() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(token));
    }
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if notice::read(request).is_some() {
        headers.append(SET_COOKIE, notice::removal());
    }
    response
}

/// Returns a page with a message.
pub(crate) fn message(status: StatusCode, message: Message) -> Response {
    let Message { title, text } = message;
    let page = MessagePage { frame: BareFrame { title }, text };
    page_with_status(status, &page, &HeaderMap::new())
}

/// Returns a redirect to a path of this server, with GET.
pub(crate) fn redirect(path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let location = HeaderValue::try_from(path).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(LOCATION, location);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns a redirect after a change, with a notice for the next page.
pub(crate) fn redirect_with_notice(path: &str, text: &str) -> Response {
    let mut response = redirect(path);
    response.headers_mut().append(SET_COOKIE, notice::cookie(text));
    response
}

/// Returns a redirect that tells why nothing was changed.
pub(crate) fn redirect_with_refusal(path: &str, text: &str) -> Response {
    let mut response = redirect(path);
    response.headers_mut().append(SET_COOKIE, notice::refusal_cookie(text));
    response
}

/// Adds the time after which a refused request may be repeated.
pub(crate) fn with_retry_after(mut response: Response, retry_after: Duration) -> Response {
    response.headers_mut().insert(RETRY_AFTER, retry_after.as_secs().max(1).into());
    response
}

/// Renders a template. Writing to memory cannot fail.
pub(crate) fn render(template: &impl Template) -> String {
    template.render().expect("texts are written to memory")
}

fn add_headers(headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(HTML));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
}

/// Returns a text as a value in the query of a URL.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Returns the path of a file with this name, for templates.
pub(crate) fn asset(name: &str) -> String {
    assets::path(name)
}
