//! Markdown that people write into reports: as HTML in which nothing stands but what is written here,
//! and as plain text for feeds and messages. The library reads it; its own HTML is not used, because it
//! lets through what it is given.

mod html;
mod plain;

#[cfg(test)]
mod tests;

use pulldown_cmark::{LinkType, Options, Parser};
use url::Url;

pub use html::html;
pub use plain::plain;

/// Lists, quotes and the like that stand in each other at most; beyond it what they hold stays.
const DEPTH_MAX: usize = 8;

/// What links may lead to: nothing that a browser runs.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

fn parser(markdown: &str) -> Parser<'_> {
    Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH)
}

/// Where a link leads, where it may: an address of its own, in a browser's spelling.
fn target(kind: LinkType, written: &str) -> Option<String> {
    let is_address = kind == LinkType::Email;
    let written = if is_address { format!("mailto:{written}") } else { written.to_owned() };
    let url = Url::parse(&written).ok()?;
    SCHEMES.contains(&url.scheme()).then(|| url.to_string())
}
