//! Answers a form of a person whose session has ended, so that nothing typed is lost: a page with the same
//! form, to be sent again after signing in elsewhere.

use askama::Template;
use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use url::form_urlencoded;

use crate::error::ScreenError;
use crate::html::{self, BareFrame};

const FORM: &[u8] = b"application/x-www-form-urlencoded";
/// Part of the name of a field that is never sent back.
const PASSWORD: &str = "password";

#[derive(Template)]
#[template(path = "signed_out.html")]
struct SignedOutPage<'a> {
    frame: BareFrame,
    /// Path that the form was sent to.
    action: &'a str,
    fields: Vec<(String, String)>,
}

/// Returns the page with a form that could not be accepted. A request without fields has nothing to lose.
pub(crate) fn keep_form(parts: &Parts, form: &Bytes) -> Response {
    let is_form = |it: &HeaderValue| it.as_bytes().starts_with(FORM);
    if !parts.headers.get(CONTENT_TYPE).is_some_and(is_form) {
        return ScreenError::SignedOut.into_response();
    }
    let fields = form_urlencoded::parse(form).into_owned();
    let fields: Vec<_> = fields.filter(|(name, _)| !name.contains(PASSWORD)).collect();
    if fields.is_empty() {
        return ScreenError::SignedOut.into_response();
    }
    let action = parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let frame = BareFrame { title: "You are signed out" };
    let page = SignedOutPage { frame, action, fields };
    html::page_with_status(StatusCode::UNAUTHORIZED, &page, &HeaderMap::new())
}

#[cfg(test)]
mod tests {
    use http::Request;
    use http::header::CONTENT_TYPE;

    use super::*;

    async fn kept(content_type: &str, form: &'static str) -> String {
        let request = Request::post("/w/acme/start?a=1").header(CONTENT_TYPE, content_type);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let response = keep_form(&parts, &Bytes::from_static(form.as_bytes()));
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn form_is_kept_without_passwords() {
        let form = "title=%3Cb%3E&email=a%40example.com&new_password=secret";
        let page = kept("application/x-www-form-urlencoded", form).await;
        assert!(page.contains(r#"action="/w/acme/start?a=1""#), "{page}");
        assert!(page.contains(r#"name="title" value="&#60;b&#62;""#), "{page}");
        assert!(page.contains(r#"name="email" value="a@example.com""#), "{page}");
        assert!(!page.contains("secret"), "{page}");
    }

    #[tokio::test]
    async fn request_without_fields_keeps_nothing() {
        for (content_type, form) in
            [("application/x-www-form-urlencoded", ""), ("application/json", "a=1")]
        {
            assert!(!kept(content_type, form).await.contains("<form"));
        }
    }
}
