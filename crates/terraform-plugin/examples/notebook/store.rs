//! The file with all objects, as a service far away would keep them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::json;
use terraform_plugin::codec::{from_json, to_json};
use terraform_plugin::{Diagnostic, Object, Type, Value};

/// Objects by id, in a file: each as its own JSON text, for numbers stay exact as text only.
pub(crate) struct Store(Mutex<PathBuf>);

impl Store {
    /// The store of a file, which need not exist yet.
    pub(crate) fn open(file: PathBuf) -> Self {
        Self(Mutex::new(file))
    }

    /// Keeps a new object, and tells its id.
    pub(crate) fn add(&self, object: Object, ty: &Type) -> Result<(String, Object), Diagnostic> {
        self.change(|all| {
            let last = all.keys().filter_map(|id| id.parse::<u32>().ok()).max();
            let id = (last.unwrap_or(0) + 1).to_string();
            let object = object.with("id", &id);
            all.insert(id.clone(), encoded(&object, ty)?);
            Ok((id, object))
        })
    }

    /// The object of an id, if there is one.
    pub(crate) fn find(&self, id: &str, ty: &Type) -> Result<Option<Object>, Diagnostic> {
        self.change(|all| all.get(id).map(|json| decoded(json, ty)).transpose())
    }

    /// All ids.
    pub(crate) fn ids(&self) -> Result<Vec<String>, Diagnostic> {
        self.change(|all| Ok(all.keys().cloned().collect()))
    }

    /// Replaces an object; one that is gone is an error.
    pub(crate) fn put(&self, id: &str, object: &Object, ty: &Type) -> Result<(), Diagnostic> {
        self.change(|all| {
            let slot = all.get_mut(id).ok_or_else(|| wrong("the note is gone"))?;
            *slot = encoded(object, ty)?;
            Ok(())
        })
    }

    /// Forgets an object.
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
    value.as_object().cloned().ok_or_else(|| wrong("a note is an object"))
}

fn wrong(why: impl Display) -> Diagnostic {
    Diagnostic::error("The notebook cannot be used", why.to_string())
}
