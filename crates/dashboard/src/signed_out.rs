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
/// Maximum size of a form that is sent back, in bytes.
const BYTES_MAX: usize = 64 << 10;
/// Maximum number of its fields.
const FIELDS_MAX: usize = 256;
/// Part of the names of passwords, which are never sent back.
const PASSWORD: &str = "password";
/// Names of other fields that are never sent back: the password of now, codes, and what is signed for a
/// moment.
const PRIVATE: [&str; 4] = ["current", "code", "credential", "enrolment"];

#[derive(Template)]
#[template(path = "signed_out.html")]
struct SignedOutPage<'a> {
    frame: BareFrame,
    /// Path that the form was sent to.
    action: &'a str,
    fields: Vec<(String, String)>,
}

/// Returns the page with a form that could not be accepted. A request without fields has nothing to lose,
/// and people write no forms that are larger.
pub(crate) fn keep_form(parts: &Parts, form: &Bytes) -> Response {
    let is_form = |it: &HeaderValue| it.as_bytes().starts_with(FORM);
    if !parts.headers.get(CONTENT_TYPE).is_some_and(is_form) {
        return ScreenError::SignedOut.into_response();
    }
    if form.len() > BYTES_MAX {
        return ScreenError::SignedOut.into_response();
    }
    let is_private = |name: &str| name.contains(PASSWORD) || PRIVATE.contains(&name);
    let fields = form_urlencoded::parse(form).into_owned();
    let fields: Vec<_> =
        fields.filter(|(name, _)| !is_private(name)).take(FIELDS_MAX + 1).collect();
    if fields.is_empty() || fields.len() > FIELDS_MAX {
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

    async fn kept(content_type: &str, form: impl Into<Bytes>) -> String {
        let request = Request::post("/w/acme/start?a=1").header(CONTENT_TYPE, content_type);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let response = keep_form(&parts, &form.into());
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn form_is_kept_without_passwords() {
        let form = "title=%3Cb%3E&email=a%40example.com&new_password=secret&current=secret\
                    &status_code_assertions[0].target=204";
        let page = kept("application/x-www-form-urlencoded", form).await;
        assert!(page.contains(r#"action="/w/acme/start?a=1""#), "{page}");
        assert!(page.contains(r#"name="title" value="&#60;b&#62;""#), "{page}");
        assert!(page.contains(r#"name="email" value="a@example.com""#), "{page}");
        assert!(page.contains(r#"name="status_code_assertions[0].target" value="204""#), "{page}");
        assert!(!page.contains("secret"), "{page}");
    }

    // A form of a mebibyte took a hundred of memory.
    #[tokio::test]
    async fn large_form_is_not_kept() {
        let content_type = "application/x-www-form-urlencoded";
        assert!(kept(content_type, "a=1&".repeat(FIELDS_MAX)).await.contains("<form"));
        assert!(!kept(content_type, "a=1&".repeat(FIELDS_MAX + 1)).await.contains("<form"));
        assert!(!kept(content_type, "a".repeat(BYTES_MAX + 1)).await.contains("<form"));
    }

    #[tokio::test]
    async fn request_without_fields_keeps_nothing() {
        let forms = [
            ("application/x-www-form-urlencoded", ""),
            ("application/x-www-form-urlencoded", "password=secret&code=123456"),
            ("application/json", "a=1"),
        ];
        for (content_type, form) in forms {
            assert!(!kept(content_type, form).await.contains("<form"));
        }
    }
}
