//! Layout checks for pages in a browser, and paths of their screenshots.

use std::path::{Path, PathBuf};

use testkit::browser::{Tab, View};

/// Script that returns the width of a page and of its window.
const WIDTHS: &str = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]";

/// Returns the path of the screenshot of a page.
pub(crate) fn picture(name: &str, view: View) -> PathBuf {
    let width = if view.width < 600 { "phone" } else { "desktop" };
    let mut words = vec![name, width, if view.dark { "dark" } else { "light" }];
    words.extend((!view.scripts).then_some("plain"));
    words.extend(view.print.then_some("print"));
    file(&words.join("-"))
}

/// Returns the path of a screenshot with this name.
pub(crate) fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name).with_extension("png")
}

/// Asserts that the page does not overflow its window horizontally.
pub(crate) async fn fits(tab: &Tab, what: &str) {
    let widths = tab.evaluate(WIDTHS).await;
    assert!(widths[0].as_u64() <= widths[1].as_u64(), "{what} is wider than its window: {widths}");
}
