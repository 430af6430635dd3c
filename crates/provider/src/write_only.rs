//! Write-only arguments: a second name of an optional secret, which is in neither plan nor state, beside a version
//! that shows changes.

use std::ptr;

use rules::field::Resource;
use rules::tables::{HTTP_MONITOR, NOTIFICATION, STATUS_PAGE};
use terraform_plugin::{Object, Path, Value};

/// A secret that has a write-only argument.
#[derive(Debug)]
pub(crate) struct WriteOnlyArgument {
    table: &'static Resource,
    /// Its block; `None` at the top level.
    pub(crate) block: Option<&'static str>,
    pub(crate) field: &'static str,
}

static WRITE_ONLY_ARGUMENTS: [WriteOnlyArgument; 3] = [
    WriteOnlyArgument { table: &HTTP_MONITOR, block: None, field: "client_key" },
    WriteOnlyArgument { table: &STATUS_PAGE, block: None, field: "password" },
    WriteOnlyArgument { table: &NOTIFICATION, block: Some("ntfy"), field: "token" },
];

/// Returns the secrets of one block of a resource, or of its top level. Data sources have none.
pub(crate) fn for_block(
    table: &Resource,
    block: Option<&str>,
) -> impl Iterator<Item = &'static WriteOnlyArgument> {
    for_resource(table).filter(move |twin| twin.block == block)
}

/// Returns all such secrets of a resource.
pub(crate) fn for_resource(table: &Resource) -> impl Iterator<Item = &'static WriteOnlyArgument> {
    WRITE_ONLY_ARGUMENTS.iter().filter(|twin| ptr::eq(twin.table, table))
}

impl WriteOnlyArgument {
    /// Returns the name of the write-only argument.
    pub(crate) fn argument_name(&self) -> String {
        format!("{}_wo", self.field)
    }

    /// Returns the name of its version.
    pub(crate) fn version_name(&self) -> String {
        format!("{}_wo_version", self.field)
    }

    /// Returns the object with the arguments: the resource, or the block if it is given.
    pub(crate) fn containing_object<'a>(&self, resource: &'a Object) -> Option<&'a Object> {
        match self.block {
            None => Some(resource),
            Some(block) => resource.value(block).elements().first()?.as_object(),
        }
    }

    /// Returns the path of [`Self::containing_object`].
    pub(crate) fn parent(&self) -> Path {
        self.block.map_or_else(Path::root, |block| Path::from(block).index(0))
    }

    /// Returns whether the write-only argument is used. State and plan hold only its version.
    pub(crate) fn is_used(&self, resource: &Object) -> bool {
        self.containing_object(resource)
            .is_some_and(|object| !object.value(&self.version_name()).is_null())
    }

    /// Returns whether two objects have the same version.
    pub(crate) fn has_same_version(&self, one: &Object, other: &Object) -> bool {
        let version = |object| Some(self.containing_object(object)?.value(&self.version_name()));
        version(one) == version(other)
    }

    /// Copies the secret from the configuration; it is nowhere else.
    pub(crate) fn copy_secret(&self, to: &mut Object, config: &Object) {
        let name = self.argument_name();
        let secret = self.containing_object(config).map(|object| object.value(&name).clone());
        if let (Some(to), Some(secret)) = (self.containing_object_mut(to), secret) {
            to.set(name, secret);
        }
    }

    /// Moves the secret to its name in the table, which the service knows.
    pub(crate) fn merge(&self, object: &mut Object) {
        let Some(object) = self.containing_object_mut(object) else { return };
        let secret = object.remove(&self.argument_name()).unwrap_or_default();
        if object.value(self.field).is_null() {
            object.set(self.field, secret);
        }
    }

    /// Copies the version from `before`; the service does not have it.
    pub(crate) fn restore_version(&self, read: &mut Object, before: &Object) {
        let name = self.version_name();
        let version = self.containing_object(before).map(|object| object.value(&name).clone());
        if let (Some(read), Some(version)) = (self.containing_object_mut(read), version) {
            read.set(name, version);
        }
    }

    /// Removes the secret from a state.
    pub(crate) fn remove_secret(&self, state: &mut Object) {
        if let Some(object) = self.containing_object_mut(state) {
            object.set(self.field, Value::Null);
        }
    }

    fn containing_object_mut<'a>(&self, resource: &'a mut Object) -> Option<&'a mut Object> {
        match self.block {
            None => Some(resource),
            Some(block) => {
                let Value::List(blocks) = resource.value_mut(block) else { return None };
                if let Value::Object(object) = blocks.first_mut()? { Some(object) } else { None }
            }
        }
    }
}
