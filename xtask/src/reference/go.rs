//! Formats a request as a call of the Go client, as gofmt would.

use serde_json::Value;

use super::contract::{Contract, Field, FieldKind, Method, package_of};
use super::example::{WIDTH, holds_objects};
use super::scenario::Example;

/// Width of a tab.
const TAB: usize = 4;
/// Packages whose field of the client is an abbreviation.
const FIELDS: [(&str, &str); 1] = [("api_key.v1", "APIKey")];

/// Formats a call with the client.
pub(super) fn call(contract: &Contract, method: &Method, example: &Example) -> String {
    let nothing = contract.message(&method.response).fields.is_empty();
    let taken = if nothing { "_" } else { "response" };
    let service = client(method.package());
    let head = format!("{taken}, err := {service}.{}(ctx, ", method.name);
    let place = Place { depth: 0, column: head.len() };
    let request = Writer(contract).object(&method.request, "&", &example.request, place);
    format!("{head}{request})\n")
}

/// Returns the field of the client with the service of a package.
pub(super) fn client(package: &str) -> String {
    let field = FIELDS.iter().find(|(name, _)| *name == package);
    let name = || capitalised(package.split('.').next().unwrap_or_default());
    format!("client.{}", field.map_or_else(name, |(_, field)| (*field).to_owned()))
}

/// Returns the import path of a package's messages.
pub(super) fn import_path(package: &str) -> String {
    format!("aloft.dev/client/gen/{}", package.replace('.', "/"))
}

/// Returns the name of the Go package of a package's messages.
pub(super) fn package_name(package: &str) -> String {
    package.replace(['_', '.'], "")
}

/// Position of a value: its indentation in tabs, and the width of the text before it.
#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    column: usize,
}

struct Writer<'a>(&'a Contract);

impl Writer<'_> {
    /// Formats a message. `before` is the text before its type.
    fn object(&self, full: &str, before: &str, value: &Value, place: Place) -> String {
        let name = full.rsplit('.').next().unwrap_or(full);
        let head = format!("{before}{}.{name}", package_name(package_of(full)));
        self.fields(full, &head, value, place)
    }

    /// Formats a message after its type, which lists leave out.
    fn fields(&self, full: &str, head: &str, value: &Value, place: Place) -> String {
        let message = self.0.message(full);
        let given = value.as_object().into_iter().flatten();
        let given: Vec<(String, &Field, &Value)> = given
            .map(|(json, value)| {
                let field = message.fields.iter().find(|field| field.json == *json);
                let field = field.expect("an example has only fields of its message");
                (capitalised(&field.name), field, value)
            })
            .collect();
        let inline = Place { depth: place.depth, column: 0 };
        let parts = given.iter();
        let parts =
            parts.map(|(name, it, value)| format!("{name}: {}", self.value(it, value, inline)));
        let line = format!("{head}{{{}}}", parts.collect::<Vec<_>>().join(", "));
        let fits = place.column + line.chars().count() <= WIDTH;
        if given.is_empty() || fits && !holds_objects(value) {
            return line;
        }
        let depth = place.depth + 1;
        let entry = |(name, field, value): (String, &Field, &Value)| {
            let column = depth * TAB + name.len() + 2;
            let text = self.value(field, value, Place { depth, column });
            (name, text)
        };
        let entries: Vec<_> = given.into_iter().map(entry).collect();
        format!("{head}{{\n{}{}}}", aligned(&entries, depth), "\t".repeat(place.depth))
    }

    fn value(&self, field: &Field, value: &Value, place: Place) -> String {
        if field.repeated {
            return self.list(field, value, place);
        }
        let quoted = value.to_string();
        match &field.kind {
            FieldKind::Text if field.can_be_absent => format!("proto.String({quoted})"),
            FieldKind::Number if field.can_be_absent => format!("proto.Int32({quoted})"),
            FieldKind::Flag if field.can_be_absent => format!("proto.Bool({quoted})"),
            FieldKind::Text | FieldKind::Number | FieldKind::Flag => quoted,
            FieldKind::Time => time(value.as_str().unwrap_or_default()),
            FieldKind::Mask => mask(value.as_str().unwrap_or_default()),
            FieldKind::Object(full) => self.object(full, "&", value, place),
        }
    }

    fn list(&self, field: &Field, value: &Value, place: Place) -> String {
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        let head = match &field.kind {
            FieldKind::Object(full) => {
                let name = full.rsplit('.').next().unwrap_or(full);
                format!("[]*{}.{name}", package_name(package_of(full)))
            }
            FieldKind::Number => "[]int32".to_owned(),
            FieldKind::Text | FieldKind::Flag | FieldKind::Time | FieldKind::Mask => {
                "[]string".to_owned()
            }
        };
        let item = |value: &Value, place: Place| match &field.kind {
            FieldKind::Object(full) => self.fields(full, "", value, place),
            FieldKind::Text
            | FieldKind::Number
            | FieldKind::Flag
            | FieldKind::Time
            | FieldKind::Mask => value.to_string(),
        };
        let inline = Place { depth: place.depth, column: 0 };
        let line: Vec<_> = items.iter().map(|value| item(value, inline)).collect();
        let line = format!("{head}{{{}}}", line.join(", "));
        if !holds_objects(value) && place.column + line.chars().count() <= WIDTH {
            return line;
        }
        let depth = place.depth + 1;
        let inner = Place { depth, column: depth * TAB };
        let tabs = "\t".repeat(depth);
        let line = |value| format!("{tabs}{},\n", item(value, inner));
        let lines: Vec<_> = items.iter().map(line).collect();
        format!("{head}{{\n{}{}}}", lines.concat(), "\t".repeat(place.depth))
    }
}

/// Formats fields, one per line. gofmt aligns the values of consecutive fields of one line.
fn aligned(entries: &[(String, String)], depth: usize) -> String {
    let tabs = "\t".repeat(depth);
    let mut text = String::new();
    for group in entries.chunk_by(|(_, a), (_, b)| !a.contains('\n') && !b.contains('\n')) {
        let width = group.iter().map(|(name, _)| name.len()).max().unwrap_or_default() + 1;
        for (name, value) in group {
            let key = format!("{name}:");
            text += &format!("{tabs}{key:<width$} {value},\n");
        }
    }
    text
}

/// Formats an instant such as `2026-01-04T02:00:00Z`.
fn time(text: &str) -> String {
    let numbers = text.split(['-', 'T', ':', 'Z']).filter(|part| !part.is_empty());
    let numbers: Vec<_> = numbers
        .map(|part| match part.trim_start_matches('0') {
            "" => "0",
            number => number,
        })
        .collect();
    format!("timestamppb.New(time.Date({}, 0, time.UTC))", numbers.join(", "))
}

/// Formats a mask, whose JSON has the names of JSON.
fn mask(text: &str) -> String {
    let names: Vec<_> = text.split(',').map(|name| format!("\"{}\"", snake(name))).collect();
    format!("&fieldmaskpb.FieldMask{{Paths: []string{{{}}}}}", names.join(", "))
}

fn snake(name: &str) -> String {
    let letter = |letter: char| match letter {
        'A'..='Z' => format!("_{}", letter.to_ascii_lowercase()),
        other => other.to_string(),
    };
    name.chars().map(letter).collect()
}

/// Returns the name of a field in Go: `DegradedAt` for `degraded_at`.
fn capitalised(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_form_of_go() {
        let expected = "timestamppb.New(time.Date(2026, 1, 4, 2, 0, 0, 0, time.UTC))";
        assert_eq!(time("2026-01-04T02:00:00Z"), expected);
        let expected = "&fieldmaskpb.FieldMask{Paths: []string{\"name\", \"degraded_at\"}}";
        assert_eq!(mask("name,degradedAt"), expected);
        assert_eq!(client("api_key.v1"), "client.APIKey");
        assert_eq!(client("status_page.v1"), "client.StatusPage");
    }

    #[test]
    fn consecutive_short_fields_are_aligned() {
        let entry = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let entries =
            [entry("Id", "1"), entry("Name", "2"), entry("List", "{\n}"), entry("A", "3")];
        assert_eq!(aligned(&entries, 1), "\tId:   1,\n\tName: 2,\n\tList: {\n},\n\tA: 3,\n");
    }
}
