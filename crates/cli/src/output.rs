//! Prints results: lines and tables for people, and JSON for programs. JSON uses the contract's
//! field names (`createdAt`) and RFC 3339 times.

use rules::field::json_name;
use std::fmt::Write as _;
use std::io::Write as _;

use rules::Timestamp;
use serde_json::Value;

/// Spaces between two columns.
const GAP: usize = 2;

/// Prints a text for people. A closed pipe, such as with `head`, is not an error.
pub(crate) fn print_text(text: &str) {
    let text = text.trim_end_matches('\n').replace(|it| it != '\n' && is_unsafe(it), " ");
    report_loss(writeln!(std::io::stdout(), "{text}"));
}

/// Returns JSON with the names and the times of the contract.
pub(crate) fn contract_json(mut value: Value) -> Value {
    write_times(&mut value);
    name_fields(&mut value);
    value
}

/// Prints a line. Returns false if nobody reads it, such as after the end of `head`.
pub(crate) fn try_print(text: &str) -> bool {
    report_loss(writeln!(std::io::stdout(), "{text}"))
}

/// Prints to stderr.
pub(crate) fn print_stderr(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Formats rows with aligned columns. Control characters in cells become spaces, so that texts
/// written by users cannot break lines or control the terminal.
pub(crate) fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    table_of(rows)
}

/// Like [`table`], with a number of columns that only the rows know. All rows have the same.
pub(crate) fn table_of(rows: &[impl AsRef<[String]>]) -> String {
    let cells = |row: &[String]| row.iter().map(|cell| one_line(cell)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| cells(row.as_ref())).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            write!(line, "{cell:<width$}", width = width + GAP)
                .expect("writing to a string cannot fail");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Replaces control characters in a text written by users by spaces, with those that turn the direction of
/// the text around them.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(is_unsafe, " ")
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Ends the program if an output is lost, such as on a full disk. A closed pipe, such as with `head`, is not
/// an error.
fn report_loss(written: std::io::Result<()>) -> bool {
    match written {
        Ok(()) => true,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => false,
        Err(error) => {
            print_stderr(&format!(
                "error: the output was not written: {error}; the command itself succeeded"
            ));
            std::process::exit(1)
        }
    }
}

/// Formats an instant to the minute.
pub(crate) fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    let minute = text.get(..16).unwrap_or(&text).replace('T', " ");
    format!("{minute} UTC")
}

/// Converts instants in milliseconds to RFC 3339 text.
fn write_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(write_times),
        Value::Object(fields) => {
            for (name, field) in fields {
                let is_time = name == "at"
                    || name.ends_with("_at")
                    || name == "not_before"
                    || name.ends_with("not_after");
                match field.as_i64().filter(|_| is_time) {
                    Some(millis) => {
                        *field = Value::String(Timestamp::from_millis(millis).to_string());
                    }
                    None => write_times(field),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Renames fields to the contract's JSON names. Columns of the database keep their own names.
fn name_fields(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(name_fields),
        Value::Object(fields) => {
            for (name, mut field) in std::mem::take(fields) {
                if name != "columns" {
                    name_fields(&mut field);
                }
                fields.insert(json_name(&name), field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_times_are_printed_as_text() {
        let mut value = json!({
            "created_at": 1_500, "revoked_at": null, "latency_us": 7,
            "hops": [{ "certificate": { "not_before": 0, "chain_not_after": 60_000 } }],
        });
        write_times(&mut value);
        insta::assert_snapshot!(value, @r#"{"created_at":"1970-01-01T00:00:01.500Z","revoked_at":null,"latency_us":7,"hops":[{"certificate":{"not_before":"1970-01-01T00:00:00.000Z","chain_not_after":"1970-01-01T00:01:00.000Z"}}]}"#);
    }

    // issue 16 point 27: "Use the contract's JSON field names in all output"
    #[test]
    fn fields_have_the_names_of_the_contract() {
        let mut value =
            json!({ "created_at": 1, "hops": [{ "first_byte_us": 2 }], "columns": { "a_b": 3 } });
        name_fields(&mut value);
        let expected =
            json!({ "createdAt": 1, "hops": [{ "firstByteUs": 2 }], "columns": { "a_b": 3 } });
        assert_eq!(value, expected);
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [["a", "long", ""], ["longer", "é", "end"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "a       long\nlonger  é     end\n");
    }

    #[test]
    fn control_characters_in_cells_become_spaces() {
        let rows = [["a\nb", "\u{1b}[31mred\t"].map(str::to_owned)];
        assert_eq!(table(&rows), "a b   [31mred\n");
        assert_eq!(one_line("a\u{202E}b\u{2069}c"), "a b c");
    }
}
