//! Texts as vendors take them: on one line, escaped, and no longer than they may be. How a vendor
//! escapes and what it counts is said by its own file.

use unicode_segmentation::UnicodeSegmentation;

/// Ends a text that was cut.
const ELLIPSIS: &str = "…";

/// Writes one character as a vendor's format has it. What it makes of a text is what it makes of
/// each character, one after the other.
pub(super) type Escape = fn(char, &mut String);

/// What a vendor counts. Where its documents only say "characters", that is UTF-16, of which a text
/// never has fewer units than characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Units of UTF-16.
    Utf16,
    /// Bytes of UTF-8.
    Bytes,
    /// Bytes of UTF-8 as they stand in a JSON text.
    Json,
}

impl Unit {
    /// How long `text` is.
    pub(super) fn length(self, text: &str) -> usize {
        match self {
            Self::Utf16 => text.encode_utf16().count(),
            Self::Bytes => text.len(),
            Self::Json => text.chars().map(json_length).sum(),
        }
    }
}

/// Longest line of a list, in units (ours): the reason of one region leaves room for the others'.
const LINE_MAX: usize = 300;
/// Room for the words that say how many lines a list leaves out.
const MORE_MAX: usize = 40;

/// How a vendor writes lines one below the other.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) escape: Escape,
    pub(super) unit: Unit,
    /// What stands before each line, and what behind it.
    pub(super) around: (&'static str, &'static str),
    /// Longest list.
    pub(super) max: usize,
}

impl List {
    /// As many of `lines` as fit, and how many more there are.
    pub(super) fn of(&self, lines: &[String]) -> String {
        let (before, after) = self.around;
        let around = self.unit.length(before) + self.unit.length(after);
        let room = self.max.saturating_sub(MORE_MAX);
        let (mut list, mut used) = (String::new(), 0);
        for (at, line) in lines.iter().enumerate() {
            let line = fit(line, self.escape, self.unit, LINE_MAX);
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

/// Leaves every character as it is.
pub(super) fn plain(character: char, out: &mut String) {
    out.push(character);
}

/// What of HTML must not come out of a text, in content and in quoted attributes.
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

/// `text` as one line, without what turns the direction of what follows it: names and reasons are
/// other people's, and must not change how the rest of a message looks.
pub(super) fn one_line(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let text: String =
        text.chars().filter(|c| !turns(*c)).map(|c| if breaks(c) { ' ' } else { c }).collect();
    text.trim().to_owned()
}

/// `text`, escaped and cut to `max` units with an ellipsis, between what people see as characters.
pub(super) fn fit(text: &str, escape: Escape, unit: Unit, max: usize) -> String {
    fit_with(text, escape, unit, max, ELLIPSIS)
}

/// As [`fit`], where a text that was cut ends in `ellipsis`.
pub(super) fn fit_with(
    text: &str,
    escape: Escape,
    unit: Unit,
    max: usize,
    ellipsis: &str,
) -> String {
    match cut(text.graphemes(true), escape, unit, max, ellipsis) {
        // One character can carry accents without end; then it comes apart after all.
        Some(whole) if whole.is_empty() && !text.is_empty() => {
            let characters = text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]);
            cut(characters, escape, unit, max, ellipsis).unwrap_or_default() + ellipsis
        }
        Some(beginning) => beginning + ellipsis,
        None => escaped(text, escape),
    }
}

/// `text`, escaped.
pub(super) fn escaped(text: &str, escape: Escape) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|character| escape(character, &mut out));
    out
}

/// The beginning of the escaped `parts` that leaves room for an ellipsis; `None` where all fit.
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
    fn texts_are_cut_between_what_people_see_as_characters() {
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
            assert_eq!(fit(text, plain, unit, max), expected, "{text}");
        }
    }

    #[test]
    fn a_character_with_accents_without_end_is_cut_inside() {
        let text = format!("e{}", "\u{301}".repeat(100));
        assert_eq!(fit(&text, plain, Unit::Utf16, 3), "e\u{301}…");
    }

    #[test]
    fn escapes_stay_whole_and_count() {
        assert_eq!(fit("a<b>c", html, Unit::Utf16, 7), "a&lt;b…");
        assert_eq!(fit("<<<<", html, Unit::Utf16, 8), "&lt;…");
    }

    #[test]
    fn a_line_has_no_breaks_and_does_not_turn_what_follows() {
        assert_eq!(one_line(" a\r\nb\u{2028}c\u{202e}d\0"), "a  b cd");
        assert_eq!(one_line("שלום العالم"), "שלום العالم");
    }

    #[test]
    fn a_list_says_how_many_lines_it_leaves_out() {
        let list = List { escape: html, unit: Unit::Utf16, around: ("<li>", "</li>"), max: 70 };
        let lines = |count| vec!["a<b".to_owned(); count];
        assert_eq!(list.of(&lines(1)), "<li>a&lt;b</li>");
        assert_eq!(list.of(&lines(9)), "<li>a&lt;b</li><li>a&lt;b</li><li>… and 7 more</li>");
    }

    proptest! {
        #[test]
        fn nothing_is_longer_than_it_may_be(text in any::<String>(), max in 3_usize..200) {
            for unit in [Unit::Utf16, Unit::Bytes, Unit::Json] {
                for escape in [plain as Escape, html] {
                    let fitted = fit(&text, escape, unit, max);
                    prop_assert!(unit.length(&fitted) <= max, "{fitted:?}");
                }
            }
        }
    }
}
