//! Write-only twins: optional secrets that may be given under another name, which reaches neither
//! plan nor state, beside a version that says when they changed.

use std::ptr;

use rules::field::Resource;
use rules::tables::{NOTIFICATION, STATUS_PAGE};
use terraform_plugin::{Object, Path, Value};

/// A secret that has a twin.
#[derive(Debug)]
pub(crate) struct Twin {
    /// Table of its resource.
    table: &'static Resource,
    /// Block it stands in; `None` beside the other arguments.
    pub(crate) block: Option<&'static str>,
    /// Its name in the table.
    pub(crate) field: &'static str,
}

/// All of them.
static TWINS: [Twin; 2] = [
    Twin { table: &STATUS_PAGE, block: None, field: "password" },
    Twin { table: &NOTIFICATION, block: Some("ntfy"), field: "token" },
];

/// The twins of a resource in one of its blocks, or beside its arguments. A data source has the same
/// name and another table: nothing is written there.
pub(crate) fn of(table: &Resource, block: Option<&str>) -> impl Iterator<Item = &'static Twin> {
    all_of(table).filter(move |twin| twin.block == block)
}

/// All twins of a resource.
pub(crate) fn all_of(table: &Resource) -> impl Iterator<Item = &'static Twin> {
    TWINS.iter().filter(|twin| ptr::eq(twin.table, table))
}

impl Twin {
    /// The name of the argument that is not kept.
    pub(crate) fn write_only(&self) -> String {
        format!("{}_wo", self.field)
    }

    /// The name of its version.
    pub(crate) fn version(&self) -> String {
        format!("{}_wo_version", self.field)
    }

    /// The object that has the twins: the resource, or the block where it is given.
    pub(crate) fn within<'a>(&self, resource: &'a Object) -> Option<&'a Object> {
        match self.block {
            None => Some(resource),
            Some(block) => resource.value(block).elements().first()?.as_object(),
        }
    }

    /// Returns the path of [`Self::within`].
    pub(crate) fn parent(&self) -> Path {
        self.block.map_or_else(Path::root, |block| Path::from(block).index(0))
    }

    /// Whether the secret is given under the name that is not kept. State and plan know by the
    /// version, which is given together with it.
    pub(crate) fn is_used(&self, resource: &Object) -> bool {
        self.within(resource).is_some_and(|object| !object.value(&self.version()).is_null())
    }

    /// Whether two objects say the same version.
    pub(crate) fn same(&self, one: &Object, other: &Object) -> bool {
        let version = |object| Some(self.within(object)?.value(&self.version()));
        version(one) == version(other)
    }

    /// Takes the secret over from the configuration, which is the only one to have it.
    pub(crate) fn add(&self, to: &mut Object, config: &Object) {
        let name = self.write_only();
        let secret = self.within(config).map(|object| object.value(&name).clone());
        if let (Some(to), Some(secret)) = (self.within_mut(to), secret) {
            to.set(name, secret);
        }
    }

    /// Moves the secret to its name of the table, by which the service takes it.
    pub(crate) fn merge(&self, object: &mut Object) {
        let Some(object) = self.within_mut(object) else { return };
        let secret = object.remove(&self.write_only()).unwrap_or_default();
        if object.value(self.field).is_null() {
            object.set(self.field, secret);
        }
    }

    /// Takes the version over from what was before: the service does not know it.
    pub(crate) fn keep_version(&self, read: &mut Object, before: &Object) {
        let name = self.version();
        let version = self.within(before).map(|object| object.value(&name).clone());
        if let (Some(read), Some(version)) = (self.within_mut(read), version) {
            read.set(name, version);
        }
    }

    /// Leaves the secret out, because the state does not keep it.
    pub(crate) fn forget(&self, state: &mut Object) {
        if let Some(object) = self.within_mut(state) {
            object.set(self.field, Value::Null);
        }
    }

    fn within_mut<'a>(&self, resource: &'a mut Object) -> Option<&'a mut Object> {
        match self.block {
            None => Some(resource),
            Some(block) => {
                let Value::List(blocks) = resource.value_mut(block) else { return None };
                if let Value::Object(object) = blocks.first_mut()? { Some(object) } else { None }
            }
        }
    }
}
