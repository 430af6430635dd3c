//! The overall status for other sites: a script that replaces its tag with a link, and a page for a
//! frame. Neither stores anything in the browser or contacts other hosts. The script contains the
//! status, so that it needs no cross-origin request. Its style applies only to the link, in a
//! shadow root. It is not an inline style, so that the policy of the embedding page need not allow
//! one.

use std::sync::LazyLock;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::page::State;
use http::HeaderValue;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::address;
use super::html::render;
use super::i18n::Strings;
use super::snapshot::PageSnapshot;

const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/widget.css"));
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/widget.js"));
/// The link's style, and a transparent background for the frame.
const FRAME_STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/widget_frame.css"));

/// Content security policy of the frame: any page may embed it.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(FRAME_STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; form-action 'none'; base-uri 'none'; \
         frame-ancestors *"
    );
    HeaderValue::try_from(policy).expect("base64 is a header")
});

#[derive(Template)]
#[template(path = "widget.html")]
struct Widget<'a> {
    lang: &'static str,
    title: &'a str,
    sentence: String,
    state: State,
    home: &'a str,
    style: &'static str,
}

/// Returns the content security policy of the frame. Only public pages send it.
pub(super) fn policy() -> HeaderValue {
    POLICY.clone()
}

/// Renders the script.
pub(super) fn script(snapshot: &PageSnapshot, words: &Strings) -> String {
    let overall = &snapshot.view.overall_status;
    let it = json!({
        "state": overall.state.as_str(), "sentence": words.summary(&overall.summary),
        "title": snapshot.page.settings.title, "lang": words.lang,
    });
    let script = SCRIPT.replacen("STYLE", &json!(STYLE).to_string(), 1);
    // Replaced last, because the texts of owners may contain any placeholder.
    script.replacen("IT", &it.to_string(), 1)
}

/// Renders the page for a frame.
pub(super) fn frame(snapshot: &PageSnapshot, words: &'static Strings, base: &str) -> String {
    let overall = &snapshot.view.overall_status;
    render(&Widget {
        lang: words.lang,
        title: &snapshot.page.settings.title,
        sentence: words.summary(&overall.summary),
        state: overall.state,
        home: address::home(base),
        style: FRAME_STYLE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_has_one_placeholder_per_inserted_text() {
        for place in ["STYLE", "IT"] {
            assert_eq!(SCRIPT.matches(place).count(), 1, "{place}");
            assert!(!STYLE.contains(place), "{place}");
        }
        assert!(!SCRIPT.contains("cookie") && !SCRIPT.contains("fetch"));
    }
}
