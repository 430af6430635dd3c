//! Highlights code. `cargo xtask docs` finds the tokens of all examples, because a highlighter with its
//! grammars is larger than the documentation itself. Other code remains plain.

use sha2::{Digest as _, Sha256};

use super::escape::escape;

/// A line per example: the first 8 bytes of its code's SHA-256, and its tokens in order, each with its class
/// in `code.css` (`.` for plain text) and its length in bytes. Lines are sorted.
const TOKENS: &str = include_str!("gen/tokens.txt");

/// Returns the code as HTML, with each known token in an element with a class.
pub(super) fn highlight(code: &str) -> String {
    let mut out = String::with_capacity(code.len() * 2);
    let mut rest = code;
    for (class, length) in tokens(code) {
        let (token, after) = rest.split_at(length);
        if class == '.' {
            escape(&mut out, token);
        } else {
            out.push_str("<span class=\"");
            out.push(class);
            out.push_str("\">");
            escape(&mut out, token);
            out.push_str("</span>");
        }
        rest = after;
    }
    escape(&mut out, rest);
    out
}

/// Returns the classes and lengths of an example's tokens, and none of other code.
fn tokens(code: &str) -> impl Iterator<Item = (char, usize)> {
    let written = line(code).unwrap_or_default();
    let begins = written.match_indices(|letter: char| !letter.is_ascii_digit());
    begins.map(|(at, class)| {
        let digits = written[at + 1..].split(|letter: char| !letter.is_ascii_digit()).next();
        let length = digits.and_then(|digits| digits.parse().ok());
        (class.chars().next().unwrap_or('.'), length.expect("`cargo xtask docs` wrote a length"))
    })
}

/// Returns the tokens of an example as written.
fn line(code: &str) -> Option<&'static str> {
    let digest = Sha256::digest(code);
    let (hash, _) = digest.split_first_chunk().expect("SHA-256 has 32 bytes");
    let begin = format!("\n{:016x} ", u64::from_be_bytes(*hash));
    let (_, rest) = TOKENS.split_once(&begin)?;
    rest.lines().next()
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{CodeBlockKind, Event, Tag};

    use super::*;
    use crate::catalog::documents;
    use crate::fence::Fence;
    use crate::markdown::{events, plain};

    /// Returns the fence and the code of every example.
    fn examples() -> Vec<(Fence, String)> {
        let mut examples = Vec::new();
        for document in documents() {
            let events = events(document.text());
            for (at, event) in events.iter().enumerate() {
                if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(fence))) = event {
                    let code: String = events[at + 1..].iter().map_while(plain).collect();
                    examples.push((Fence::parse(fence), code.trim_end_matches('\n').to_owned()));
                }
            }
        }
        examples
    }

    #[test]
    fn every_example_has_its_tokens() {
        let examples = examples();
        assert!(examples.len() > 300, "{}", examples.len());
        for (fence, code) in &examples {
            assert!(line(code).is_some(), "run `cargo xtask docs` for {fence:?}: {code}");
        }
        for language in ["Shell", "TypeScript", "Terraform", "JSON", "TOML", "YAML"] {
            let mut of_it = examples.iter().filter(|(fence, _)| fence.language.label == language);
            assert!(of_it.any(|(_, code)| tokens(code).count() > 2), "{language}");
        }
    }

    #[test]
    fn highlighting_keeps_every_character() {
        let others = ["\"open", "it's", "ä = \"ö\\\"\" // ü", "'\\", ""].map(|code| ("sh", code));
        let others = others.map(|(fence, code)| (Fence::parse(fence), code.to_owned()));
        for (fence, code) in examples().into_iter().chain(others) {
            let html = highlight(&code);
            let mut text = html.replace("</span>", "");
            for class in ["c", "s", "k", "w", "n"] {
                text = text.replace(&format!("<span class=\"{class}\">"), "");
            }
            let mut escaped = String::new();
            escape(&mut escaped, &code);
            assert_eq!(text, escaped, "{fence:?}");
        }
    }

    // The address of the server is replaced in the HTML, so no token may begin or end inside.
    #[test]
    fn no_token_splits_the_address_of_the_server() {
        const ADDRESS: &str = "http://127.0.0.1:8080";
        for (_, code) in examples() {
            let html = highlight(&code);
            assert_eq!(html.matches(ADDRESS).count(), code.matches(ADDRESS).count(), "{html}");
        }
    }
}
