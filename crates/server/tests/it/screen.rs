//! What every page has to be on a screen, and where pictures of it are kept.

use std::path::{Path, PathBuf};

use testkit::browser::{Tab, View};

/// How wide a page is, and how wide its window.
const WIDTHS: &str = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]";

/// A file for a picture of this page.
pub(crate) fn picture(name: &str, view: View) -> PathBuf {
    let width = if view.width < 600 { "phone" } else { "desktop" };
    let mut words = vec![name, width, if view.dark { "dark" } else { "light" }];
    words.extend((!view.scripts).then_some("plain"));
    words.extend(view.print.then_some("print"));
    file(&words.join("-"))
}

/// A file for a picture of this name, beside the others.
pub(crate) fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name).with_extension("png")
}

/// Nothing stands out of the window to the side.
pub(crate) async fn fits(tab: &Tab, what: &str) {
    let widths = tab.evaluate(WIDTHS).await;
    assert!(widths[0].as_u64() <= widths[1].as_u64(), "{what} is wider than its window: {widths}");
}
