//! One input of a form: what the browser shows for the shape of a field.

use rules::field::{Field, Presence, Shape};

use super::field_text::default_text;
use super::{Choice, Values};

/// An input with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// A line of text. `kind` is the type of the HTML input.
    Line {
        kind: &'static str,
        value: String,
        max: u32,
        placeholder: String,
    },
    /// Text of several lines.
    Area {
        value: String,
        max: u32,
    },
    Number {
        value: String,
        min: i32,
        max: i32,
        placeholder: String,
    },
    Switch {
        is_on: bool,
    },
    /// One of a few values.
    Select {
        options: Vec<SelectOption>,
    },
    /// Any of a few values.
    Checks {
        options: Vec<SelectOption>,
    },
}

/// A value to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelectOption {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

impl Control {
    /// Returns the input of a field with the value at this path, or its default.
    pub(super) fn of(
        field: &Field,
        path: &str,
        values: &Values,
        choices: Option<Vec<Choice>>,
    ) -> Self {
        let value = values.first(path).map(str::to_owned);
        let default = default_text(field);
        match field.shape {
            Shape::Bool => Self::Switch { is_on: values.is_on(path, default == "true") },
            Shape::Integer { min, max } => {
                let value = value.unwrap_or_else(|| default.clone());
                Self::Number { value, min, max, placeholder: default }
            }
            Shape::OneOf(words) => {
                let chosen = [value.unwrap_or(default)];
                let choices = choices.unwrap_or_else(|| named(words));
                Self::Select { options: options(choices, &chosen, field.presence) }
            }
            Shape::Id(_) => {
                let chosen = [value.unwrap_or(default)];
                let choices = choices.unwrap_or_default();
                Self::Select { options: options(choices, &chosen, field.presence) }
            }
            Shape::SetOf(words) => {
                let choices = choices.unwrap_or_else(|| named(words));
                Self::Checks { options: checks(choices, values.all(path)) }
            }
            Shape::SetOfIds(_) => {
                Self::Checks { options: checks(choices.unwrap_or_default(), values.all(path)) }
            }
            Shape::ListOfDomains { .. } => {
                Self::Area { value: values.all(path).join("\n"), max: AREA_CHARS_MAX }
            }
            Shape::SetOfTags { max, chars_max } => Self::Line {
                kind: "text",
                value: values.all(path).join(SEPARATOR),
                max: max * (chars_max + SEPARATOR.len() as u32),
                placeholder: "production, shop".to_owned(),
            },
            Shape::Text { max, .. } if max > LINE_CHARS_MAX => {
                Self::Area { value: value.unwrap_or(default), max }
            }
            Shape::Certificates { max } | Shape::PrivateKey { max } => {
                Self::Area { value: value.unwrap_or(default), max }
            }
            shape => {
                let max = shape.characters().map_or(LINE_CHARS_MAX, |(_, max)| max);
                let value = value.unwrap_or(default);
                let placeholder = placeholder(shape).to_owned();
                Self::Line { kind: kind(field), value, max, placeholder }
            }
        }
    }
}

/// Length above which a text gets several lines, in characters.
const LINE_CHARS_MAX: u32 = 512;
/// Maximum length of a list of domains, in characters.
const AREA_CHARS_MAX: u32 = 16_384;

/// Text between two tags.
const SEPARATOR: &str = ", ";

const fn kind(field: &Field) -> &'static str {
    match field.shape {
        _ if field.sensitive => "password",
        Shape::HttpUrl { .. } => "url",
        Shape::EmailAddress { .. } => "email",
        Shape::PhoneNumber => "tel",
        Shape::TimeOfDay => "time",
        Shape::Instant => "datetime-local",
        _ => "text",
    }
}

const fn placeholder(shape: Shape) -> &'static str {
    match shape {
        Shape::HttpUrl { .. } => "https://example.com",
        Shape::HostPort { .. } => "example.com:443",
        Shape::DomainName { .. } => "example.com",
        Shape::EmailAddress { .. } => "ops@example.com",
        Shape::PhoneNumber => "+4915112345678",
        Shape::Interval { .. } => "30m",
        Shape::TimeZone => "Europe/Berlin",
        _ => "",
    }
}

fn named(words: &[&str]) -> Vec<Choice> {
    let words = words.iter();
    words.map(|word| Choice { value: (*word).to_owned(), label: (*word).to_owned() }).collect()
}

fn options(choices: Vec<Choice>, chosen: &[String], presence: Presence) -> Vec<SelectOption> {
    let is_optional = matches!(presence, Presence::Optional | Presence::Computed);
    let none = Choice { value: String::new(), label: "Not set".to_owned() };
    let all = is_optional.then_some(none).into_iter().chain(choices);
    select(all, chosen)
}

fn checks(choices: Vec<Choice>, chosen: &[String]) -> Vec<SelectOption> {
    select(choices.into_iter(), chosen)
}

fn select(choices: impl Iterator<Item = Choice>, chosen: &[String]) -> Vec<SelectOption> {
    choices
        .map(|Choice { value, label }| {
            let is_chosen = chosen.contains(&value);
            SelectOption { value, label, is_chosen }
        })
        .collect()
}
