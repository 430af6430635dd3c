//! Patterns of `LIKE` for searches without regard to case. A statement compares `LOWER(column)` with the
//! first one, and the column with the second: SQLite knows the lower case of ASCII only.

/// Character that makes the next one literal in a pattern. Statements name it: `ESCAPE '\'`.
const ESCAPE: char = '\\';

/// Returns the patterns of texts that contain this one: in lower case, and as written.
pub(crate) fn containing(text: &str) -> [String; 2] {
    [pattern(&text.to_lowercase()), pattern(text)]
}

fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for letter in text.trim().chars() {
        if ['%', '_', ESCAPE].contains(&letter) {
            pattern.push(ESCAPE);
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_in_a_search_are_literal() {
        assert_eq!(containing(" API "), ["%api%", "%API%"]);
        assert_eq!(containing("100%_\\")[0], "%100\\%\\_\\\\%");
        assert_eq!(containing(""), ["%%", "%%"]);
    }
}
