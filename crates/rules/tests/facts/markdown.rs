//! Parses the facts from the specification's own tables: the Markdown of §2 and §8, with its
//! recurring phrases.

use crate::file::{Block, Limit, RegionGroup, Resource, Row};

/// Facts in the specification's tables.
pub(crate) struct Specification {
    pub(crate) resources: Vec<Resource>,
    pub(crate) data_sources: Vec<Resource>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) periodicities: Vec<String>,
    pub(crate) region_groups: Vec<RegionGroup>,
}

impl Specification {
    pub(crate) fn read(text: &str) -> Self {
        let region_groups = region_groups(section(text, "8.3"));
        let known = Known {
            regions: region_groups.iter().flat_map(|group| group.regions.clone()).collect(),
            statuses: statuses(section(text, "3.")),
        };
        let mut resources: Vec<Resource> = vec![];
        for number in ["2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7"] {
            let same = resources.last().map(|tcp| tcp.arguments.clone()).unwrap_or_default();
            resources.push(resource(number, section(text, number), &known, same));
        }
        Self {
            resources,
            data_sources: rows(section(text, "2.8"), "Data source")
                .map(|row| data_source(&row))
                .collect(),
            limits: rows(section(text, "8.1"), "Item").map(|row| limit(&row)).collect(),
            periodicities: list(last_line(section(text, "8.2")).trim_end_matches('.')),
            region_groups,
        }
    }
}

/// Phrase for the comparators of another block.
const SAME_WORDS: &str = "same values as body_assertions";

/// Lists that the specification defines once and refers to.
struct Known {
    regions: Vec<String>,
    statuses: Vec<String>,
}

fn resource(number: &str, text: &str, known: &Known, same: Vec<Row>) -> Resource {
    let title = text.lines().next().expect("a section has a title");
    let name = title.split_once('(').expect("a title names the resource").1;
    let name = name.trim_end_matches(')').trim_start_matches("resource type ");
    let mut arguments: Vec<Row> = rows(text, "Argument").map(|row| argument(&row, known)).collect();
    if text.contains("Same arguments, defaults and bounds as the TCP monitor") {
        arguments = same;
        let uri = arguments.iter_mut().find(|row| row.name == "uri").expect("TCP has a uri");
        *uri = Row { form: None, max_chars: None, ..uri.clone() };
        state(uri, between(text, "except uri is ", ". Extra block"), known);
    }
    let mut blocks: Vec<Block> = rows(text, "Block").map(|row| block(&row, known)).collect();
    same_comparators(&mut blocks);
    let after =
        if text.contains("Read-only attributes:") { "Read-only attributes:" } else { "Read-only:" };
    Resource {
        section: number.to_owned(),
        name: name.to_owned(),
        import: Some(between(text, "Import: by ", ".").to_owned()),
        exactly_one_block_by: text
            .contains("Exactly one provider-specific block is given, and it matches provider_type")
            .then(|| "provider_type".to_owned()),
        arguments,
        outputs: outputs(between(text, after, "."), known),
        blocks,
    }
}

/// Parses `| name | type | required | default | rule |`, or the same without default.
fn argument(cells: &[String], known: &Known) -> Row {
    let mut row = Row {
        name: cells[0].clone(),
        kind: Some(cells[1].clone()),
        required: cells[2] == "yes",
        ..Row::default()
    };
    if let [_, _, _, default, _] = cells {
        match (default.as_str(), cells[1].as_str()) {
            ("", _) => {}
            ("computed", _) => row.computed = true,
            ("empty string", _) => row.default = Some("".into()),
            (number, "number") => {
                row.default = Some(number.parse::<i64>().expect("the default is a number").into());
            }
            (value, "bool") => {
                row.default = Some(value.parse::<bool>().expect("the default is a boolean").into());
            }
            (text, _) => row.default = Some(text.into()),
        }
    }
    state(&mut row, cells.last().expect("a row has cells"), known);
    row
}

/// Parses the phrases of a rule into `row`.
fn state(row: &mut Row, rule: &str, known: &Known) {
    let is_text = row.kind.as_deref() == Some("string");
    if let Some((min, max)) = range(rule) {
        if rule.contains("chars") {
            (row.min_chars, row.max_chars) = (Some(min), Some(max));
        } else {
            (row.min, row.max) = (Some(min), Some(max));
        }
    }
    if let Some(max) = number_after(rule, "max ").filter(|_| rule.contains("chars")) {
        row.max_chars = Some(max);
    }
    if let Some((_, words)) = rule.split_once("one of ") {
        row.words = list(words.split('(').next().expect("a split has a first part"));
    }
    if let Some((_, words)) = rule.split_once("required: ").filter(|_| is_text) {
        row.words = words.replace(" or ", ", ").split(", ").map(ToOwned::to_owned).collect();
    }
    if rule.contains(SAME_WORDS) {
        row.words = vec![SAME_WORDS.to_owned()];
    }
    if rule.starts_with("monitor or static") {
        row.words = list("monitor, static");
    }
    if rule.contains("values from section 8.3") {
        row.words.clone_from(&known.regions);
    }
    for (phrase, form) in [
        ("header name", "header name"),
        ("host:port format", "host:port"),
        ("domain name to monitor", "domain name"),
    ] {
        if rule.contains(phrase) {
            row.form = Some(form.to_owned());
        }
    }
    if let Some((_, condition)) = rule.split_once("required when ") {
        let (field, value) = condition.split_once(" is ").expect("a condition has a value");
        row.required_when = Some((field.to_owned(), value.to_owned()));
    }
    row.sensitive |= rule.split([',', ';']).any(|part| part.trim() == "sensitive");
    row.replace |= rule.contains("changing it forces replacement");
}

/// Parses `| name | fields |`, or the same with the maximum count in between.
fn block(cells: &[String], known: &Known) -> Block {
    let mut block = Block { name: cells[0].clone(), max: Some(1), ..Block::default() };
    if let [_, max, _] = cells {
        block.max = Some(max.parse().expect("the maximum is a number"));
    }
    for part in apart(cells.last().expect("a row has cells"), ';') {
        let (name, inside) = part.trim_end_matches(')').split_once(" (").expect("name (rule)");
        if inside == "optional, repeatable, each with key and value strings" {
            let text = |name: &str| Row {
                name: name.to_owned(),
                kind: Some("string".to_owned()),
                ..Row::default()
            };
            let fields = vec![text("key"), text("value")];
            block.blocks.push(Block { name: name.to_owned(), fields, ..Block::default() });
        } else {
            block.fields.push(field(name, inside, known));
        }
    }
    block
}

/// Parses `name (type, required or optional, rule)`.
fn field(name: &str, inside: &str, known: &Known) -> Row {
    let kind = inside.split(',').next().expect("a split has a first part");
    let mut row = Row {
        name: name.to_owned(),
        kind: Some(kind.to_owned()),
        required: inside.split([',', ':']).any(|part| part.trim() == "required"),
        default: number_after(inside, "default ").map(Into::into),
        ..Row::default()
    };
    state(&mut row, inside, known);
    row
}

/// Replaces references to the names of another block by these names.
fn same_comparators(blocks: &mut [Block]) {
    let body: Vec<String> = blocks
        .iter()
        .filter(|block| block.name == "body_assertions")
        .filter_map(|block| block.fields.last())
        .flat_map(|comparator| comparator.words.clone())
        .collect();
    for row in blocks.iter_mut().flat_map(|block| &mut block.fields) {
        if row.words == [SAME_WORDS] {
            row.words.clone_from(&body);
        }
    }
}

fn outputs(text: &str, known: &Known) -> Vec<Row> {
    let all_strings = text.ends_with(" (strings)");
    let text = text.trim_end_matches(" (strings)").replace(';', ",");
    let output = |part: String| {
        let (name, inside) = part.split_once(" (").unwrap_or((&part, "string"));
        let inside = inside.trim_end_matches(')');
        let (kind, words) = inside.split_once(": ").unwrap_or((inside, ""));
        let (kind, refers) = kind
            .split_once(", values in section 3")
            .map_or((kind, false), |(kind, _)| (kind, true));
        assert!(all_strings || part.contains('('), "{part} has a type");
        Row {
            name: name.to_owned(),
            kind: Some(kind.to_owned()),
            words: if refers { known.statuses.clone() } else { list(words) },
            ..Row::default()
        }
    };
    apart(&text, ',').into_iter().map(output).collect()
}

/// Parses `| name | inputs | outputs |`.
fn data_source(cells: &[String]) -> Resource {
    let nothing = Known { regions: vec![], statuses: vec![] };
    let inputs = apart(&cells[1], ';').into_iter().filter(|input| input.contains('('));
    let output = |part: String| {
        let (name, inside) = part.split_once(" (").unwrap_or((&part, ""));
        let inside = inside.trim_end_matches(')');
        let only = inside.strip_suffix(" only").map(ToOwned::to_owned);
        let sensitive = inside == "sensitive";
        let words = if only.is_none() && !sensitive { list(inside) } else { vec![] };
        Row { name: name.to_owned(), only, sensitive, words, ..Row::default() }
    };
    Resource {
        section: "2.8".to_owned(),
        name: cells[0].clone(),
        arguments: inputs
            .map(|input| {
                let (name, inside) = input.split_once(" (").expect("name (rule)");
                field(name, inside.trim_end_matches(')'), &nothing)
            })
            .collect(),
        outputs: match cells[2].split_once(": list of objects with ") {
            Some((name, objects)) => {
                vec![Row { name: name.to_owned(), objects: list(objects), ..Row::default() }]
            }
            None => apart(&cells[2], ',').into_iter().map(output).collect(),
        },
        ..Resource::default()
    }
}

/// Parses `| item | limit |`.
fn limit(cells: &[String]) -> Limit {
    let text = &cells[1];
    let (min, max) = range(text).unzip();
    let max = max.or_else(|| number_after(text, "max "));
    let default = number_after(text, "default ").map(Into::into);
    let item = cells[0].clone();
    if text.contains("chars") {
        Limit { item, min_chars: min, max_chars: max, default, ..Limit::default() }
    } else {
        Limit { item, min, max, default, ..Limit::default() }
    }
}

fn region_groups(text: &str) -> Vec<RegionGroup> {
    let group = |line: &str| {
        let (title, regions) = line.strip_prefix("- Group ")?.split_once(": ")?;
        let (name, count) = title.trim_end_matches(')').split_once(" (")?;
        let regions = list(regions);
        assert_eq!(regions.len().to_string(), count, "group {name}");
        Some(RegionGroup { name: name.to_owned(), regions })
    };
    text.lines().filter_map(group).collect()
}

fn statuses(text: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.starts_with("Monitor status")).expect("§3 has them");
    list(line.split_once(": ").expect("a list follows").1.trim_end_matches('.'))
}

/// Returns the text of the section with this number, from its title to the next title.
fn section<'a>(text: &'a str, number: &str) -> &'a str {
    let start = ["## ", "### "]
        .iter()
        .find_map(|hashes| text.find(&format!("\n{hashes}{number} ")))
        .unwrap_or_else(|| panic!("the specification has §{number}"));
    let text = &text[start + 1..];
    text.find("\n##").map_or(text, |end| &text[..end])
}

/// Returns the cells of all tables whose first column has this title.
fn rows<'a>(text: &'a str, title: &'a str) -> impl Iterator<Item = Vec<String>> + 'a {
    let mut inside = false;
    text.lines().filter_map(move |line| {
        let Some(line) = line.strip_prefix('|') else {
            inside = false;
            return None;
        };
        let cells: Vec<String> = line
            .trim_end()
            .trim_end_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect();
        if cells[0] == title {
            inside = true;
            return None;
        }
        (inside && !cells[0].starts_with("---")).then_some(cells)
    })
}

/// Returns the text between two texts; the end must precede a blank or the end of the line.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let from = text.find(start).unwrap_or_else(|| panic!("`{start}` in {text}")) + start.len();
    let line = text[from..].lines().next().expect("the text has a line");
    let to = line.find(&format!("{end} ")).unwrap_or(line.len());
    line[..to].trim().trim_end_matches('.')
}

/// Splits at `separator` outside of parentheses.
fn apart(text: &str, separator: char) -> Vec<String> {
    let mut depth = 0;
    let parts = text.split(|character| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0 && character == separator
    });
    parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn list(text: &str) -> Vec<String> {
    let parts = text.split(',').map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().expect("a section has lines")
}

/// Parses `A to B`.
fn range(text: &str) -> Option<(i64, i64)> {
    let words: Vec<_> = text.split([' ', ',', ';']).collect();
    words.windows(3).find_map(|three| match three {
        [min, "to", max] => Some((min.parse().ok()?, max.parse().ok()?)),
        _ => None,
    })
}

fn number_after(text: &str, phrase: &str) -> Option<i64> {
    let (_, rest) = text.split_once(phrase)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
