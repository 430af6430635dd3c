//! The content of configuration files: the resources that should exist, with the positions of their
//! fields.

use rules::field::json_name;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value as Json};

use crate::kind::{Address, Kind};
use crate::problem::{Position, Problem};

/// Begin of the value in a message of the service.
const GIVEN: &str = " (given: `";

/// The content of all files of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// Name within the workspace.
    pub name: String,
    /// Resources in the order of creation: none refers to a later one.
    pub resources: Vec<Desired>,
}

/// A resource as a file wants it.
#[derive(Clone, PartialEq)]
pub struct Desired {
    pub address: Address,
    /// Path in the file, such as `monitors.shop`.
    pub path: String,
    /// Position of its key.
    pub at: Position,
    /// Given fields and blocks by their names in the table.
    pub(crate) settings: BTreeMap<&'static str, Setting>,
    /// Positions of the given values by their paths within the resource, such as `headers[0].key`.
    pub(crate) positions: BTreeMap<String, Position>,
    /// Paths of values that are not in the file itself, which may be secrets.
    pub(crate) hidden: BTreeSet<String>,
}

/// Value of a field or a block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Setting {
    /// The value in the contract's JSON.
    Value(Json),
    Reference(Reference),
    References(Vec<Reference>),
}

/// A resource that a field refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// A resource of the same configuration.
    Resource(Address),
    /// ID of another one.
    Id(String),
}

/// Without values, which may be secrets.
impl fmt::Debug for Desired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desired").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Desired {
    /// Returns the resource in the contract's JSON. `id_of` returns the ID of a resource that it refers
    /// to.
    pub fn wire(&self, id_of: impl Fn(&Address) -> String) -> Json {
        let id = |reference: &Reference| match reference {
            Reference::Resource(address) => Json::String(id_of(address)),
            Reference::Id(id) => Json::String(id.clone()),
        };
        let mut wire = Map::new();
        for (name, setting) in &self.settings {
            let value = match setting {
                Setting::Value(value) => value.clone(),
                Setting::Reference(reference) => id(reference),
                Setting::References(references) => references.iter().map(id).collect(),
            };
            wire.insert(json_name(name), value);
        }
        Json::Object(wire)
    }

    /// Returns the names of all fields and blocks that a change sets, in the contract's JSON. Fields that
    /// cannot change are left out, and so are absent ones that the server computes.
    pub fn mask(&self) -> String {
        let kind = self.address.kind;
        let fields = kind.fields().filter(|field| !field.replace && !self.leaves(field));
        let names = fields.map(|field| field.name).chain(kind.blocks().map(|block| block.name));
        names.map(json_name).collect::<Vec<_>>().join(",")
    }

    /// Returns the problem of a field that the service names by its path from the request, such as
    /// `monitor.headers[2].key`.
    pub fn problem(&self, field: &str, message: &str) -> Problem {
        let within = field.split_once('.').map_or("", |(_, within)| within);
        let mut known = within;
        let at = loop {
            match self.positions.get(known) {
                Some(at) => break at,
                None if known.is_empty() => break &self.at,
                None => known = &known[..known.rfind(['.', '[']).unwrap_or(0)],
            }
        };
        let separator = if within.is_empty() { "" } else { "." };
        // The service quotes values.
        let message = match message.split_once(GIVEN) {
            Some((rule, _)) if self.hides(within) => rule,
            Some(_) | None => message,
        };
        Problem::new(at, format!("{}{separator}{within}", self.path), message)
    }

    /// Returns whether the value of this path, or a part of it, is not in the file itself.
    pub(crate) fn hides(&self, path: &str) -> bool {
        let is_part = |rest: &str| rest.is_empty() || rest.starts_with(['[', '.']);
        self.hidden.iter().any(|hidden| hidden.strip_prefix(path).is_some_and(is_part))
    }

    /// Returns whether the field keeps its value, because the file omits it and the server computes it.
    pub(crate) fn leaves(&self, field: &rules::field::Field) -> bool {
        field.presence == rules::field::Presence::Computed
            && !self.settings.contains_key(field.name)
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.address.kind
    }
}
