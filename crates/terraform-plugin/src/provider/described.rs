//! What a provider offers as data: for documentation and for tests that walk every schema.

use std::collections::BTreeMap;

use super::Catalog;
use crate::function::Signature;
use crate::resource::Identity;
use crate::schema::Schema;

/// All schemas of a catalog, by name.
#[derive(Clone, Debug, Default)]
pub struct Described {
    /// Of resources.
    pub resources: BTreeMap<String, Schema>,
    /// Identities of those resources that have them.
    pub identities: BTreeMap<String, Identity>,
    /// Of data sources.
    pub data_sources: BTreeMap<String, Schema>,
    /// Of functions.
    pub functions: BTreeMap<String, Signature>,
    /// Of lists.
    pub lists: BTreeMap<String, Schema>,
    /// Of ephemeral resources.
    pub ephemerals: BTreeMap<String, Schema>,
    /// Of actions.
    pub actions: BTreeMap<String, Schema>,
}

impl<C> Catalog<C> {
    /// All schemas, as data.
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
