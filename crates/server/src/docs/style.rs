//! The style of all pages of the documentation, in each of them: one request shows a page. And the script,
//! without which they are whole.

/// All of the style.
pub(super) const STYLE: &str = include_str!("../../templates/docs/style.css");
/// What remembers a language, copies code and shows what is found while somebody types.
pub(super) const SCRIPT: &str = include_str!("../../templates/docs/docs.js");
/// The small picture in tabs.
pub(super) const ICON: &str = include_str!("../../templates/status_page/icon.svg");
