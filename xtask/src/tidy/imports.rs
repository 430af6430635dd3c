//! Reads the paths that a Rust file names: `use` trees and paths in code.

/// Returns the paths that a module names, from the root of its crate. `is_child` tells whether a
/// name is a module of its own.
pub(super) fn imports(
    code: &str,
    module: &[String],
    is_child: impl Fn(&str) -> bool,
) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, start) in starts(code) {
        let end = at + start.len();
        for path in tree(&code[end..]) {
            found.extend(resolve(start, path, module));
        }
    }
    for rest in code.split("use ").skip(1) {
        let statement = rest.split(';').next().unwrap_or_default();
        for path in tree(&format!("::{{{statement}}}")) {
            if path.first().is_some_and(|first| is_child(first)) {
                found.push([module, &path].concat());
            }
        }
    }
    found
}

/// Returns the positions of `crate`, `super` and `self` at the beginning of a path.
fn starts(code: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    for word in ["crate", "super", "self"] {
        for (at, _) in code.match_indices(word) {
            let before = code[..at].chars().next_back();
            let joined = before.is_some_and(|it| it.is_alphanumeric() || ['_', ':'].contains(&it));
            if !joined && code[at + word.len()..].starts_with("::") {
                found.push((at, word));
            }
        }
    }
    found
}

/// Reads `::a::{b, c::d}` and returns `a::b` and `a::c::d`. Stops where the path ends.
fn tree(code: &str) -> Vec<Vec<String>> {
    let Some(rest) = code.strip_prefix("::") else { return vec![Vec::new()] };
    if let Some(group) = rest.strip_prefix('{') {
        return items(group).iter().flat_map(|item| tree(&format!("::{}", item.trim()))).collect();
    }
    let length = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
    if length == 0 {
        return vec![Vec::new()];
    }
    let (name, rest) = rest.split_at(length);
    let with_name = |path: Vec<String>| [vec![name.to_owned()], path].concat();
    tree(rest).into_iter().map(with_name).collect()
}

/// Splits the inside of a group at its own commas, up to its closing brace.
fn items(group: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut items) = (0, 0, Vec::new());
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                items.push(&group[begin..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&group[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    items.retain(|item| !item.trim().is_empty());
    items
}

/// Returns the path from the root of the crate, or `None` if it leaves the crate.
fn resolve(start: &str, path: Vec<String>, module: &[String]) -> Option<Vec<String>> {
    let mut base = match start {
        "crate" => Vec::new(),
        "self" => module.to_vec(),
        _ => module.split_last()?.1.to_vec(),
    };
    let ups = path.iter().take_while(|part| *part == "super").count();
    base.truncate(base.len().checked_sub(ups)?);
    base.extend(path.into_iter().skip(ups));
    Some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> Vec<String> {
        let module = ["a".to_owned(), "b".to_owned()];
        let mut found: Vec<String> =
            imports(code, &module, |name| name == "child").iter().map(|it| it.join("::")).collect();
        found.sort();
        found
    }

    #[test]
    fn groups_and_parents_are_resolved() {
        assert_eq!(found("use crate::x::{Y, z::{W, V}};"), ["x::Y", "x::z::V", "x::z::W"]);
        assert_eq!(found("use super::super::x; let y = super::c::f();"), ["a::c::f", "x"]);
        assert_eq!(found("pub use child::Name; use std::io;"), ["a::b::child::Name"]);
        assert_eq!(found("pub(crate) fn f(self) { my_crate::x() }"), [""; 0]);
    }
}
