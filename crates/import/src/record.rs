//! An object of a source, read field by field. Reading takes a field out, so that the fields that
//! nobody read can be listed, and none disappears unnoticed.

use serde_json::{Map, Value};

/// An object of the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    fields: Map<String, Value>,
    /// Descriptions of values that have the wrong type.
    wrong: Vec<String>,
}

impl Record {
    /// Returns the object in `value`, or `None` for any other value.
    pub(crate) fn of(value: Value) -> Option<Self> {
        match value {
            Value::Object(fields) => Some(Self::from(fields)),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => None,
        }
    }

    /// Returns the object with another field.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    /// Returns whether the field has a value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| !is_unset(value))
    }

    /// Returns the field without taking it.
    pub(crate) fn peek(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// Takes a value as it is, unless it is unset.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name).filter(|value| !is_unset(value))
    }

    /// Takes a text that is not empty. Numbers and booleans are read as they are written.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        let value = self.take(name)?;
        match value {
            Value::String(text) => Some(text),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => self.wrong(name, "a text", &value),
        }
    }

    /// Takes a number, which may be written as text.
    pub(crate) fn number(&mut self, name: &str) -> Option<f64> {
        let value = self.take(name)?;
        let number = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
        };
        match number.filter(|number| number.is_finite()) {
            Some(number) => Some(number),
            None => self.wrong(name, "a number", &value),
        }
    }

    /// Takes a whole number. Fractions are cut.
    pub(crate) fn integer(&mut self, name: &str) -> Option<i64> {
        self.number(name).map(|number| number as i64)
    }

    /// Takes a boolean. Databases write 0 and 1, forms write texts.
    pub(crate) fn flag(&mut self, name: &str) -> Option<bool> {
        let value = self.take(name)?;
        let flag = match &value {
            Value::Bool(flag) => Some(*flag),
            Value::Number(number) => number.as_f64().map(|number| number != 0.0),
            Value::String(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Some(true),
                "false" | "no" | "off" | "0" => Some(false),
                _ => None,
            },
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        };
        match flag {
            Some(flag) => Some(flag),
            None => self.wrong(name, "true or false", &value),
        }
    }

    /// Takes a list; an absent one is empty.
    pub(crate) fn list(&mut self, name: &str) -> Vec<Value> {
        match self.fields.remove(name) {
            Some(Value::Array(items)) => items,
            Some(value) if !is_unset(&value) => {
                self.wrong(name, "a list", &value).unwrap_or_default()
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// Takes a list of objects. Other items are noted as wrong.
    pub(crate) fn records(&mut self, name: &str) -> Vec<Self> {
        let items = self.list(name);
        items
            .into_iter()
            .filter_map(|item| match item {
                Value::Object(fields) => Some(Self::from(fields)),
                other @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)) => self.wrong(name, "a list of objects", &other),
            })
            .collect()
    }

    /// Takes a list of texts. Numbers are read as texts, other items are noted as wrong.
    pub(crate) fn texts(&mut self, name: &str) -> Vec<String> {
        let items = self.list(name);
        items
            .into_iter()
            .filter_map(|item| match item {
                Value::String(text) => Some(text),
                Value::Number(number) => Some(number.to_string()),
                other @ (Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
                    self.wrong(name, "a list of texts", &other)
                }
            })
            .collect()
    }

    /// Takes an object.
    pub(crate) fn record(&mut self, name: &str) -> Option<Self> {
        let value = self.take(name)?;
        match value {
            Value::Object(fields) => Some(Self::from(fields)),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)) => self.wrong(name, "an object", &other),
        }
    }

    /// Takes the fields of an object of texts, such as headers, by name.
    pub(crate) fn pairs(&mut self, name: &str) -> Vec<(String, String)> {
        let Some(mut inner) = self.record(name) else { return Vec::new() };
        let names: Vec<String> = inner.fields.keys().cloned().collect();
        let pairs = names
            .into_iter()
            .map(|key| {
                let value = inner.text(&key).unwrap_or_default();
                (key, value)
            })
            .collect();
        self.wrong.append(&mut inner.wrong);
        pairs
    }

    /// Takes an identifier, which some sources write as number and others as text.
    pub(crate) fn id(&mut self, name: &str) -> Option<String> {
        self.text(name)
    }

    /// Drops fields that have no meaning outside of the source.
    pub(crate) fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.fields.remove(*name);
        }
    }

    /// Drops fields that still have their default, so that only chosen values are listed.
    pub(crate) fn ignore_default(&mut self, name: &str, default: &Value) {
        if self.fields.get(name) == Some(default) {
            self.fields.remove(name);
        }
    }

    /// Returns the names of the fields that have a value.
    pub(crate) fn names(&self) -> Vec<String> {
        let set = self.fields.iter().filter(|(_, value)| !is_unset(value));
        set.map(|(name, _)| name.clone()).collect()
    }

    /// Returns the fields that nobody read, and what was wrong with others.
    pub(crate) fn finish(self) -> (Vec<String>, Vec<String>) {
        (self.names(), self.wrong)
    }

    fn wrong<T>(&mut self, name: &str, expected: &str, found: &Value) -> Option<T> {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "another text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.wrong.push(format!("`{name}` must be {expected}, but is {found}"));
        None
    }
}

impl From<Map<String, Value>> for Record {
    fn from(fields: Map<String, Value>) -> Self {
        Self { fields, wrong: Vec::new() }
    }
}

/// Returns whether a value says nothing: null, or an empty text, list or object.
fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unread_and_wrong_fields_are_listed() {
        let mut record = Record::of(json!({
            "id": 7, "name": "a", "rate": "1.5", "on": 1, "bad": [1], "new": true, "gone": null, "empty": ""
        }))
        .unwrap();
        assert_eq!(record.id("id").as_deref(), Some("7"));
        assert_eq!(record.text("name").as_deref(), Some("a"));
        assert_eq!(record.number("rate"), Some(1.5));
        assert_eq!(record.flag("on"), Some(true));
        assert_eq!(record.text("bad"), None);
        let (rest, wrong) = record.finish();
        assert_eq!(rest, ["new"]);
        assert_eq!(wrong, ["`bad` must be a text, but is a list"]);
    }
}
