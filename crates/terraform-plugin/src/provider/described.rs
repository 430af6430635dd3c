//! The schemas of a provider as data, for documentation and for tests that walk every schema.

use std::collections::BTreeMap;

use super::Catalog;
use crate::function::Signature;
use crate::resource::Identity;
use crate::schema::Schema;

/// All schemas of a catalog by name.
#[derive(Clone, Debug, Default)]
pub struct Described {
    pub resources: BTreeMap<String, Schema>,
    /// Identities of the resources that have one.
    pub identities: BTreeMap<String, Identity>,
    pub data_sources: BTreeMap<String, Schema>,
    pub functions: BTreeMap<String, Signature>,
    pub lists: BTreeMap<String, Schema>,
    pub ephemerals: BTreeMap<String, Schema>,
    pub actions: BTreeMap<String, Schema>,
}

impl<C> Catalog<C> {
    /// Returns all schemas.
    pub fn described(&self) -> Described {
        let identities = self.resources.iter();
        let identities = identities.filter_map(|(name, it)| Some((name.clone(), it.identity()?)));
        Described {
            identities: identities.collect(),
            resources: each(&self.resources, |it| it.schema()),
            data_sources: each(&self.data_sources, |it| it.schema()),
            functions: each(&self.functions, |it| it.signature()),
            lists: each(&self.lists, |it| it.schema()),
            ephemerals: each(&self.ephemerals, |it| it.schema()),
            actions: each(&self.actions, |it| it.schema()),
        }
    }
}

fn each<E, T>(given: &BTreeMap<String, E>, of: impl Fn(&E) -> T) -> BTreeMap<String, T> {
    given.iter().map(|(name, it)| (name.clone(), of(it))).collect()
}
