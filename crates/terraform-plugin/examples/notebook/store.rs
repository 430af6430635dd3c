//! The file with all objects. It stands for a remote service.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::json;
use terraform_plugin::codec::{from_json, to_json};
use terraform_plugin::{Diagnostic, Object, Type, Value};

/// Objects by id in a file. Each is stored as JSON text, because only text keeps numbers exact.
pub(crate) struct Store(Mutex<PathBuf>);

impl Store {
    /// Returns the store of a file, which need not exist yet.
    pub(crate) fn open(file: PathBuf) -> Self {
        Self(Mutex::new(file))
    }

    /// Stores a new object and returns its id.
    pub(crate) fn add(&self, object: Object, ty: &Type) -> Result<(String, Object), Diagnostic> {
        self.change(|all| {
            let last = all.keys().filter_map(|id| id.parse::<u32>().ok()).max();
            let id = (last.unwrap_or(0) + 1).to_string();
            let object = object.with("id", &id);
            all.insert(id.clone(), encoded(&object, ty)?);
            Ok((id, object))
        })
    }

    /// Returns the object with this id, if it exists.
    pub(crate) fn find(&self, id: &str, ty: &Type) -> Result<Option<Object>, Diagnostic> {
        self.change(|all| all.get(id).map(|json| decoded(json, ty)).transpose())
    }

    /// Returns all ids.
    pub(crate) fn ids(&self) -> Result<Vec<String>, Diagnostic> {
        self.change(|all| Ok(all.keys().cloned().collect()))
    }

    /// Replaces an object. Fails if the object is gone.
    pub(crate) fn put(&self, id: &str, object: &Object, ty: &Type) -> Result<(), Diagnostic> {
        self.change(|all| {
            let slot = all.get_mut(id).ok_or_else(|| wrong("the note is gone"))?;
            *slot = encoded(object, ty)?;
            Ok(())
        })
    }

    /// Removes an object.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Diagnostic> {
        self.change(|all| {
            all.remove(id);
            Ok(())
        })
    }

    fn change<T>(
        &self,
        work: impl FnOnce(&mut BTreeMap<String, String>) -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: BTreeMap<String, String> = match std::fs::read(&*file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(wrong)?,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(why) => return Err(wrong(why)),
        };
        let before = all.clone();
        let result = work(&mut all)?;
        if all != before {
            std::fs::write(&*file, json!(all).to_string()).map_err(wrong)?;
        }
        Ok(result)
    }
}

fn encoded(object: &Object, ty: &Type) -> Result<String, Diagnostic> {
    to_json(&Value::Object(object.clone()), ty).map_err(wrong)
}

fn decoded(json: &str, ty: &Type) -> Result<Object, Diagnostic> {
    let value = from_json(json.as_bytes(), ty).map_err(wrong)?;
    value.as_object().cloned().ok_or_else(|| wrong("a note must be an object"))
}

fn wrong(why: impl Display) -> Diagnostic {
    Diagnostic::error("The notebook cannot be used", why.to_string())
}
