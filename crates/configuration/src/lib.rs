//! Configuration files of `aloft apply`: reads them, compares them with the resources of a workspace,
//! and writes a workspace as a file. By the tables of `rules`, without IO: the caller reads files, variables
//! and the service.
//!
//! In reading order:
//! - `problem` has the positions of mistakes, `yaml` reads the syntax, and `scalar` the types of its
//!   scalars.
//! - `kind` lists the kinds of resources, and `desired` has what a file says about one.
//! - `read` reads files by the tables, and `limits` bounds them.
//! - `compare` finds the differences between a file and a resource, `plan` decides the steps, and
//!   `describe` shows them.
//! - `schema` writes the JSON Schema for editors, and `export` a workspace as a file.

mod compare;
mod describe;
mod desired;
mod export;
mod kind;
mod limits;
mod plan;
mod problem;
mod read;
mod scalar;
mod schema;
mod yaml;

pub use compare::Change;
pub use desired::{Configuration, Desired};
pub use export::{Export, ExportOptions, export, to_yaml};
pub use kind::{Address, Kind};
pub use limits::{FILE_BYTES_MAX, FILES_MAX, KEY_CHARS_MAX, RESOURCES_MAX, VALUE_BYTES_MAX};
pub use plan::{
    Action, Current, Existing, Kept, Plan, PlanOptions, Recorded, Rename, Renamed, Step, plan,
};
pub use problem::{Position, Problem, Problems};
pub use read::{Document, Sources, read};
pub use schema::schema;
pub use yaml::yaml_to_json;
