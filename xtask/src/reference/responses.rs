//! Reads the responses that tests recorded, and checks that they still fit their messages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::contract::{Contract, Field, FieldKind, Message};

/// Folder of the responses, with a file per service.
const FOLDER: &str = "docs/reference/responses";

/// Returns responses by the paths of their methods. Fails if one has a field that its message
/// lacks.
pub(super) fn read(workspace: &Path, contract: &Contract) -> Result<BTreeMap<String, Value>> {
    let mut answers = BTreeMap::new();
    let folder = workspace.join(FOLDER);
    if !folder.exists() {
        return Ok(answers);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).context(name.clone())?;
        let recorded: BTreeMap<String, Value> = serde_json::from_str(&text).context(name)?;
        answers.extend(recorded);
    }
    for (call, answer) in &answers {
        let method = contract.methods().find(|method| method.path() == *call);
        let method = method.with_context(|| format!("{FOLDER}: unknown method `{call}`"))?;
        fits(contract, contract.message(&method.response), answer).with_context(|| {
            format!("the recorded response of `{call}` is outdated; record it again")
        })?;
    }
    Ok(answers)
}

fn fits(contract: &Contract, message: &Message, value: &Value) -> Result<()> {
    let Some(fields) = value.as_object() else { bail!("{} is {value}", message.full) };
    for (name, value) in fields {
        let field = message.fields.iter().find(|field| field.json == *name);
        let field = field.with_context(|| format!("unknown field `{name}` in {}", message.full))?;
        let values = match (field.repeated, value) {
            (true, Value::Array(values)) => values.iter().collect(),
            (true, other) => bail!("{}.{name} is {other}", message.full),
            (false, value) => vec![value],
        };
        for value in values {
            fits_kind(contract, message, field, value)?;
        }
    }
    Ok(())
}

fn fits_kind(contract: &Contract, message: &Message, field: &Field, value: &Value) -> Result<()> {
    let fine = match &field.kind {
        FieldKind::Text | FieldKind::Time | FieldKind::Mask => value.is_string(),
        FieldKind::Number => value.is_i64(),
        FieldKind::Flag => value.is_boolean(),
        FieldKind::Object(full) => return fits(contract, contract.message(full), value),
    };
    if !fine {
        bail!("{}.{} is {value}", message.full, field.json);
    }
    Ok(())
}
