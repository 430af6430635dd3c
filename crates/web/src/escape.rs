//! Escapes text for HTML and XML.

/// Escapes text for HTML and XML, in attributes and between tags. Omits characters that are invalid
/// in XML 1.0, because a single one makes a feed unreadable.
pub fn escaped(text: &str) -> String {
    let is_unknown = |letter: char| {
        letter.is_ascii_control() && !matches!(letter, '\t' | '\n' | '\r')
            || matches!(letter, '\u{fffe}' | '\u{ffff}')
    };
    let is_plain =
        |letter: char| !matches!(letter, '&' | '<' | '>' | '"' | '\'') && !is_unknown(letter);
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter if is_unknown(letter) => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}
