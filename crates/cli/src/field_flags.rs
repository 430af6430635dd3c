//! Flags of the arguments of resources, one per row of the tables of `rules`, so that limits, allowed
//! values and defaults are written only there. Their values become the contract's JSON, and the
//! service's violations name the flags.

use std::fmt::Debug;
use std::fs;
use std::io::stdin;
use std::marker::PhantomData;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches, value_parser};
use contract::rpc::{self, Error};
use rules::field::{Block, Field, Presence, Resource, Shape, Value, ValueType, json_name};
use serde_json::{Map, Value as Json, json};

use crate::rows::{self, RowFormat};

/// ID of the group of all these flags.
pub(crate) const GROUP: &str = "arguments";
/// ID of the flag that replaces them.
const FROM_JSON: &str = "from_json";
const RESET: &str = "reset";
/// Most values that the help lists.
const SHOWN_VALUES: usize = 12;

/// Resources whose arguments a command has as flags.
pub(crate) trait FlagSource: Debug + 'static {
    /// Whether the command changes an object: no flag is required, and `--reset` exists.
    const CHANGES: bool;

    /// Returns the tables, each with the kind that it is for.
    fn tables() -> Vec<KindTable>;
}

/// The table of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindTable {
    pub(crate) kind: &'static str,
    pub(crate) table: &'static Resource,
}

/// The arguments on the command line.
#[derive(Debug)]
pub(crate) struct FieldFlags<S> {
    /// Values in the contract's JSON, by its names.
    pub(crate) values: Map<String, Json>,
    /// Names of the given and the reset arguments in the tables.
    pub(crate) names: Vec<&'static str>,
    source: PhantomData<S>,
}

/// An argument, and the kinds that have it.
#[derive(Debug)]
struct Flag {
    name: &'static str,
    long: String,
    row: TableRow,
    help: String,
    kinds: Vec<&'static str>,
}

/// Row of a table.
#[derive(Clone, Copy, Debug)]
enum TableRow {
    Field(&'static Field),
    Block(&'static Block, &'static RowFormat),
}

impl<S: FlagSource> Args for FieldFlags<S> {
    fn augment_args(command: Command) -> Command {
        let flags = flags_of::<S>();
        let group = ArgGroup::new(GROUP).multiple(true).args(flags.iter().map(|flag| flag.name));
        let command = flags.iter().fold(command, |command, flag| command.arg(flag.arg(S::CHANGES)));
        if !S::CHANGES {
            return command.group(group);
        }
        let resettable = flags.iter().filter(|flag| !flag.is_required());
        let names: Vec<String> = resettable.map(|flag| flag.long.clone()).collect();
        let reset = Arg::new(RESET)
            .long(RESET)
            .value_name("FLAG")
            .action(ArgAction::Append)
            .value_delimiter(',')
            .value_parser(PossibleValuesParser::new(names))
            .hide_possible_values(true)
            .help(
                "Reset the argument of this flag to its default, such as `description`; repeatable",
            );
        command.arg(reset).group(group.arg(RESET))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: FlagSource> FromArgMatches for FieldFlags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (values, names) = (Map::new(), Vec::new());
        let mut given = Self { values, names, source: PhantomData };
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let reset = S::CHANGES.then(|| matches.get_many::<String>(RESET)).flatten();
        let reset: Vec<&String> = reset.into_iter().flatten().collect();
        for flag in flags_of::<S>() {
            if let Some(value) = flag.value(matches) {
                self.values.insert(json_name(flag.name), value);
                self.names.push(flag.name);
            } else if reset.contains(&&flag.long) {
                self.names.push(flag.name);
            }
        }
        Ok(())
    }
}

impl<S: FlagSource> FieldFlags<S> {
    /// Returns the flag of a given argument that this kind does not have.
    pub(crate) fn foreign_flag(&self, kind: &str) -> Option<String> {
        let flags = flags(&S::tables());
        let foreign = flags.iter().filter(|flag| !flag.kinds.contains(&kind));
        let given = foreign.filter(|flag| self.names.contains(&flag.name));
        given.map(|flag| format!("--{}", flag.long)).next()
    }

    /// Returns the violations of an error with flags instead of paths. `resource` is the field of the
    /// request that contains the resource.
    pub(crate) fn explain(error: &Error, resource: &str) -> Option<String> {
        let violations = rpc::field_violations(error);
        let flags = flags(&S::tables());
        let prefix = format!("{resource}.");
        let texts: Vec<String> = violations
            .iter()
            .map(|it| {
                let path = it.field.strip_prefix(&prefix).unwrap_or(&it.field);
                format!("{} {}", written(path, &flags), it.description)
            })
            .collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }
}

impl Flag {
    const fn is_required(&self) -> bool {
        matches!(self.row, TableRow::Field(Field { presence: Presence::Required, .. }))
    }

    fn arg(&self, changes: bool) -> Arg {
        let arg = Arg::new(self.name).long(self.long.clone()).help(self.help_text(changes));
        let arg = match self.row {
            TableRow::Field(field) => shaped(arg, field),
            TableRow::Block(_, format) => arg
                .value_name(format.value_name)
                .action(ArgAction::Append)
                .value_parser(format.parse),
        };
        if self.is_required() && !changes { arg.required_unless_present(FROM_JSON) } else { arg }
    }

    /// Returns the description of the table, without the final stop, with the default if it is used.
    fn help_text(&self, changes: bool) -> String {
        let default = match self.row {
            TableRow::Field(Field { presence: Presence::Default(value), .. }) if !changes => {
                match value {
                    Value::Text("") => String::new(),
                    Value::Text(text) => format!(" [default: {text}]"),
                    Value::Integer(number) => format!(" [default: {number}]"),
                    Value::Bool(is_on) => format!(" [default: {is_on}]"),
                }
            }
            TableRow::Field(_) | TableRow::Block(..) => String::new(),
        };
        format!("{}{default}", self.help)
    }

    /// Returns the value in the contract's JSON, if the flag was given.
    fn value(&self, matches: &ArgMatches) -> Option<Json> {
        let TableRow::Field(field) = self.row else {
            let rows = matches.get_many::<Json>(self.name)?;
            return Some(rows.cloned().collect());
        };
        match field.shape.value_type() {
            ValueType::Bool => matches.get_one::<bool>(self.name).map(|it| json!(it)),
            ValueType::Integer => matches.get_one::<i32>(self.name).map(|it| json!(it)),
            ValueType::Text => matches.get_one::<String>(self.name).map(|it| json!(it)),
            ValueType::SetOfTexts | ValueType::ListOfTexts | ValueType::ListOf(_) => {
                let texts = matches.get_many::<String>(self.name)?;
                Some(texts.map(|it| json!(it)).collect())
            }
        }
    }
}

/// Returns the flags of all tables. Kinds share a flag for arguments of the same name.
fn flags(tables: &[KindTable]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    for KindTable { kind, table } in tables {
        let fields = table.fields.iter().filter(|field| field.presence != Presence::Output);
        let rows = fields.map(TableRow::Field);
        let blocks = table.blocks.iter();
        for row in rows.chain(blocks.map(|block| TableRow::Block(block, rows::format_of(block)))) {
            let (name, text) = match row {
                TableRow::Field(field) => (field.name, field.description),
                TableRow::Block(block, _) => (block.name, block.description),
            };
            let text = text.trim_end_matches('.');
            if let Some(known) = flags.iter_mut().find(|flag| flag.name == name) {
                if !known.help.contains(text) {
                    known.help =
                        format!("{} ({}); {text} ({kind})", known.help, known.kinds.join(", "));
                }
                known.kinds.push(*kind);
                continue;
            }
            let (long, help) = match row {
                TableRow::Field(field) if is_set(field) => {
                    (long(field), format!("{text}. Repeatable, or separated by commas"))
                }
                TableRow::Field(field) if is_in_file(field) => {
                    (long(field), format!("{text}. In this file, - for standard input"))
                }
                TableRow::Field(field) => (long(field), text.to_owned()),
                TableRow::Block(_, format) => {
                    let help = format!("{text}. For example '{}'; repeatable", format.example);
                    (format.flag.to_owned(), help)
                }
            };
            flags.push(Flag { name, long, row, help, kinds: vec![*kind] });
        }
    }
    let all = tables.len();
    for flag in flags.iter_mut().filter(|flag| flag.kinds.len() < all && flag.kinds.len() == 1) {
        flag.help = format!("{} ({} only)", flag.help, flag.kinds[0]);
    }
    flags
}

/// Returns the flags of a command. A change has none for fields that are fixed.
fn flags_of<S: FlagSource>() -> Vec<Flag> {
    let mut flags = flags(&S::tables());
    let is_fixed = |flag: &Flag| matches!(flag.row, TableRow::Field(field) if field.replace);
    flags.retain(|flag| !S::CHANGES || !is_fixed(flag));
    flags
}

/// Returns the name of a field's flag. Sets have the singular, because each value is a flag. IDs of other
/// resources have the name of the resource, because its name is a value too. Secrets are in files, because
/// other users of a machine can read its command lines, and objects in PEM, because they have lines.
fn long(field: &Field) -> String {
    let name = field.name.replace('_', "-");
    if let Shape::Id(_) = field.shape {
        name.trim_end_matches("-id").to_owned()
    } else if let Shape::SetOfIds(_) = field.shape {
        name.trim_end_matches("-ids").to_owned()
    } else if is_in_file(field) {
        format!("{name}-file")
    } else if is_set(field) {
        name.trim_end_matches('s').to_owned()
    } else {
        name
    }
}

const fn is_in_file(field: &Field) -> bool {
    let is_pem = matches!(field.shape, Shape::Certificates { .. } | Shape::PrivateKey { .. });
    is_pem || (field.sensitive && matches!(field.shape, Shape::Text { .. }))
}

/// Reads a text from a file, or from standard input for `-`, without the end of its last line.
pub(crate) fn read_text(path: &str) -> Result<String, String> {
    let text =
        if path == "-" { std::io::read_to_string(stdin()) } else { fs::read_to_string(path) };
    let text = text.map_err(|why| format!("reading the file: {why}"))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

const fn is_set(field: &Field) -> bool {
    matches!(field.shape.value_type(), ValueType::SetOfTexts | ValueType::ListOfTexts)
}

/// Adds what the shape of a field allows.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "most shapes are a text that the service checks"
)]
fn shaped(arg: Arg, field: &'static Field) -> Arg {
    let is_long = field.shape.names().is_some_and(|words| words.len() > SHOWN_VALUES);
    let arg = if is_set(field) {
        let plural = field.name.replace('_', "-");
        arg.action(ArgAction::Append).value_delimiter(',').alias(plural)
    } else {
        arg
    };
    match field.shape {
        Shape::Bool => arg
            .value_parser(value_parser!(bool))
            .value_name("true|false")
            .hide_possible_values(true)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        Shape::Integer { min, max } => arg
            .value_parser(value_parser!(i32).range(i64::from(min)..=i64::from(max)))
            .value_name("NUMBER")
            .allow_negative_numbers(true),
        Shape::OneOf(words) => {
            arg.value_parser(PossibleValuesParser::new(words)).value_name("NAME")
        }
        Shape::SetOf(words) => arg
            .value_parser(PossibleValuesParser::new(words))
            .value_name("NAME")
            .hide_possible_values(is_long),
        Shape::HttpUrl { .. } => arg.value_name("URL"),
        Shape::Id(_) => arg.value_name("ID|NAME").alias(field.name.replace('_', "-")),
        _ if is_in_file(field) => arg.value_name("FILE").value_parser(read_text),
        _ => arg.value_name("TEXT"),
    }
}

/// Returns the path of a violation as the command line has it.
fn written(path: &str, flags: &[Flag]) -> String {
    let end = path.find(['[', '.']).unwrap_or(path.len());
    let (name, below) = path.split_at(end);
    let Some(flag) = flags.iter().find(|flag| flag.name == name) else {
        return format!("`{path}`");
    };
    let row = below.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let row = row.and_then(|(index, inner)| Some((index.parse::<usize>().ok()?, inner)));
    match row {
        Some((index, inner)) => {
            let inner = inner.trim_start_matches('.');
            let inner = if inner.is_empty() { String::new() } else { format!(": `{inner}`") };
            format!("`--{}` number {}{inner}", flag.long, index + 1)
        }
        None => format!("`--{}`", flag.long),
    }
}

#[cfg(test)]
mod tests {
    use rules::{MonitorKind, tables};

    use super::*;

    fn all() -> Vec<Flag> {
        let tables: Vec<_> = MonitorKind::ALL
            .iter()
            .map(|kind| KindTable { kind: kind.as_str(), table: tables::monitor(*kind) })
            .collect();
        flags(&tables)
    }

    // spec: §2.1–2.3
    #[test]
    fn each_argument_has_one_flag() {
        let flags = all();
        for kind in MonitorKind::ALL {
            for name in tables::monitor(*kind).writable() {
                let flag = flags.iter().filter(|flag| flag.name == name).collect::<Vec<_>>();
                assert!(flag.len() == 1 && flag[0].kinds.contains(&kind.as_str()), "{name}");
            }
        }
        let mut longs: Vec<_> = flags.iter().map(|flag| flag.long.as_str()).collect();
        longs.sort_unstable();
        longs.dedup();
        assert_eq!(longs.len(), flags.len());
    }

    #[test]
    fn violations_name_flags() {
        let flags = all();
        for (path, expected) in [
            ("retry", "`--retry`"),
            ("degraded_at", "`--degraded-at`"),
            ("regions", "`--region`"),
            ("regions[2]", "`--region` number 3"),
            ("status_code_assertions[0].target", "`--expect-status` number 1: `target`"),
            ("update_mask", "`update_mask`"),
        ] {
            assert_eq!(written(path, &flags), expected);
        }
    }
}
