//! The style of all pages, which is inlined so that one request shows a page. Also the script, which
//! pages work without.

/// Style sheet.
pub(super) const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/style.css"));
/// Script that remembers a language, copies code and shows results during typing.
pub(super) const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/docs.js"));
