//! Reads the paths that a Rust file names: `use` trees and paths in code.

/// Returns the paths that a module names, from the root of its crate.
pub(super) fn imports(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, start) in starts(code) {
        let end = at + start.len();
        for leaf in tree(&code[end..]) {
            found.extend(resolve(start, leaf.path, module));
        }
    }
    found
}

/// Returns the names that a module brings in with `use` from its own crate, with their paths from
/// the root of the crate. `is_child` tells whether a name is a module below this one.
pub(super) fn used_names(
    code: &str,
    module: &[String],
    is_child: impl Fn(&str) -> bool,
) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for mut leaf in use_items(code).into_iter().flat_map(|item| tree(&format!("::{item}"))) {
        // `a::{self}` is the name `a`.
        leaf.path.pop_if(|last| last == "self");
        let Some((first, rest)) = leaf.path.split_first() else { continue };
        let Some(name) = leaf.alias.or_else(|| leaf.path.last().cloned()) else { continue };
        let path = match first.as_str() {
            start @ ("crate" | "super" | "self") => resolve(start, rest.to_vec(), module),
            child if is_child(child) => Some([module, &leaf.path].concat()),
            _ => None,
        };
        found.extend(path.map(|path| (name, path)));
    }
    found
}

/// Returns what each `use` item at the outer level of a file names.
fn use_items(code: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut begin = 0;
    for line in code.split_inclusive('\n') {
        let visible = line.strip_prefix("pub").map(|rest| match rest.split_once(") ") {
            Some((scope, rest)) if scope.starts_with('(') => rest,
            _ => rest.trim_start(),
        });
        if let Some(item) = visible.unwrap_or(line).strip_prefix("use ") {
            let from = &code[begin + line.len() - item.len()..];
            items.extend(from.split(';').next());
        }
        begin += line.len();
    }
    items
}

/// A path at the end of a `use` tree.
struct Leaf {
    path: Vec<String>,
    /// Name after `as`.
    alias: Option<String>,
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
fn tree(code: &str) -> Vec<Leaf> {
    let Some(rest) = code.strip_prefix("::") else {
        let alias = code.trim_start().strip_prefix("as ").map(|rest| name_at_start(rest).0);
        return vec![Leaf { path: Vec::new(), alias: alias.map(str::to_owned) }];
    };
    if let Some(group) = rest.strip_prefix('{') {
        return items(group).iter().flat_map(|item| tree(&format!("::{}", item.trim()))).collect();
    }
    let (name, rest) = name_at_start(rest);
    if name.is_empty() {
        return vec![Leaf { path: Vec::new(), alias: None }];
    }
    let mut leaves = tree(rest);
    for leaf in &mut leaves {
        leaf.path.insert(0, name.to_owned());
    }
    leaves
}

/// Splits code after the name at its beginning.
fn name_at_start(code: &str) -> (&str, &str) {
    let length = code.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(code.len());
    code.split_at(length)
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

    fn module() -> [String; 2] {
        ["a".to_owned(), "b".to_owned()]
    }

    fn found(code: &str) -> Vec<String> {
        let mut found: Vec<String> =
            imports(code, &module()).iter().map(|it| it.join("::")).collect();
        found.sort();
        found
    }

    #[test]
    fn groups_and_parents_are_resolved() {
        assert_eq!(found("use crate::x::{Y, z::{W, V}};"), ["x::Y", "x::z::V", "x::z::W"]);
        assert_eq!(found("use super::super::x; let y = super::c::f();"), ["a::c::f", "x"]);
        assert_eq!(found("pub(crate) fn f(self) { my_crate::x() }"), [""; 0]);
    }

    #[test]
    fn used_names_have_their_paths() {
        let code = "use std::io;\npub use child::{self, Name as N};\npub(crate) use super::c::{\n    \
                    C, d::*,\n};\nfn f() {\n    use crate::Inner;\n}";
        let names = used_names(code, &module(), |name| name == "child");
        let shown: Vec<String> =
            names.iter().map(|(name, path)| format!("{name} = {}", path.join("::"))).collect();
        assert_eq!(
            shown,
            ["child = a::b::child", "N = a::b::child::Name", "C = a::c::C", "d = a::c::d"]
        );
    }
}
