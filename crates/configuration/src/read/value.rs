//! Reads single values by the shapes of their fields: types, limits, and texts from variables and
//! files.

use std::collections::HashMap;

use rules::Tag;
use rules::field::{Field, Shape, ValueType};
use serde_json::Value as Json;

use super::resource::Progress;
use super::{NamedReference, Reader};
use crate::desired::Setting;
use crate::kind::suggestion;
use crate::limits::VALUE_BYTES_MAX;
use crate::scalar::Scalar;
use crate::yaml::{Entry, Node, NodeValue};

/// Maximum length of a domain in a list, in characters.
const DOMAIN_CHARS_MAX: u32 = 253;
/// Most names that a message lists.
const NAMES_SHOWN: usize = 16;

impl Reader<'_> {
    /// Reads a field of a resource.
    pub(super) fn setting(
        &mut self,
        field: &'static Field,
        node: Node,
        progress: &mut Progress,
    ) -> Option<Setting> {
        let path = field.name;
        if let Shape::Id(_) = field.shape {
            let reference = self.reference(field, node, path, progress)?;
            progress.references.push(reference);
            // `reference::resolve` sets it.
            return None;
        }
        let Shape::SetOfIds(_) = field.shape else {
            return self.value(field, node, path, progress).map(Setting::Value);
        };
        let NodeValue::List(nodes) = node.value else {
            self.problem(&node.at, &progress.whole(path), "must be a list of keys or IDs");
            return None;
        };
        for (index, node) in nodes.into_iter().enumerate() {
            let path = format!("{path}[{index}]");
            let reference = self.reference(field, node, &path, progress);
            progress.references.extend(reference);
        }
        Some(Setting::References(Vec::new()))
    }

    /// Reads a value of a field in the contract's JSON.
    pub(super) fn value(
        &mut self,
        field: &Field,
        node: Node,
        path: &str,
        progress: &mut Progress,
    ) -> Option<Json> {
        let (at, whole) = (node.at.clone(), progress.whole(path));
        match field.shape.value_type() {
            ValueType::Text => self.field_text(field, node, path, progress).map(Json::String),
            ValueType::Integer => match (node.value, field.shape) {
                (NodeValue::Scalar(Scalar::Integer(number, _)), Shape::Integer { min, max })
                    if (i64::from(min)..=i64::from(max)).contains(&number) =>
                {
                    Some(number.into())
                }
                (_, Shape::Integer { min, max }) => {
                    let message = format!("must be a whole number from {min} to {max}");
                    self.problem(&at, &whole, message);
                    None
                }
                (_, _) => None,
            },
            ValueType::Bool => {
                let NodeValue::Scalar(Scalar::Bool(is_on)) = node.value else {
                    self.problem(&at, &whole, "must be true or false");
                    return None;
                };
                Some(is_on.into())
            }
            ValueType::SetOfTexts | ValueType::ListOfTexts => {
                self.texts(field, node, path, progress)
            }
            ValueType::ListOf(_) => {
                self.problem(&at, &whole, "cannot be set in a configuration");
                None
            }
        }
    }

    fn texts(
        &mut self,
        field: &Field,
        node: Node,
        path: &str,
        progress: &mut Progress,
    ) -> Option<Json> {
        let (at, whole) = (node.at.clone(), progress.whole(path));
        let NodeValue::List(nodes) = node.value else {
            self.problem(&at, &whole, "must be a list of texts, such as [a, b]");
            return None;
        };
        let most = elements_max(field.shape).unwrap_or(usize::MAX);
        if nodes.len() > most {
            self.problem(&at, &whole, format!("must have at most {most} elements"));
            return None;
        }
        let (mut texts, mut tags) = (Vec::new(), HashMap::new());
        for (index, node) in nodes.into_iter().enumerate() {
            let at = node.at.clone();
            let path = format!("{path}[{index}]");
            progress.positions.insert(path.clone(), at.clone());
            let text = self.text(node, &path, progress)?;
            let problem = element_problem(field.shape, &text);
            if let Some(message) = problem.or_else(|| repeated(field.shape, &text, &mut tags)) {
                self.problem(&at, &progress.whole(&path), message);
            }
            texts.push(Json::String(text));
        }
        Some(Json::Array(texts))
    }

    fn field_text(
        &mut self,
        field: &Field,
        node: Node,
        path: &str,
        progress: &mut Progress,
    ) -> Option<String> {
        let at = node.at.clone();
        let text = self.text(node, path, progress)?;
        let problem = match field.shape.names() {
            Some(names) if names.contains(&text.as_str()) => None,
            Some(names) => Some(unknown_name(&text, names)),
            None => field.shape.violated_by(&text),
        };
        if let Some(message) = problem {
            self.problem(&at, &progress.whole(path), message);
            return None;
        }
        Some(text)
    }

    /// Reads a text, or the text of a variable or a file.
    fn text(&mut self, node: Node, path: &str, progress: &mut Progress) -> Option<String> {
        let (at, whole) = (node.at.clone(), progress.whole(path));
        match node.value {
            NodeValue::Scalar(Scalar::Text(text)) => Some(text),
            NodeValue::Scalar(_) => {
                self.problem(&at, &whole, "must be a text; write it in quotes");
                None
            }
            NodeValue::Mapping(entries) => {
                progress.hidden.insert(path.to_owned());
                match self.source(&entries) {
                    Ok(text) => Some(text),
                    Err(message) => {
                        self.problem(&at, &whole, message);
                        None
                    }
                }
            }
            NodeValue::List(_) => {
                self.problem(&at, &whole, "must be a text, not a list");
                None
            }
        }
    }

    /// Returns the text of `{env: NAME}` or `{file: PATH}`.
    fn source(&self, entries: &[Entry]) -> Result<String, String> {
        let form = "must be a text, `{env: NAME}` or `{file: PATH}`";
        let [Entry { key, value, .. }] = entries else { return Err(form.to_owned()) };
        let NodeValue::Scalar(Scalar::Text(name)) = &value.value else {
            return Err(form.to_owned());
        };
        let text = match key.as_str() {
            "env" => (self.sources.variable)(name).ok_or_else(|| {
                format!("needs the environment variable `{name}`, which is not set; set it")
            })?,
            "file" => {
                let path = self.folder.join(name);
                let text = (self.sources.file)(&path).map_err(|why| {
                    format!("cannot be read from `{}`: {why}; correct the path", path.display())
                })?;
                let end = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n'));
                end.map(str::to_owned).unwrap_or(text)
            }
            _ => return Err(form.to_owned()),
        };
        if text.len() > VALUE_BYTES_MAX {
            return Err(format!("`{name}` has more than {VALUE_BYTES_MAX} bytes"));
        }
        Ok(text)
    }

    fn reference(
        &mut self,
        field: &'static Field,
        node: Node,
        path: &str,
        progress: &mut Progress,
    ) -> Option<NamedReference> {
        let at = node.at.clone();
        progress.positions.insert(path.to_owned(), at.clone());
        // A key may look like a number.
        let text = match node.value {
            NodeValue::Scalar(Scalar::Integer(_, written) | Scalar::Number(written)) => written,
            NodeValue::Scalar(_) | NodeValue::List(_) | NodeValue::Mapping(_) => {
                self.text(node, path, progress)?
            }
        };
        let is_hidden = progress.hidden.contains(path);
        Some(NamedReference { field: field.name, path: progress.whole(path), at, text, is_hidden })
    }
}

/// Returns the maximum number of elements of a list.
pub(crate) fn elements_max(shape: Shape) -> Option<usize> {
    if let Shape::SetOfTags { max, .. } | Shape::ListOfDomains { max } = shape {
        return Some(max as usize);
    }
    None
}

/// Returns the problem of an element of a list.
fn element_problem(shape: Shape, text: &str) -> Option<String> {
    if let Shape::SetOfTags { .. } = shape {
        return Tag::parse(text).err().map(|why| why.to_string());
    }
    if let Shape::ListOfDomains { .. } = shape {
        return Shape::DomainName { max: DOMAIN_CHARS_MAX }.violated_by(text);
    }
    let names = shape.names().filter(|names| !names.contains(&text))?;
    Some(unknown_name(text, names))
}

/// Returns the problem of a tag that differs from an earlier one only in case. Keeps it in `tags`.
fn repeated(shape: Shape, text: &str, tags: &mut HashMap<String, String>) -> Option<String> {
    let Shape::SetOfTags { .. } = shape else { return None };
    let first = tags.entry(text.to_lowercase()).or_insert_with(|| text.to_owned());
    let message = "differs from an earlier tag only in case, which does not distinguish tags";
    (first != text).then(|| message.to_owned())
}

fn unknown_name(given: &str, names: &'static [&'static str]) -> String {
    let meant = suggestion(given, names);
    if names.len() > NAMES_SHOWN {
        let first = names[..NAMES_SHOWN].join(", ");
        return format!("must be one of {} names, such as {first}{meant}", names.len());
    }
    format!("must be one of {}{meant}", names.join(", "))
}
