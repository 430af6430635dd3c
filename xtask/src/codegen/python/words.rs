//! Generates enums as types and tuples.

use super::types::literal;
use crate::codegen::typescript::words::{LISTS, List};

/// Generates the module.
pub(super) fn module() -> String {
    let names = LISTS.iter().flat_map(|list| [list.name, list.constant]);
    let names = names.map(|name| format!("    \"{name}\",\n")).collect::<Vec<_>>().concat();
    let declared: Vec<_> = LISTS.iter().map(declared).collect();
    format!(
        "\nfrom typing import Final, Literal, TypeAlias\n\n__all__ = [\n{names}]\n\n{}",
        declared.join("\n")
    )
}

fn declared(list: &List) -> String {
    let List { name, constant, values, about, .. } = list;
    let lines: Vec<_> = values.iter().map(|value| format!("    \"{value}\",\n")).collect();
    let lines = lines.concat();
    format!(
        "{name}: TypeAlias = {}\n\"\"\"{about}.\"\"\"\n\n{constant}: Final[tuple[{name}, ...]] = (\n{lines})\n\"\"\"{about}.\"\"\"\n",
        literal(values)
    )
}
