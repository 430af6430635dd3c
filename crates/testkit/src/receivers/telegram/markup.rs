//! Parses Telegram's two kinds of markup to plain text.
//! Reference: <https://core.telegram.org/bots/api#html-style>, `#markdownv2-style`

/// Supported tags.
const TAGS: [&str; 16] = [
    "b",
    "strong",
    "i",
    "em",
    "u",
    "ins",
    "s",
    "strike",
    "del",
    "span",
    "tg-spoiler",
    "a",
    "tg-emoji",
    "code",
    "pre",
    "blockquote",
];
/// Supported named entities.
const NAMED: [(&str, char); 4] = [("lt", '<'), ("gt", '>'), ("amp", '&'), ("quot", '"')];
/// Characters that `MarkdownV2` requires to be escaped wherever they have no meaning.
const RESERVED: &str = ">#+-=|{}.!()]";
/// Characters that begin and end an entity in `MarkdownV2`.
const PAIRED: &str = "*_~`";

/// Returns the plain text of Telegram's HTML.
pub(super) fn html(text: &str) -> Result<String, String> {
    let (mut plain, mut open) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        rest = match first {
            '<' => tag(rest, at, &mut open)?,
            '&' => {
                let (character, length) = entity(rest);
                plain.push(character);
                &rest[length..]
            }
            other => {
                plain.push(other);
                &rest[other.len_utf8()..]
            }
        };
    }
    match open.pop() {
        Some(name) => Err(format!("Can't find end tag corresponding to start tag \"{name}\"")),
        None => Ok(plain),
    }
}

/// Parses the tag at the beginning of `rest` and returns the text after it.
fn tag<'t>(rest: &'t str, at: usize, open: &mut Vec<String>) -> Result<&'t str, String> {
    let end = rest.find('>').ok_or(format!("Unclosed start tag at byte offset {at}"))?;
    let inside = &rest[1..end];
    if let Some(name) = inside.strip_prefix('/') {
        let expected = open.pop().ok_or(format!("Unexpected end tag at byte offset {at}"))?;
        if expected != name.trim_end() {
            let found = format!("expected \"</{expected}>\", found \"</{name}>\"");
            return Err(format!("Unmatched end tag at byte offset {at}, {found}"));
        }
        return Ok(&rest[end + 1..]);
    }
    let (name, attributes) = inside.split_once(' ').unwrap_or((inside, ""));
    let name = name.to_ascii_lowercase();
    if !TAGS.contains(&name.as_str()) {
        return Err(format!("Unsupported start tag \"{name}\" at byte offset {at}"));
    }
    let quoted = attributes.matches('"').count();
    if quoted % 2 == 1 || (name == "a" && !attributes.starts_with("href=\"")) {
        return Err(format!("Unexpected end of the tag \"{name}\" at byte offset {at}"));
    }
    open.push(name);
    Ok(&rest[end + 1..])
}

/// Returns the first character of `rest` and its length in bytes. Unknown entities stay unchanged.
fn entity(rest: &str) -> (char, usize) {
    let none = ('&', 1);
    let Some(end) = rest.find(';') else { return none };
    let name = &rest[1..end];
    let number = match (name.strip_prefix("#x"), name.strip_prefix('#')) {
        (Some(hexadecimal), _) => u32::from_str_radix(hexadecimal, 16).ok(),
        (None, Some(decimal)) => decimal.parse().ok(),
        (None, None) => None,
    };
    let named = NAMED.iter().find(|(known, _)| *known == name).map(|(_, character)| *character);
    match named.or(number.and_then(char::from_u32)) {
        Some(character) => (character, end + 1),
        None => none,
    }
}

/// Returns the plain text of `MarkdownV2` without links. Fails if a reserved character is not
/// escaped or an entity does not end.
pub(super) fn markdown(text: &str) -> Result<String, String> {
    let (mut plain, mut open) = (String::new(), Vec::new());
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        let in_code = open.last() == Some(&'`');
        match character {
            '\\' => plain.extend(characters.next().map(|(_, escaped)| escaped)),
            '`' if in_code => {
                open.pop();
            }
            other if in_code => plain.push(other),
            mark if PAIRED.contains(mark) => {
                if open.last() == Some(&mark) {
                    open.pop();
                } else {
                    open.push(mark);
                }
            }
            reserved if RESERVED.contains(reserved) || reserved == '[' => {
                return Err(format!(
                    "Character '{reserved}' is reserved and must be escaped with the preceding \
                     '\\' (byte offset {at})"
                ));
            }
            other => plain.push(other),
        }
    }
    match open.pop() {
        Some(mark) => Err(format!("Can't find end of the entity that begins with '{mark}'")),
        None => Ok(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_parses_like_telegrams() {
        for (text, expected) in [
            ("<b>a</b> &lt;c&gt; &amp;&quot;", Ok("a <c> &\"")),
            ("<a href=\"https://a.example/?b&amp;c\">d</a>", Ok("d")),
            ("&nbsp;&#39;&#x41;", Ok("&nbsp;'A")),
            ("a < b", Err("Unclosed start tag at byte offset 2")),
            ("<h1>a</h1>", Err("Unsupported start tag \"h1\" at byte offset 0")),
            ("<b>a", Err("Can't find end tag corresponding to start tag \"b\"")),
            ("a</b>", Err("Unexpected end tag at byte offset 1")),
        ] {
            assert_eq!(html(text), expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
        let crossed = html("<b><i>a</b></i>").unwrap_err();
        assert!(crossed.starts_with("Unmatched end tag at byte offset 7"), "{crossed}");
    }

    #[test]
    fn reserved_markdown_characters_must_be_escaped() {
        assert_eq!(markdown(r"*a\.b* `c.d`").as_deref(), Ok("a.b c.d"));
        for text in ["a.b", "*a", "a [b", "1 + 1"] {
            assert!(markdown(text).is_err(), "{text}");
        }
    }
}
