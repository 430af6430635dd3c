//! The verdict for other people's pages: a script that puts it, as a link, into the place of its tag, and a
//! page of its own for a frame. Neither keeps anything in the browser or asks anybody else. The script
//! brings the verdict along, so that nothing has to be fetched across origins; its style is the link's
//! alone, in a shadow root, and is no inline style that the page's own policy would have to allow.

use std::sync::LazyLock;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::page::State;
use http::HeaderValue;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::address;
use super::html::rendered;
use super::shelf::Shown;
use super::words::Words;

const STYLE: &str = include_str!("../../templates/status_page/widget.css");
const SCRIPT: &str = include_str!("../../templates/status_page/widget.js");
/// Beside the style of the link: the frame has no ground of its own.
const FRAME_STYLE: &str = concat!(
    include_str!("../../templates/status_page/widget.css"),
    "html{color-scheme:light dark}body{margin:2px;background:transparent}\n"
);

/// What the frame may do: show itself, in whatever page.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(FRAME_STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; form-action 'none'; base-uri 'none'; \
         frame-ancestors *"
    );
    HeaderValue::try_from(policy).expect("base64 is a header")
});

#[derive(Template)]
#[template(path = "status_page/widget.html")]
struct Widget<'a> {
    lang: &'static str,
    title: &'a str,
    sentence: String,
    state: State,
    home: &'a str,
    style: &'static str,
}

/// The policy of the frame. Only pages that everybody may see are sent with it.
pub(super) fn policy() -> HeaderValue {
    POLICY.clone()
}

/// The script.
pub(super) fn script(shown: &Shown, words: &Words) -> String {
    let verdict = &shown.view.verdict;
    let it = json!({
        "state": verdict.state.as_str(), "sentence": words.sentence(&verdict.sentence),
        "title": shown.page.settings.title, "lang": words.lang,
    });
    let script = SCRIPT.replacen("STYLE", &json!(STYLE).to_string(), 1);
    // Last, because what owners wrote may have any word in it.
    script.replacen("IT", &it.to_string(), 1)
}

/// The page for a frame.
pub(super) fn frame(shown: &Shown, words: &'static Words, base: &str) -> String {
    let verdict = &shown.view.verdict;
    rendered(&Widget {
        lang: words.lang,
        title: &shown.page.settings.title,
        sentence: words.sentence(&verdict.sentence),
        state: verdict.state,
        home: address::home(base),
        style: FRAME_STYLE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_has_one_place_for_each_thing_that_it_brings() {
        for place in ["STYLE", "IT"] {
            assert_eq!(SCRIPT.matches(place).count(), 1, "{place}");
            assert!(!STYLE.contains(place), "{place}");
        }
        assert!(!SCRIPT.contains("cookie") && !SCRIPT.contains("fetch"));
    }
}
