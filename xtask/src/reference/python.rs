//! Formats examples as calls of the Python client. `example` has the other languages.

use std::collections::BTreeSet;

use serde_json::Value;

use super::contract::{Contract, Field, FieldKind, Method};
use super::scenario::Example;
use crate::codegen::{argument, client_name, is_keyword, snake};

/// First lines of every page's Python examples.
pub(super) const SET_UP: &str = "\
from aloft import Client

client = Client()
";
/// Maximum width of a line that can be broken.
const WIDTH: usize = 92;

/// Formats a call.
pub(super) fn python(contract: &Contract, method: &Method, example: &Example) -> String {
    let mut imports = Imports::default();
    let request = imports.arguments(contract, &method.request, &example.request, Taker::Method);
    let package = method.service.split('.').next().unwrap_or_default();
    let call = Expression::Call(format!("client.{package}.{}", snake(&method.name)), request);
    let is_empty = contract.message(&method.response).fields.is_empty();
    let taken = if is_empty { "" } else { "response = " };
    let mut text = taken.to_owned();
    call.write(0, taken.len(), &mut text);
    imports.lines() + &text + "\n"
}

/// The names that an example uses.
#[derive(Default)]
struct Imports {
    messages: BTreeSet<String>,
    uses_times: bool,
}

/// An argument: its name, or none for one that is unpacked, and its value.
type Argument = (Option<String>, Expression);

/// The taker of arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taker {
    Method,
    /// The class of a message, whose arguments have exactly the names of its fields.
    Message,
}

/// A value in Python.
enum Expression {
    Text(String),
    Call(String, Vec<Argument>),
    List(Vec<Expression>),
}

impl Imports {
    fn lines(&self) -> String {
        let mut text = String::new();
        if self.uses_times {
            text += "from datetime import datetime, timezone\n\n";
        }
        let names: Vec<&str> = self.messages.iter().map(String::as_str).collect();
        let line = format!("from aloft import {}\n", names.join(", "));
        match names.as_slice() {
            [] => {}
            _ if line.len() <= WIDTH => text += &line,
            names => text += &format!("from aloft import (\n    {},\n)\n", names.join(",\n    ")),
        }
        if text.is_empty() || text.ends_with("\n\n") { text } else { text + "\n" }
    }

    /// Returns the fields of a message as arguments of its class, or of its method.
    fn arguments(
        &mut self,
        contract: &Contract,
        message: &str,
        value: &Value,
        taker: Taker,
    ) -> Vec<Argument> {
        let fields = &contract.message(message).fields;
        let mut arguments = Vec::new();
        for (json, value) in value.as_object().into_iter().flatten() {
            let field = fields.iter().find(|field| field.json == *json);
            let field = field.expect("examples only have fields of the contract");
            let inner = self.value(contract, field, value);
            arguments.push(if is_keyword(&field.name) && taker == Taker::Message {
                (
                    None,
                    Expression::Text(format!("**{{\"{}\": {}}}", field.name, inner.on_one_line())),
                )
            } else {
                (Some(argument(&field.name)), inner)
            });
        }
        arguments
    }

    fn value(&mut self, contract: &Contract, field: &Field, value: &Value) -> Expression {
        match (value, &field.kind) {
            (Value::Array(items), _) => {
                Expression::List(items.iter().map(|it| self.value(contract, field, it)).collect())
            }
            (Value::Object(_), FieldKind::Object(full)) => {
                let own = contract.message(full).name();
                let name = client_name(full).unwrap_or(own).to_owned();
                self.messages.insert(name.clone());
                Expression::Call(name, self.arguments(contract, full, value, Taker::Message))
            }
            (Value::String(names), FieldKind::Mask) => {
                let names = names.split(',').map(|name| format!("\"{}\"", snake(name)));
                Expression::List(names.map(Expression::Text).collect())
            }
            (Value::String(time), FieldKind::Time) => {
                self.uses_times = true;
                Expression::Text(instant(time))
            }
            (Value::Bool(is), _) => Expression::Text(if *is { "True" } else { "False" }.to_owned()),
            (other, _) => Expression::Text(other.to_string()),
        }
    }
}

impl Expression {
    fn on_one_line(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::on_one_line).collect::<Vec<_>>().join(", "))
            }
            Self::Call(name, arguments) => {
                let argument =
                    |(name, value): &Argument| prefix(name.as_deref()) + &value.on_one_line();
                format!("{name}({})", arguments.iter().map(argument).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Writes a value whose first line starts after `column` characters.
    fn write(&self, indent: usize, column: usize, text: &mut String) {
        let line = self.on_one_line();
        if column + line.chars().count() < WIDTH {
            text.push_str(&line);
            return;
        }
        let (open, close, members): (String, char, Vec<(String, &Self)>) = match self {
            Self::Text(_) => return text.push_str(&line),
            Self::List(items) => {
                ("[".to_owned(), ']', items.iter().map(|item| (String::new(), item)).collect())
            }
            Self::Call(name, arguments) => {
                let named = arguments.iter().map(|(name, value)| (prefix(name.as_deref()), value));
                (format!("{name}("), ')', named.collect())
            }
        };
        text.push_str(&open);
        let inner = indent + 4;
        for (name, member) in members {
            text.push('\n');
            text.push_str(&" ".repeat(inner));
            text.push_str(&name);
            member.write(inner, inner + name.chars().count(), text);
            text.push(',');
        }
        text.push('\n');
        text.push_str(&" ".repeat(indent));
        text.push(close);
    }
}

fn prefix(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("{name}="))
}

/// Formats an RFC 3339 instant in UTC, such as `2026-01-04T02:00:00Z`.
fn instant(time: &str) -> String {
    let numbers = time.split(|it: char| !it.is_ascii_digit()).filter(|it| !it.is_empty());
    let mut numbers: Vec<&str> = numbers.map(|it| it.trim_start_matches('0')).collect();
    // Hours and minutes may be zero, and trailing zeros are left out.
    while numbers.last().is_some_and(|it| it.is_empty()) && numbers.len() > 3 {
        numbers.pop();
    }
    let numbers = numbers.iter().map(|it| if it.is_empty() { "0" } else { it });
    format!("datetime({}, tzinfo=timezone.utc)", numbers.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instant_is_a_datetime_in_utc() {
        let expected = "datetime(2026, 1, 4, 2, tzinfo=timezone.utc)";
        assert_eq!(instant("2026-01-04T02:00:00Z"), expected);
        let expected = "datetime(2026, 11, 20, 0, 30, tzinfo=timezone.utc)";
        assert_eq!(instant("2026-11-20T00:30:00Z"), expected);
        assert_eq!(instant("2026-11-20T00:00:00Z"), "datetime(2026, 11, 20, tzinfo=timezone.utc)");
    }

    #[test]
    fn long_call_has_a_line_per_argument() {
        let text = |text: &str| Expression::Text(text.to_owned());
        let name = "a".repeat(80);
        let inner = Expression::Call("Inner".into(), vec![(Some("b".into()), text("1"))]);
        let list = Expression::List(vec![inner]);
        let call =
            Expression::Call(name.clone(), vec![(Some("c".into()), list), (None, text("**{}"))]);
        let mut written = String::new();
        call.write(0, 0, &mut written);
        assert_eq!(written, format!("{name}(\n    c=[Inner(b=1)],\n    **{{}},\n)"));
    }
}
