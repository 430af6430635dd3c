//! Forms of resources, from the tables of `rules`: labels, help, limits, defaults and choices. `values`
//! are what a browser posts or what is stored, `request` turns them into the JSON of the contract, and
//! `control` is one input.
//!
//! A screen takes [`Values`] from the browser, sends [`request::resource`] to the service, and shows a
//! [`Form`] with the service's violations beside their fields.
#![expect(clippy::wildcard_enum_match_arm, reason = "most shapes are a line of text")]

pub(crate) mod control;
mod field_text;
mod request;
mod values;

use contract::rpc::{self, Error};
use rules::Violations;
use rules::field::{Block, Field, Presence, Resource};

use self::control::Control;
pub(crate) use self::field_text::label;
pub(crate) use self::request::{resource, single_block};
pub(crate) use self::values::Values;
use crate::error::sentence;
use crate::extract::Posted;

/// Form of a resource, ready to be shown.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// Fields that everybody fills in.
    pub(crate) main: Vec<Input>,
    /// Fields with sensible defaults, and blocks, in a part that is closed at first.
    pub(crate) more: Vec<Input>,
    /// Whether the second part is open, because a field in it has an error or a value of its own.
    pub(crate) is_more_open: bool,
    /// Message about the whole form.
    pub(crate) message: Option<String>,
}

/// A field or a block of a form.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    Field(FormField),
    Rows(Rows),
    Group(InputGroup),
}

impl Input {
    /// Returns the name of the field or block.
    #[cfg(test)]
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Field(field) => &field.name,
            Self::Group(group) => &group.label,
            Self::Rows(rows) => &rows.name,
        }
    }
}

/// One field.
#[derive(Clone, Debug)]
pub(crate) struct FormField {
    /// Path in the form, such as `headers[0].key`.
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) help: &'static str,
    pub(crate) is_required: bool,
    pub(crate) error: Option<String>,
    pub(crate) control: Control,
}

/// A block that a resource has at most once: its fields, and its repeated blocks.
#[derive(Clone, Debug)]
pub(crate) struct InputGroup {
    pub(crate) label: String,
    pub(crate) help: &'static str,
    pub(crate) error: Option<String>,
    pub(crate) fields: Vec<FormField>,
    pub(crate) rows: Vec<Rows>,
}

/// A repeated block: its rows, and room for another.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "a block has rows of fields")]
pub(crate) struct Rows {
    /// Path in the form, such as `headers` or `webhook.headers`.
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) help: &'static str,
    pub(crate) error: Option<String>,
    pub(crate) rows: Vec<Vec<FormField>>,
    /// Row that a script copies when the person adds one. Its index is `{n}`.
    pub(crate) empty: Vec<FormField>,
    pub(crate) can_grow: bool,
}

/// Fields that a browser posts, in their order.
pub(crate) type PostedFields = Posted<Vec<(String, String)>>;

/// A value to choose, with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
}

/// Parts of a form, in their order.
#[derive(Clone, Copy)]
pub(crate) struct FormSpec<'a> {
    pub(crate) resource: &'static Resource,
    /// Names of the fields and blocks of the first part.
    pub(crate) main: &'a [&'a str],
    /// Names of the fields and blocks of the second part.
    pub(crate) more: &'a [&'a str],
    /// Choices of fields whose values are IDs, or that have other labels than their names. Fields of a
    /// block are asked for as `block.field`.
    pub(crate) choices: &'a dyn Fn(&str) -> Option<Vec<Choice>>,
}

/// Messages by the path of their field.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    fields: Vec<(String, String)>,
    /// Message about the whole form.
    whole: Option<String>,
}

impl Messages {
    /// Returns the messages of a failed call. `resource` is the field of the request that contains the
    /// resource.
    pub(crate) fn from_error(error: &Error, resource: &str) -> Self {
        let violations = rpc::field_violations(error);
        let prefix = format!("{resource}.");
        let fields: Vec<_> = violations
            .iter()
            .map(|it| {
                let path = it.field.strip_prefix(&prefix).unwrap_or(&it.field);
                (path.to_owned(), sentence(&it.description))
            })
            .collect();
        let whole = match fields.len() {
            0 => sentence(error.message.as_deref().unwrap_or("unknown reason")),
            1 => "Nothing was saved. One field needs a change.".to_owned(),
            count => format!("Nothing was saved. {count} fields need a change."),
        };
        Self { fields, whole: Some(whole) }
    }

    /// Removes the name of a second resource of the request from the paths of its fields.
    #[must_use]
    pub(crate) fn nested(mut self, resource: &str) -> Self {
        let prefix = format!("{resource}.");
        for (path, _) in &mut self.fields {
            if let Some(rest) = path.strip_prefix(&prefix) {
                *path = rest.to_owned();
            }
        }
        self
    }

    /// Returns the first message at or below a path.
    pub(crate) fn below(&self, name: &str) -> Option<String> {
        let found = self.fields.iter().find(|(field, _)| is_at_or_below(field, name));
        found.map(|(_, message)| message.clone())
    }

    /// Returns the message about the whole form.
    pub(crate) fn whole(&self) -> Option<&str> {
        self.whole.as_deref()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.whole.is_none()
    }

    /// Returns the message of the field at this path.
    pub(crate) fn get(&self, path: &str) -> Option<String> {
        self.fields.iter().find(|(field, _)| field == path).map(|(_, message)| message.clone())
    }

    /// Returns whether a field at or below this path has a message.
    fn is_below(&self, name: &str) -> bool {
        self.fields.iter().any(|(field, _)| is_at_or_below(field, name))
    }
}

fn is_at_or_below(path: &str, name: &str) -> bool {
    let rest = path.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// Returns the message of the first violation of a field, as a sentence.
pub(crate) fn message(violations: &Violations, field: &str) -> Option<String> {
    let found = violations.0.iter().find(|it| it.field == field)?;
    Some(format!("It {}.", found.allowed))
}

impl Form {
    /// Returns the form with these values and messages.
    pub(crate) fn new(spec: FormSpec<'_>, values: &Values, messages: &Messages) -> Self {
        let inputs = |names: &[&str]| -> Vec<Input> {
            names.iter().map(|name| input(spec, name, values, messages)).collect()
        };
        let is_changed = |name: &&str| {
            messages.is_below(name) || values.differs_from_default(spec.resource, name)
        };
        Self {
            main: inputs(spec.main),
            more: inputs(spec.more),
            is_more_open: spec.more.iter().any(is_changed),
            message: messages.whole.clone(),
        }
    }
}

fn input(spec: FormSpec<'_>, name: &str, values: &Values, messages: &Messages) -> Input {
    if let Some(block) = spec.resource.blocks.iter().find(|block| block.name == name) {
        return if is_single(block) {
            Input::Group(input_group(block, spec, values, messages))
        } else {
            Input::Rows(rows(block, (block.name, spec), values, messages))
        };
    }
    let field = spec.resource.field(name);
    let choices = (spec.choices)(name);
    Input::Field(form_field(field, name.to_owned(), (values, choices), messages))
}

/// Returns the field at this path.
pub(crate) fn form_field(
    field: &'static Field,
    path: String,
    (values, choices): (&Values, Option<Vec<Choice>>),
    messages: &Messages,
) -> FormField {
    FormField {
        label: label(field.name),
        help: field.description,
        is_required: field.presence == Presence::Required,
        error: messages.get(&path),
        control: Control::of(field, &path, values, choices),
        name: path,
    }
}

/// Returns whether a resource has this block at most once.
pub(crate) fn is_single(block: &Block) -> bool {
    block.max == Some(1)
}

fn input_group(
    block: &'static Block,
    spec: FormSpec<'_>,
    values: &Values,
    messages: &Messages,
) -> InputGroup {
    let below = |name: &str| format!("{}.{name}", block.name);
    let field = |field| form_field(field, below(field.name), (values, None), messages);
    let inner = |inner: &'static Block| rows(inner, (&below(inner.name), spec), values, messages);
    InputGroup {
        label: label(block.name),
        help: block.description,
        error: messages.get(block.name),
        fields: block.fields.iter().map(field).collect(),
        rows: block.blocks.iter().map(inner).collect(),
    }
}

/// Returns the rows of a block at this path.
fn rows(
    block: &'static Block,
    (at, spec): (&str, FormSpec<'_>),
    values: &Values,
    messages: &Messages,
) -> Rows {
    let choices = |field: &Field| (spec.choices)(&format!("{at}.{}", field.name));
    let row = |index: &str, values: &Values| -> Vec<FormField> {
        let path = |field: &Field| format!("{at}[{index}].{}", field.name);
        let fields = block.fields.iter();
        fields
            .map(|field| form_field(field, path(field), (values, choices(field)), messages))
            .collect()
    };
    let count = values.rows(at);
    let most = block.max.map_or(usize::MAX, |max| max as usize);
    Rows {
        name: at.to_owned(),
        label: label(block.name),
        help: block.description,
        error: messages.get(at),
        rows: (0..count).map(|index| row(&index.to_string(), values)).collect(),
        empty: row("{n}", &Values::default()),
        can_grow: count < most,
    }
}

#[cfg(test)]
mod tests;
