//! Imports from Gatus: its YAML configuration, one file or a folder.
//! The meaning of fields: TwiN/gatus, version 5 of August 2026 (`config/`, `client/`, `alerting/`).

mod alerting;
mod condition;
mod duration;
mod endpoint;
mod files;
mod json;
mod others;
mod provider;
mod variables;

use std::path::Path;

use crate::ImportError;
use crate::assembly::Assembly;
use crate::history::History;
use crate::peer::{Environment, Reading};
use crate::record::Record;

/// Reads a file, or all YAML files of a folder.
pub(crate) fn read(path: &Path, environment: Environment<'_>) -> Result<Reading, ImportError> {
    let mut value = files::read(path)?;
    let mut assembly = Assembly::default();
    variables::resolve(&mut value, environment, &mut assembly);
    let Some(mut config) = Record::of(value) else {
        let remedy = "give the configuration file of Gatus, with `endpoints`";
        return Err(ImportError::unusable(path, "is not a mapping", remedy));
    };
    if !["endpoints", "external-endpoints", "suites"].iter().any(|name| config.has(name)) {
        let remedy = "give the configuration file of Gatus, or its folder";
        return Err(ImportError::unusable(path, "has no `endpoints`", remedy));
    }
    let mut alerting = alerting::Alerting::read(&mut config);
    let folder = files::folder(path);
    let mut members = Vec::new();
    for record in config.records("endpoints") {
        members.extend(endpoint::import(record, &folder, &mut alerting, &mut assembly));
    }
    alerting.import(&mut assembly);
    others::import(config, members, &mut assembly);
    Ok(Reading { assembly, history: History::Incidents(Vec::new()) })
}
