//! What a visitor is told who may not look yet, or looks for what is not there; and the password that
//! lets one in, which never stands in a URL.

use axum::Form;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, body::Body};
use http::header::{CACHE_CONTROL, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use rules::AccessType;
use rules::status_page::StatusPage;
use serde::Deserialize;

use super::gate::Unlocked;
use super::html::{Frame, rendered};
use super::respond::{answer, language};
use super::shelf::Said;
use super::words::Words;
use super::{BELOW, html};
use crate::app::App;
use crate::auth::Peer;

/// What the form of the door sends.
#[derive(Deserialize)]
pub(super) struct Given {
    password: String,
}

#[derive(askama::Template)]
#[template(path = "status_page/door.html")]
struct Door<'a> {
    frame: Frame<'a>,
    sentence: &'a str,
    asks: bool,
    wrong: Option<&'a str>,
}

/// The question for a password, with what was wrong with the last one.
pub(super) fn password(
    page: &StatusPage,
    words: &'static Words,
    base: &str,
    wrong: Option<&str>,
) -> String {
    let mut frame = Frame::of(page, words, base);
    frame.is_open = false;
    rendered(&Door { frame, sentence: words.password_wanted, asks: true, wrong })
}

/// The word that a page is for members.
pub(super) fn members(page: &StatusPage, words: &'static Words, base: &str) -> String {
    let mut frame = Frame::of(page, words, base);
    frame.is_open = false;
    rendered(&Door { frame, sentence: words.members_only, asks: false, wrong: None })
}

/// One sentence, of no page.
pub(super) fn sentence(sentence: &str, words: &'static Words) -> String {
    let frame = Frame {
        words,
        heading: sentence.to_owned(),
        title: "",
        about: None,
        homepage: None,
        contact: None,
        theme: None,
        base: "/",
        is_open: false,
        style: html::STYLE,
    };
    rendered(&Door { frame, sentence, asks: false, wrong: None })
}

/// Holds a password against the page's; who knew it is sent to the page.
pub(super) async fn unlock(
    State(app): State<App>,
    Path(slug): Path<String>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    Form(given): Form<Given>,
) -> Response {
    let words = language(&headers);
    let shown = app.page_shelf.shown(&app, &slug).await;
    let Ok(Some(shown)) = shown else {
        let said = Said::of("text/html; charset=utf-8", sentence(words.not_found, words));
        return answer(&said, StatusCode::NOT_FOUND, AccessType::Password, &headers);
    };
    let base = format!("{BELOW}{slug}");
    let address = app.auth.address(peer.0, &headers);
    let unlocked = app.visitors.unlock(&shown.page, &given.password, address, app.ctx.now());
    let (status, wrong) = match unlocked {
        Unlocked::Yes(cookie) => return let_in(&base, cookie),
        Unlocked::No => (StatusCode::UNAUTHORIZED, words.password_wrong),
        Unlocked::TooOften => (StatusCode::TOO_MANY_REQUESTS, words.too_often),
    };
    let text = password(&shown.page, words, &base, Some(wrong));
    let said = Said::of("text/html; charset=utf-8", text);
    answer(&said, status, AccessType::Password, &headers)
}

fn let_in(base: &str, cookie: HeaderValue) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    let place = HeaderValue::try_from(base).expect("a slug of a page is a header");
    headers.insert(LOCATION, place);
    headers.insert(SET_COOKIE, cookie);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
