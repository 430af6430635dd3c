//! Checks of layout and style for pages in a browser, and their screenshots. `small_picture` encodes
//! those that are committed.

mod small_picture;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use testkit::browser::{Tab, View};
use tiny_skia::{IntRect, Pixmap};

/// Maximum height of a committed picture in pixels. Longer screens are cut there.
const HEIGHT_MAX: u32 = 1_200;

/// Script that returns the width of a page and of its window.
const WIDTHS: &str = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]";

/// Takes a screenshot of the page if `ALOFT_TEST_PICTURES` is set, to look at. Hundreds of them take minutes.
pub(crate) async fn take_picture(tab: &Tab, name: &str, view: View) {
    if picture_wish().is_some() {
        tab.picture(&picture(name, view)).await;
    }
}

/// Takes a screenshot like [`take_picture`], and updates the committed copy if this run is to do so.
pub(crate) async fn commit_picture(tab: &Tab, name: &str, view: View) {
    take_picture(tab, name, view).await;
    if writes_pictures() {
        write_copy(&picture(name, view));
    }
}

/// Returns the path of the screenshot of a page.
fn picture(name: &str, view: View) -> PathBuf {
    let width = if view.width < 600 { "phone" } else { "desktop" };
    let mut words = vec![name, width, if view.dark { "dark" } else { "light" }];
    words.extend((!view.scripts).then_some("plain"));
    words.extend(view.print.then_some("print"));
    file(&words.join("-"))
}

/// Returns the path of a screenshot with this name.
pub(crate) fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name).with_extension("png")
}

/// Returns whether this run updates the committed pictures.
pub(crate) fn writes_pictures() -> bool {
    picture_wish().is_some_and(|it| it == "write")
}

/// Returns what the caller of the tests wants: `take` pictures, or also `write` the committed ones.
#[expect(clippy::disallowed_methods, reason = "only tests need to know whether to write")]
fn picture_wish() -> Option<String> {
    std::env::var("ALOFT_TEST_PICTURES").ok()
}

/// Returns the path of a committed picture.
pub(crate) fn committed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures").join(name)
}

/// Writes the committed copy of a screenshot.
fn write_copy(file: &Path) {
    let whole = Pixmap::load_png(file).unwrap();
    let size = IntRect::from_xywh(0, 0, whole.width(), whole.height().min(HEIGHT_MAX)).unwrap();
    let start = whole.clone_rect(size).unwrap();
    let name = file.file_name().unwrap().to_string_lossy();
    fs::create_dir_all(committed("")).unwrap();
    fs::write(committed(&name), small_picture::encode(&start)).unwrap();
}

/// Asserts that the page does not overflow its window horizontally.
pub(crate) async fn fits(tab: &Tab, what: &str) {
    let widths = tab.evaluate(WIDTHS).await;
    assert!(widths[0].as_u64() <= widths[1].as_u64(), "{what} is wider than its window: {widths}");
}

/// Script that returns the rules of a style sheet that the page does not have. Values may differ in
/// spaces only where these mean nothing.
const LOST_RULES: &str = r"((source) => {
  const text = (rule) => rule.cssText.replace(/([,(])\s+/g, '$1').replace(/\s+\)/g, ')');
  const rules = (sheet) => [...sheet.cssRules].map(text);
  const own = new CSSStyleSheet();
  own.replaceSync(source);
  const kept = new Set(rules(document.querySelector('style').sheet));
  return rules(own).filter((rule) => !kept.has(rule));
})";

/// Asserts that the minified style of a page has every rule of its sources: the style sheets of this
/// crate, except those of the widget.
pub(crate) async fn keeps_every_rule(tab: &Tab, of_crate: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(of_crate).join("assets");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_of_page = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with(".css") && !name.starts_with("widget")
    };
    let sources: Vec<_> = files.filter(is_of_page).collect();
    assert!(sources.len() > 5, "{sources:?}");
    for path in sources {
        let source = json!(fs::read_to_string(&path).unwrap());
        let lost = tab.evaluate(&format!("{LOST_RULES}({source})")).await;
        assert_eq!(lost, json!([]), "{}", path.display());
    }
}
