//! Reads the snippets that FTS5 cuts from a section, with the words of the query marked.

use super::query::unsplit_words;

/// Marks around a word of the query, and in place of the text that was cut off. Documents do not
/// contain them.
pub(super) const MARK_BEGIN: char = '\u{1}';
pub(super) const MARK_END: char = '\u{2}';
pub(super) const CUT: char = '\u{3}';

/// A part of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    /// Whether it matches the query.
    pub(crate) marked: bool,
}

/// Returns the parts of a snippet, in order.
pub(super) fn pieces(snippet: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut push = |text: &str, marked| {
        if !text.is_empty() {
            pieces.push(Piece { text: unsplit_words(text), marked });
        }
    };
    let (begins_later, rest) = strip(snippet.strip_prefix(CUT), snippet);
    let (ends_earlier, rest) = strip(rest.strip_suffix(CUT), rest);
    push(if begins_later { "… " } else { "" }, false);
    for part in rest.trim_end().split(MARK_BEGIN) {
        let (marked, plain) = part.split_once(MARK_END).unwrap_or(("", part));
        push(marked, true);
        push(plain, false);
    }
    push(if ends_earlier { " …" } else { "" }, false);
    pieces
}

fn strip<'a>(stripped: Option<&'a str>, whole: &'a str) -> (bool, &'a str) {
    (stripped.is_some(), stripped.unwrap_or(whole))
}
