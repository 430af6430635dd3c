//! Makes texts acceptable to vendors: one line, escaped, and within the length limit. The file of
//! each vendor defines escaping and units.

use unicode_segmentation::UnicodeSegmentation;

/// End of a text that was cut.
const ELLIPSIS: &str = "…";

/// Escapes one character for a vendor's format. A text is escaped character by character.
pub(super) type Escape = fn(char, &mut String);

/// Unit of a vendor's length limit. If its documentation only says "characters", we count UTF-16
/// units, which are never fewer than characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// UTF-16 units.
    Utf16,
    /// UTF-8 bytes.
    Bytes,
    /// UTF-8 bytes within a JSON string.
    Json,
}

impl Unit {
    /// Returns the length of `text`.
    pub(super) fn length(self, text: &str) -> usize {
        match self {
            Self::Utf16 => text.encode_utf16().count(),
            Self::Bytes => text.len(),
            Self::Json => text.chars().map(json_length).sum(),
        }
    }
}

/// Maximum length of a list line, in units (our choice): the reason of one region must leave room
/// for others.
const LINE_MAX: usize = 300;
/// Room for the note about omitted lines.
const MORE_MAX: usize = 40;

/// Format of a list for one vendor.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) escape: Escape,
    pub(super) unit: Unit,
    /// Text before and after each line.
    pub(super) around: (&'static str, &'static str),
    /// Maximum length of the list.
    pub(super) max: usize,
}

impl List {
    /// Formats as many of `lines` as fit, and the number of omitted ones.
    pub(super) fn format(&self, lines: &[String]) -> String {
        let (before, after) = self.around;
        let around = self.unit.length(before) + self.unit.length(after);
        let room = self.max.saturating_sub(MORE_MAX);
        let (mut list, mut used) = (String::new(), 0);
        for (at, line) in lines.iter().enumerate() {
            let line = truncate(line, self.escape, self.unit, LINE_MAX);
            used += around + self.unit.length(&line);
            if used > room {
                let more = lines.len() - at;
                return list + before + "… and " + &more.to_string() + " more" + after;
            }
            list = list + before + &line + after;
        }
        list
    }
}

/// Escapes nothing.
pub(super) fn plain(character: char, out: &mut String) {
    out.push(character);
}

/// Escapes HTML, for content and quoted attributes.
pub(super) fn html(character: char, out: &mut String) {
    match character {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        other => out.push(other),
    }
}

/// Returns `text` on one line, without characters that change the direction of the text after it.
/// Names and reasons of third parties must not distort the rest of a message.
pub(super) fn one_line(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let text: String =
        text.chars().filter(|c| !turns(*c)).map(|c| if breaks(c) { ' ' } else { c }).collect();
    text.trim().to_owned()
}

/// Escapes `text` and cuts it to `max` units with an ellipsis, between grapheme clusters.
pub(super) fn truncate(text: &str, escape: Escape, unit: Unit, max: usize) -> String {
    truncate_with(text, escape, unit, max, ELLIPSIS)
}

/// Works like [`truncate`], with another `ellipsis`.
pub(super) fn truncate_with(
    text: &str,
    escape: Escape,
    unit: Unit,
    max: usize,
    ellipsis: &str,
) -> String {
    match cut(text.graphemes(true), escape, unit, max, ellipsis) {
        // A grapheme cluster can have any number of combining marks; then it is split after all.
        Some(whole) if whole.is_empty() && !text.is_empty() => {
            let characters = text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]);
            cut(characters, escape, unit, max, ellipsis).unwrap_or_default() + ellipsis
        }
        Some(beginning) => beginning + ellipsis,
        None => escaped(text, escape),
    }
}

/// Returns the escaped `text`.
pub(super) fn escaped(text: &str, escape: Escape) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|character| escape(character, &mut out));
    out
}

/// Returns the longest beginning of the escaped `parts` that leaves room for an ellipsis, or `None`
/// if all parts fit.
fn cut<'t>(
    parts: impl Iterator<Item = &'t str>,
    escape: Escape,
    unit: Unit,
    max: usize,
    ellipsis: &str,
) -> Option<String> {
    let room = max.saturating_sub(unit.length(ellipsis));
    let (mut out, mut used, mut end) = (String::new(), 0, 0);
    for part in parts {
        let start = out.len();
        part.chars().for_each(|character| escape(character, &mut out));
        used += unit.length(&out[start..]);
        if used > max {
            out.truncate(end);
            return Some(out);
        }
        if used <= room {
            end = out.len();
        }
    }
    None
}

fn json_length(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        control if control < ' ' => 6,
        other => other.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_cut_between_grapheme_clusters() {
        for (text, unit, max, expected) in [
            ("", Unit::Utf16, 0, ""),
            ("abc", Unit::Utf16, 3, "abc"),
            ("abcd", Unit::Utf16, 3, "ab…"),
            ("👩‍👩‍👧 and 👩‍👩‍👧", Unit::Utf16, 20, "👩‍👩‍👧 and …"),
            ("🇩🇪🇫🇷", Unit::Utf16, 7, "🇩🇪…"),
            ("é́é́é́", Unit::Utf16, 5, "é́é́…"),
            ("äöü", Unit::Bytes, 5, "ä…"),
            (r#""""""#, Unit::Json, 7, r#"""…"#),
        ] {
            assert_eq!(truncate(text, plain, unit, max), expected, "{text}");
        }
    }

    #[test]
    fn overlong_grapheme_cluster_is_split() {
        let text = format!("e{}", "\u{301}".repeat(100));
        assert_eq!(truncate(&text, plain, Unit::Utf16, 3), "e\u{301}…");
    }

    #[test]
    fn escapes_are_counted_and_never_split() {
        assert_eq!(truncate("a<b>c", html, Unit::Utf16, 7), "a&lt;b…");
        assert_eq!(truncate("<<<<", html, Unit::Utf16, 8), "&lt;…");
    }

    #[test]
    fn one_line_removes_breaks_and_direction_marks() {
        assert_eq!(one_line(" a\r\nb\u{2028}c\u{202e}d\0"), "a  b cd");
        assert_eq!(one_line("שלום العالم"), "שלום العالم");
    }

    #[test]
    fn list_shows_number_of_omitted_lines() {
        let list = List { escape: html, unit: Unit::Utf16, around: ("<li>", "</li>"), max: 70 };
        let lines = |count| vec!["a<b".to_owned(); count];
        assert_eq!(list.format(&lines(1)), "<li>a&lt;b</li>");
        assert_eq!(list.format(&lines(9)), "<li>a&lt;b</li><li>a&lt;b</li><li>… and 7 more</li>");
    }

    proptest! {
        #[test]
        fn fitted_text_never_exceeds_the_limit(text in any::<String>(), max in 3_usize..200) {
            for unit in [Unit::Utf16, Unit::Bytes, Unit::Json] {
                for escape in [plain as Escape, html] {
                    let fitted = truncate(&text, escape, unit, max);
                    prop_assert!(unit.length(&fitted) <= max, "{fitted:?}");
                }
            }
        }
    }
}
