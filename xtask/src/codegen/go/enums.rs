//! Generates enums as constants, and as functions that list the values.

use super::{camel, header};
use crate::codegen::typescript::words::{LISTS, List};

/// Enums whose constants begin with another name.
const RENAMED: [(&str, &str); 1] = [("KnownReason", "Reason")];

/// Generates the package.
pub(super) fn package() -> String {
    let declared: Vec<_> = LISTS.iter().map(declared).collect();
    format!(
        "{}// Package enums has the values of enumerated fields. A newer service may have others.\npackage enums\n\n{}",
        header("crates/rules"),
        declared.join("\n")
    )
}

fn declared(list: &List) -> String {
    let List { name, constant, values, about, .. } = list;
    let renamed = RENAMED.iter().find(|(from, _)| from == name);
    let prefix = renamed.map_or(*name, |(_, to)| *to);
    let names: Vec<_> = values.iter().map(|value| format!("{prefix}{}", suffix(value))).collect();
    // As gofmt aligns them.
    let width = names.iter().map(String::len).max().unwrap_or_default();
    let line = |(name, value): (&String, &&str)| format!("\t{name:<width$} = \"{value}\"\n");
    let lines: Vec<_> = names.iter().zip(*values).map(line).collect();
    let all = camel(&constant.to_lowercase());
    format!(
        "// {about}.\nconst (\n{})\n\n// {all} returns all values: {}.\nfunc {all}() []string {{\n\treturn []string{{{}}}\n}}\n",
        lines.concat(),
        lower_first(about),
        names.join(", ")
    )
}

/// Returns the part of a constant's name that tells its value. Words in capitals, such as `GET`, keep
/// them, except for several words, such as `NOT_FOUND`, and longer ones.
fn suffix(value: &str) -> String {
    let is_word = value.contains('_') || value.len() > 7;
    let is_upper = value.chars().all(|it| it.is_ascii_uppercase() || it == '_');
    if is_upper && is_word { camel(&value.to_lowercase()) } else { camel(value) }
}

fn lower_first(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    first.to_lowercase() + rest
}

#[cfg(test)]
mod tests {
    use super::suffix;

    #[test]
    fn constants_are_named_by_their_values() {
        let named = ["GET", "OPTIONS", "NOT_FOUND", "INTERNAL", "email-domain"].map(suffix);
        assert_eq!(named, ["GET", "OPTIONS", "NotFound", "Internal", "EmailDomain"]);
    }
}
