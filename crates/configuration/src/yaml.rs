//! Reads YAML to nodes with positions. Refuses duplicate keys, and bounds the size of what aliases
//! expand to. Leaves the meaning of nodes to `read`.

mod json;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};

pub use self::json::yaml_to_json;
use crate::problem::{Position, Problem};
use crate::scalar::{self, Scalar};

/// Maximum number of nodes in a file, after the expansion of aliases. Long scalars count more than once.
const NODES_MAX: usize = 500_000;
/// Maximum depth of nodes; the format has less than ten levels.
const DEPTH_MAX: usize = 32;
/// Bytes of a scalar that count as another node.
const NODE_BYTES: usize = 64;
/// Key that merges another mapping.
const MERGE: &str = "<<";
/// Suffix of the tag of texts.
const TEXT_TAG: &str = "str";

/// A value of a file.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Position,
    pub(crate) value: NodeValue,
}

/// Content of a node.
#[derive(Clone, Debug)]
pub(crate) enum NodeValue {
    Scalar(Scalar),
    List(Vec<Node>),
    Mapping(Vec<Entry>),
}

/// A key of a mapping with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Position,
    pub(crate) value: Node,
}

struct Loader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    file: Arc<str>,
    anchors: HashMap<usize, Anchor>,
    nodes: usize,
}

/// A node that aliases refer to.
struct Anchor {
    node: Node,
    /// Number of nodes in it.
    nodes: usize,
    /// Number of levels in it.
    levels: usize,
}

/// Reads the only document of a file. An empty file is a null.
pub(crate) fn parse(file: &Arc<str>, text: &str) -> Result<Node, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parser = Parser::new_from_str(text);
    let mut loader = Loader { parser, file: Arc::clone(file), anchors: HashMap::new(), nodes: 0 };
    let mut document = None;
    loop {
        let (event, span) = loader.next()?;
        match event {
            Event::StreamEnd => break,
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            Event::Alias(_)
            | Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::SequenceEnd
            | Event::MappingStart(..)
            | Event::MappingEnd => {
                if document.is_some() {
                    let message = "has a second document; move it to a file of its own";
                    return Err(Problem::new(&loader.position(span), "", message));
                }
                document = Some(loader.node(event, span, 0)?);
            }
        }
    }
    let start = Position { file: Arc::clone(file), line: 1, column: 1 };
    Ok(document.unwrap_or(Node { at: start, value: NodeValue::Scalar(Scalar::Null) }))
}

impl<'a> Loader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Problem> {
        let end = Span::default();
        match self.parser.next_event() {
            None => Ok((Event::StreamEnd, end)),
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let span = Span::empty(*error.marker());
                Err(Problem::new(&self.position(span), "", format!("not YAML: {}", error.info())))
            }
        }
    }

    fn position(&self, span: Span) -> Position {
        let (line, column) = (span.start.line().max(1), span.start.col() + 1);
        Position { file: Arc::clone(&self.file), line, column }
    }

    fn problem<T>(&self, span: Span, message: &str) -> Result<T, Problem> {
        Err(Problem::new(&self.position(span), "", message))
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Problem> {
        if depth >= DEPTH_MAX {
            return self.problem(span, &too_deep());
        }
        let before = self.nodes;
        self.count(1, span)?;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.count(text.len() / NODE_BYTES, span)?;
                (NodeValue::Scalar(self.scalar(&text, style, tag.as_deref(), span)?), anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), span)?;
                (NodeValue::List(self.list(depth)?), anchor)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), span)?;
                (NodeValue::Mapping(self.mapping(depth)?), anchor)
            }
            Event::Alias(anchor) => return self.alias(anchor, span, depth),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return self.problem(span, "not YAML: a value is missing here"),
        };
        let node = Node { at: self.position(span), value };
        if anchor > 0 {
            // The copy counts too.
            let nodes = self.nodes - before;
            self.count(nodes, span)?;
            let levels = levels(&node);
            self.anchors.insert(anchor, Anchor { node: node.clone(), nodes, levels });
        }
        Ok(node)
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<Scalar, Problem> {
        match tag {
            Some(tag) if tag.is_yaml_core_schema() && tag.suffix == TEXT_TAG => {
                Ok(Scalar::Text(text.to_owned()))
            }
            Some(_) => self.refuse_tag(tag, span).map(|()| Scalar::Null),
            None if style == ScalarStyle::Plain => Ok(scalar::plain(text)),
            None => Ok(Scalar::Text(text.to_owned())),
        }
    }

    fn refuse_tag(&self, tag: Option<&Tag>, span: Span) -> Result<(), Problem> {
        match tag {
            Some(tag) => {
                let message = format!("has the tag `{}{}`; remove it", tag.handle, tag.suffix);
                self.problem(span, &message)
            }
            None => Ok(()),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Problem> {
        let mut nodes = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(nodes);
            }
            nodes.push(self.node(event, span, depth + 1)?);
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Vec<Entry>, Problem> {
        let (mut entries, mut merged): (Vec<Entry>, Vec<Entry>) = (Vec::new(), Vec::new());
        let mut known: HashMap<String, Position> = HashMap::new();
        loop {
            let (event, span) = self.next()?;
            let key_at = self.position(span);
            let key = match event {
                Event::MappingEnd => break,
                Event::Scalar(text, ..) => text.into_owned(),
                Event::Nothing
                | Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Alias(_)
                | Event::SequenceStart(..)
                | Event::SequenceEnd
                | Event::MappingStart(..) => return self.problem(span, "must have a text as key"),
            };
            if let Some(first) = known.insert(key.clone(), key_at.clone()) {
                let (line, column) = (first.line, first.column);
                let message =
                    format!("has the key `{key}` twice; the first one is at {line}:{column}");
                return self.problem(span, &message);
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            if key == MERGE {
                merged.extend(self.merged(value, span)?);
            } else {
                entries.push(Entry { key, key_at, value });
            }
        }
        // Keys of the mapping itself win, then those of the first merged one.
        let mut keys: HashSet<String> = entries.iter().map(|own| own.key.clone()).collect();
        entries.extend(merged.into_iter().filter(|entry| keys.insert(entry.key.clone())));
        Ok(entries)
    }

    /// Returns the entries that a merge key adds: of a mapping, or of each mapping of a list.
    fn merged(&self, node: Node, span: Span) -> Result<Vec<Entry>, Problem> {
        let parts = match node.value {
            NodeValue::Mapping(entries) => return Ok(entries),
            NodeValue::List(nodes) => nodes,
            NodeValue::Scalar(_) => Vec::new(),
        };
        let mut entries = Vec::new();
        for part in parts {
            match part.value {
                NodeValue::Mapping(part) => entries.extend(part),
                NodeValue::Scalar(_) | NodeValue::List(_) => {
                    return self.problem(span, "`<<` must be a mapping, or a list of mappings");
                }
            }
        }
        if entries.is_empty() {
            return self.problem(span, "`<<` must be a mapping, or a list of mappings");
        }
        Ok(entries)
    }

    fn alias(&mut self, anchor: usize, span: Span, depth: usize) -> Result<Node, Problem> {
        let Some(Anchor { nodes, levels, .. }) = self.anchors.get(&anchor) else {
            return self.problem(span, "an alias refers to a value that contains it");
        };
        if depth + levels > DEPTH_MAX {
            return self.problem(span, &too_deep());
        }
        // Errors name the position of the shared text, which is what must be corrected.
        let nodes = *nodes;
        self.count(nodes, span)?;
        let shared = self.anchors.get(&anchor).map(|anchor| anchor.node.clone());
        shared.map_or_else(|| self.problem(span, "an alias refers to nothing"), Ok)
    }

    fn count(&mut self, more: usize, span: Span) -> Result<(), Problem> {
        self.nodes = self.nodes.saturating_add(more);
        if self.nodes > NODES_MAX {
            let message = format!("more than {NODES_MAX} values, aliases included; split the file");
            return self.problem(span, &message);
        }
        Ok(())
    }
}

/// Returns the number of levels of a node, 1 for a scalar.
fn levels(node: &Node) -> usize {
    let deepest = match &node.value {
        NodeValue::Scalar(_) => None,
        NodeValue::List(nodes) => nodes.iter().map(levels).max(),
        NodeValue::Mapping(entries) => entries.iter().map(|entry| levels(&entry.value)).max(),
    };
    1 + deepest.unwrap_or(0)
}

fn too_deep() -> String {
    format!("nested deeper than {DEPTH_MAX} levels; no field is that deep")
}

#[cfg(test)]
mod tests;
