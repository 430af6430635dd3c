//! Cells of CSV files (RFC 4180) with texts of users.

/// First characters that spreadsheets take for the start of a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Returns a text as a quoted cell. A text that a spreadsheet would run as a formula gets an apostrophe.
pub fn cell(text: &str) -> String {
    let guard = if text.starts_with(FORMULA) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_never_formulas() {
        assert_eq!(cell("API, \"prod\""), "\"API, \"\"prod\"\"\"");
        assert_eq!(cell("=1+1"), "\"'=1+1\"");
        assert_eq!(cell("API"), "\"API\"");
    }
}
