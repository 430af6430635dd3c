//! Rows of the blocks of monitors as people write them: headers and assertions. `aloft check` and
//! `aloft monitors` share these texts. Leaves validation to `rules`.

use rules::field::{Block, Field};
use rules::monitor::{
    HeaderAssertionDraft, HeaderDraft, JsonAssertionDraft, RecordAssertionDraft,
    StatusCodeAssertionDraft, TextAssertionDraft,
};
use rules::{JsonPath, TextComparator};
use serde_json::{Value as Json, json};

/// The flag of a block.
#[derive(Debug)]
pub(crate) struct RowFormat {
    /// Name of the block in the tables.
    pub(crate) block: &'static str,
    pub(crate) flag: &'static str,
    pub(crate) value_name: &'static str,
    pub(crate) example: &'static str,
    /// Returns the row in the contract's JSON, or what is missing.
    pub(crate) parse: fn(&str) -> Result<Json, &'static str>,
}

/// Flags of all blocks of monitors.
const FORMATS: &[RowFormat] = &[
    RowFormat {
        block: "headers",
        flag: "header",
        value_name: "NAME: VALUE",
        example: "Accept: text/html",
        parse: |text| header(text).map(|it| json!({ "key": it.key, "value": it.value })),
    },
    RowFormat {
        block: "status_code_assertions",
        flag: "expect-status",
        value_name: "COMPARATOR CODE",
        example: "eq 200",
        parse: |text| {
            status(text).map(|it| json!({ "target": it.target, "comparator": it.comparator }))
        },
    },
    RowFormat {
        block: "body_assertions",
        flag: "expect-body",
        value_name: "COMPARATOR TEXT",
        example: "contains ok",
        parse: |text| {
            let it = body(text);
            Ok(json!({ "target": it.target, "comparator": it.comparator }))
        },
    },
    RowFormat {
        block: "json_assertions",
        flag: "expect-json",
        value_name: "PATH COMPARATOR TEXT",
        example: "$.status eq ok",
        parse: |text| {
            let json = |it: JsonAssertionDraft| json!({ "path": it.path, "target": it.target, "comparator": it.comparator });
            json_value(text).map(json)
        },
    },
    RowFormat {
        block: "header_assertions",
        flag: "expect-header",
        value_name: "NAME COMPARATOR TEXT",
        example: "content-type contains json",
        parse: |text| {
            let json = |it: HeaderAssertionDraft| json!({ "key": it.key, "target": it.target, "comparator": it.comparator });
            header_text(text).map(json)
        },
    },
    RowFormat {
        block: "record_assertions",
        flag: "expect-record",
        value_name: "TYPE COMPARATOR TEXT",
        example: "MX contains mail",
        parse: |text| {
            let json = |it: RecordAssertionDraft| json!({ "record": it.record, "target": it.target, "comparator": it.comparator });
            record(text).map(json)
        },
    },
];

/// Returns the flag of a block.
pub(crate) fn format_of(block: &Block) -> &'static RowFormat {
    let format = FORMATS.iter().find(|format| format.block == block.name);
    format.expect("each block of a monitor has a format, as a test checks")
}

/// Returns a row as people write it, without secrets.
pub(crate) fn text(block: &Block, row: &Json) -> String {
    let value = |field: &Field| {
        let value = &row[field.name];
        if field.is_absent_for_readers() {
            return "…".to_owned();
        }
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    };
    let is_last = |field: &&Field| ["target", "value"].contains(&field.name);
    let named = |name: &str| block.fields.iter().find(|field| field.name == name);
    let first = block.fields.iter().find(|field| !is_last(field) && field.name != "comparator");
    let last = block.fields.iter().find(is_last);
    let words = [first, named("comparator"), last].into_iter().flatten().map(value);
    let separator = if named("comparator").is_some() { " " } else { ": " };
    words.collect::<Vec<_>>().join(separator)
}

/// Parses a header of the request: `Name: value`.
pub(crate) fn header(text: &str) -> Result<HeaderDraft, &'static str> {
    let (key, value) = text.split_once(':').ok_or("has no colon; write `Name: value`")?;
    Ok(HeaderDraft { key: Some(key.trim().to_owned()), value: Some(value.trim().to_owned()) })
}

/// Parses an assertion on the status code: `eq 200`.
pub(crate) fn status(text: &str) -> Result<StatusCodeAssertionDraft, &'static str> {
    let (comparator, target) = first_word(text);
    let target = target.trim().parse().map_err(|_| "has no code; write `eq 200`")?;
    Ok(StatusCodeAssertionDraft { target: Some(target), comparator: Some(comparator.to_owned()) })
}

/// Parses an assertion on the body: `contains ok`.
pub(crate) fn body(text: &str) -> TextAssertionDraft {
    let (comparator, target) = first_word(text);
    TextAssertionDraft { target: Some(target.to_owned()), comparator: Some(comparator.to_owned()) }
}

/// Parses an assertion on values in a body of JSON: `$.status eq ok`. A path may contain spaces and the
/// names of comparators, so the first comparator after a valid path ends it. If no path is valid, the
/// first comparator does, so that `rules` names the error.
pub(crate) fn json_value(text: &str) -> Result<JsonAssertionDraft, &'static str> {
    let words = text.match_indices(' ').map(|(index, _)| (index, first_word(&text[index..])));
    let mut comparators = words.filter(|(_, (word, _))| TextComparator::WORDS.contains(word));
    let follows_path = |(end, _): &(usize, _)| JsonPath::parse(text[..*end].trim()).is_ok();
    let first = comparators.clone().next();
    let Some((end, (comparator, target))) = comparators.find(follows_path).or(first) else {
        return Err("has no comparator; write `$.status eq ok`");
    };
    Ok(JsonAssertionDraft {
        path: Some(text[..end].trim().to_owned()),
        target: Some(target.to_owned()),
        comparator: Some(comparator.to_owned()),
    })
}

/// Parses an assertion on a response header: `content-type contains json`.
pub(crate) fn header_text(text: &str) -> Result<HeaderAssertionDraft, &'static str> {
    let (key, rest) = first_word(text);
    let (comparator, target) = first_word(rest);
    if comparator.is_empty() {
        return Err("has no comparator; write `content-type contains json`");
    }
    Ok(HeaderAssertionDraft {
        key: Some(key.to_owned()),
        target: Some(target.to_owned()),
        comparator: Some(comparator.to_owned()),
    })
}

/// Parses an assertion on the records of a type: `MX contains mail`.
pub(crate) fn record(text: &str) -> Result<RecordAssertionDraft, &'static str> {
    let (record, rest) = first_word(text);
    let (comparator, target) = first_word(rest);
    if comparator.is_empty() {
        return Err("has no comparator; write `A eq 203.0.113.10`");
    }
    Ok(RecordAssertionDraft {
        record: Some(record.to_owned()),
        target: Some(target.to_owned()),
        comparator: Some(comparator.to_owned()),
    })
}

/// Splits a text at the first space.
fn first_word(text: &str) -> (&str, &str) {
    text.trim_start().split_once(' ').unwrap_or((text.trim_start(), ""))
}

#[cfg(test)]
mod tests {
    use rules::{MonitorKind, tables};

    use super::*;

    #[test]
    fn comparator_follows_a_valid_path() {
        for (text, path, comparator, target) in [
            ("$.status eq ok", "$.status", "eq", "ok"),
            ("$['a eq b'] eq x", "$['a eq b']", "eq", "x"),
            ("$.a[?@.n == ' lt '] eq 1", "$.a[?@.n == ' lt ']", "eq", "1"),
            ("$.a eq b lt c", "$.a", "eq", "b lt c"),
            ("$.a[ eq x lt y", "$.a[", "eq", "x lt y"),
        ] {
            let row = json_value(text).unwrap();
            let read = [row.path, row.comparator, row.target].map(Option::unwrap);
            assert_eq!(read, [path, comparator, target], "{text}");
        }
        assert!(json_value("$.status is ok").is_err());
    }

    #[test]
    fn each_block_reads_back_its_example() {
        for kind in MonitorKind::ALL {
            for block in tables::monitor(*kind).blocks {
                let format = format_of(block);
                let row = (format.parse)(format.example).unwrap();
                let names: Vec<_> = block.fields.iter().map(|field| field.name).collect();
                assert!(names.iter().all(|name| row[*name] != Json::Null), "{row}");
                let expected = format.example.replace(": text/html", ": …");
                assert_eq!(text(block, &row), expected);
            }
        }
    }
}
