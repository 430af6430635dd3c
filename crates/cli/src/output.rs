//! What the commands print: for people as lines and tables, for programs as JSON with the contract's
//! form of field names (`createdAt`) and times as RFC 3339.

use std::fmt::Write as _;
use std::io::Write as _;

use rules::Timestamp;
use serde_json::Value;

/// Spaces between two columns.
const GAP: usize = 2;

/// Prints for people; a reader that went away, such as `head`, is no error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{}", text.trim_end_matches('\n'));
}

/// Prints for programs: one line.
pub(crate) fn print(mut value: Value) {
    write_times(&mut value);
    name_fields(&mut value);
    say(&value.to_string());
}

/// Prints to the standard error.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Lines whose columns stand below each other. What somebody wrote may break no line and send nothing
/// to the terminal: control characters are spaces here.
pub(crate) fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let plain = |cell: &String| cell.replace(char::is_control, " ");
    let rows: Vec<[String; COLUMNS]> = rows.iter().map(|row| row.each_ref().map(plain)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..COLUMNS).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            write!(line, "{cell:<width$}", width = width + GAP).expect("a string takes every text");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// An instant for people: to the minute.
pub(crate) fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    let minute = text.get(..16).unwrap_or(&text).replace('T', " ");
    format!("{minute} UTC")
}

/// Instants are milliseconds where they are kept, and texts where others read them.
fn write_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(write_times),
        Value::Object(fields) => {
            for (name, field) in fields {
                let is_time =
                    name.ends_with("_at") || name == "not_before" || name.ends_with("not_after");
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

/// Field names as the contract writes them in JSON. Columns of the database keep their own names.
fn name_fields(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(name_fields),
        Value::Object(fields) => {
            for (name, mut field) in std::mem::take(fields) {
                if name != "columns" {
                    name_fields(&mut field);
                }
                fields.insert(camel(&name), field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_written_as_texts_wherever_they_stand() {
        let mut value = json!({
            "created_at": 1_500, "revoked_at": null, "latency_us": 7,
            "hops": [{ "certificate": { "not_before": 0, "chain_not_after": 60_000 } }],
        });
        write_times(&mut value);
        insta::assert_snapshot!(value, @r#"{"created_at":"1970-01-01T00:00:01.500Z","revoked_at":null,"latency_us":7,"hops":[{"certificate":{"not_before":"1970-01-01T00:00:00.000Z","chain_not_after":"1970-01-01T00:01:00.000Z"}}]}"#);
    }

    // issue 16 point 27: "Use the contract's JSON field names in all output"
    #[test]
    fn fields_are_named_as_in_the_contract() {
        let mut value =
            json!({ "created_at": 1, "hops": [{ "first_byte_us": 2 }], "columns": { "a_b": 3 } });
        name_fields(&mut value);
        let expected =
            json!({ "createdAt": 1, "hops": [{ "firstByteUs": 2 }], "columns": { "a_b": 3 } });
        assert_eq!(value, expected);
    }

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [["a", "long", ""], ["longer", "é", "end"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "a       long\nlonger  é     end\n");
    }

    #[test]
    fn what_stands_in_a_table_breaks_no_line_and_sends_nothing_to_the_terminal() {
        let rows = [["a\nb", "\u{1b}[31mred\t"].map(str::to_owned)];
        assert_eq!(table(&rows), "a b   [31mred\n");
    }
}
