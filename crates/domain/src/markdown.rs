//! Markdown of status reports: rendered as safe HTML, and as plain text for feeds and messages.
//! Uses the parser of the library, but not its HTML renderer, which passes raw HTML through.

mod html;
mod plain;

#[cfg(test)]
mod tests;

use pulldown_cmark::{LinkType, Options, Parser};
use url::Url;

pub use html::html;
pub use plain::plain;

/// Maximum nesting of lists, quotes and the like; deeper elements keep only their content.
const DEPTH_MAX: usize = 8;

/// Allowed URL schemes of links: nothing that a browser executes.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

fn parser(markdown: &str) -> Parser<'_> {
    Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH)
}

/// Returns the normalized absolute URL of a link, or `None` if it is not allowed.
fn target(kind: LinkType, written: &str) -> Option<String> {
    let is_address = kind == LinkType::Email;
    let written = if is_address { format!("mailto:{written}") } else { written.to_owned() };
    let url = Url::parse(&written).ok()?;
    SCHEMES.contains(&url.scheme()).then(|| url.to_string())
}
