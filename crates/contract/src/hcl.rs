//! Texts in HCL, the configuration language of Terraform. `aloft terraform export` and the dashboard
//! write them.

/// Quotes a text and escapes everything that HCL would interpret.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    let mut characters = text.chars().peekable();
    let mut before = None;
    while let Some(character) = characters.next() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Doubling escapes it. With three in a row, it is ambiguous which two belong together.
            '$' | '%' if characters.peek() == Some(&'{') => {
                if before == Some(character) {
                    quoted.push_str(&unicode(character));
                } else {
                    quoted.extend([character, character]);
                }
            }
            unseen if is_unseen(unseen) => quoted.push_str(&unicode(unseen)),
            seen => quoted.push(seen),
        }
        before = Some(character);
    }
    quoted.push('"');
    quoted
}

/// Returns whether a character is invisible or changes the visible order of the text.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn unicode(character: char) -> String {
    format!("\\u{:04x}", u32::from(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_never_interpreted() {
        for (text, written) in [
            ("", r#""""#),
            ("a \"b\" \\c", r#""a \"b\" \\c""#),
            ("a\r\n\tb\u{7}", r#""a\r\n\tb\u0007""#),
            ("${a} %{if b} $ % {", r#""$${a} %%{if b} $ % {""#),
            ("$${a} $%{ %%{", r#""$\u0024{a} $%%{ %\u0025{""#),
            ("für 監視 🚀", r#""für 監視 🚀""#),
            ("a\u{202e}b\u{2028}", r#""a\u202eb\u2028""#),
        ] {
            assert_eq!(quoted(text), written);
        }
    }
}
