//! Conditions of Gatus on values of a body of JSON, such as `[BODY].user.name == john`
//! (`config/endpoint/placeholder.go`, `jsonpath/jsonpath.go`).

use rules::TextComparator;

use crate::convert;

/// Value of the body that a condition names, and what it takes of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyValue {
    /// `[BODY].path`
    Whole(String),
    /// `len([BODY].path)`
    Length(String),
    /// `has([BODY].path)`
    Exists(String),
}

impl BodyValue {
    /// Returns the value, with its path as JSONPath. `None` if the side names no path, or none that both
    /// have.
    pub(super) fn of(side: &str) -> Option<Self> {
        let of_function = |name: &str| side.strip_prefix(name)?.strip_suffix(')');
        if let Some(inside) = of_function("len(") {
            return json_path(inside).map(Self::Length);
        }
        if let Some(inside) = of_function("has(") {
            return json_path(inside).map(Self::Exists);
        }
        json_path(side).map(Self::Whole)
    }

    /// Returns path, comparator and target of an assertion for a comparison with this text or number.
    pub(super) fn assertion(
        self,
        operator: &str,
        right: &str,
    ) -> Option<(String, TextComparator, String)> {
        let (path, comparator, target) = match self {
            Self::Whole(path) => (path, convert::comparator(operator)?, right),
            Self::Length(path) => match (operator, right) {
                (">" | "!=", "0") | (">=", "1") => (path, TextComparator::NotEmpty, ""),
                ("==", "0") => (path, TextComparator::Empty, ""),
                _ => return None,
            },
            // The empty expression matches every value, and no value satisfies `not_matches` only.
            Self::Exists(path) => match (operator, right) {
                ("==", "true") | ("!=", "false") => (path, TextComparator::Matches, ""),
                ("==", "false") | ("!=", "true") => (path, TextComparator::NotMatches, ""),
                _ => return None,
            },
        };
        Some((path, comparator, target.to_owned()))
    }
}

/// Returns the JSONPath of `[BODY].a.b[0]`. Gatus separates names by dots and takes everything else in
/// them literally.
fn json_path(side: &str) -> Option<String> {
    let (placeholder, rest) = side.split_at_checked("[BODY]".len())?;
    if !placeholder.eq_ignore_ascii_case("[BODY]") || rest.is_empty() {
        return None;
    }
    let mut path = "$".to_owned();
    for (index, part) in rest.split('.').enumerate() {
        let (name, indexes) = part.find('[').map_or((part, ""), |at| part.split_at(at));
        let is_start = index == 0;
        if name.is_empty() != is_start {
            return None;
        }
        if !is_start {
            path.push_str(&member(name));
        }
        path.push_str(&whole_indexes(indexes)?);
    }
    Some(path)
}

/// Returns `[0][1]` if it has only indexes.
fn whole_indexes(text: &str) -> Option<String> {
    let mut rest = text;
    while !rest.is_empty() {
        let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
        if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        rest = after;
    }
    Some(text.to_owned())
}

/// Returns the step to a member of this name.
fn member(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_short = name.chars().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit());
    if is_short {
        return format!(".{name}");
    }
    format!("['{}']", name.replace('\\', r"\\").replace('\'', r"\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholder_becomes_a_path() {
        for (side, expected) in [
            ("[BODY].user.name", Some("$.user.name")),
            ("[body].data[0].id", Some("$.data[0].id")),
            ("[BODY][0][1].x", Some("$[0][1].x")),
            ("[BODY].some-key.1st", Some("$['some-key']['1st']")),
            ("[BODY].it's", Some(r"$['it\'s']")),
            ("[BODY]", None),
            ("[BODY].", None),
            ("[BODY].a..b", None),
            ("[BODY].a[x]", None),
            ("[STATUS]", None),
        ] {
            let path = json_path(side);
            assert_eq!(path.as_deref(), expected, "{side}");
            assert!(path.is_none_or(|path| rules::JsonPath::parse(&path).is_ok()), "{side}");
        }
    }
}
