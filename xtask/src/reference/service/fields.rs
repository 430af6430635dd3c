//! Generates the table of a message's fields: JSON name, type, source of the value, and
//! description.

use anyhow::{Result, bail};
use rules::field::{Presence, Shape};

use super::ServicePage;
use crate::reference::comment::{Given, parse_field};
use crate::reference::contract::{Field, FieldKind, Message};
use crate::reference::prose::table;
use crate::reference::tables::{self, TableEntry};

/// Marks a field that is required in some cases only.
pub(in crate::reference) const CONDITIONAL: &str = "Required, unless";

/// Returns who gives a field, by its comment and by its table. Fails if they disagree.
pub(in crate::reference) fn given(message: &Message, field: &Field, doc: &Given) -> Result<Given> {
    let of_table = match tables::entry(&message.full, &field.name) {
        Some(TableEntry::Field(entry)) => tables::given(entry),
        Some(TableEntry::Block(_)) | None => Given::Unspecified,
    };
    Ok(match (doc, of_table) {
        (doc, Given::Unspecified) => doc.clone(),
        (Given::Unspecified, table) => table,
        (doc, table) if *doc == table => table,
        (doc, table) => {
            let name = &field.name;
            bail!("{}.{name}: its comment says {doc:?} and its table {table:?}", message.full)
        }
    })
}

impl ServicePage<'_> {
    /// Returns all fields of a message. For inputs, a column names the source of the value.
    pub(super) fn fields(&self, message: &Message, input: bool) -> Result<String> {
        let mut rows = Vec::new();
        for field in &message.fields {
            let mut row = self.field(message, field)?;
            if !input {
                row.remove(2);
            }
            rows.push(row);
        }
        let head: &[&str] = if input {
            &["Field", "Type", "Given", "Description"]
        } else {
            &["Field", "Type", "Description"]
        };
        Ok(table(head, &rows))
    }

    fn field(&self, message: &Message, field: &Field) -> Result<Vec<String>> {
        let doc = parse_field(&field.comment);
        let entry = tables::entry(&message.full, &field.name);
        let given = given(message, field, &doc.given)?;
        if doc.text.is_empty() {
            bail!("{}.{}: its comment has no description", message.full, field.name);
        }
        let mut text = self.format_text(&doc.text);
        if let Some(entry) = entry.filter(|_| given != Given::Output) {
            text += &tables::missing_limits(entry, &text);
        }
        // The sentence names the condition.
        let conditional = text.contains(CONDITIONAL);
        let given = match given {
            Given::Required if conditional => String::new(),
            Given::Required => "required".to_owned(),
            Given::Default(value) => format!("default `{value}`"),
            Given::Output => "output".to_owned(),
            Given::Unspecified => String::new(),
        };
        Ok(vec![format!("`{}`", field.json), self.kind(field, entry), given, text])
    }

    fn kind(&self, field: &Field, entry: Option<TableEntry>) -> String {
        let one = match &field.kind {
            FieldKind::Text => "string".to_owned(),
            FieldKind::Number => "number".to_owned(),
            FieldKind::Flag => "boolean".to_owned(),
            FieldKind::Time => "[time](calling.md#times)".to_owned(),
            FieldKind::Mask => "[mask](calling.md#update-masks)".to_owned(),
            FieldKind::Object(full) => self.book.prose().object(&self.service.package, full),
        };
        let is_set = |shape: Shape| {
            matches!(shape, Shape::SetOf(_) | Shape::SetOfIds(_) | Shape::SetOfTags { .. })
        };
        match entry {
            Some(TableEntry::Field(entry))
                if is_set(entry.shape) && entry.presence != Presence::Output =>
            {
                format!("set of {one}")
            }
            Some(_) | None if field.repeated => format!("list of {one}"),
            Some(_) | None => one,
        }
    }
}
