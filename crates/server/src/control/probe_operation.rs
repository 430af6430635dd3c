//! The operations on probes with their results: JSON on the socket, and types for the command line.

use rules::{ProbeId, Region, Secret, Timestamp};
use serde::{Deserialize, Serialize};

use super::exposed;

/// The fields of a new probe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreateProbe {
    /// Slug of the workspace whose private regions it serves; `None` for other regions.
    #[serde(default)]
    pub workspace: Option<String>,
    /// Name; `None` joins the names of the regions.
    pub name: Option<String>,
    /// Regions that it serves.
    pub regions: Vec<Region>,
}

/// A probe with a new token, the only time that it is shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedProbe {
    pub id: ProbeId,
    pub name: String,
    pub regions: Vec<Region>,
    #[serde(with = "exposed")]
    pub token: Secret<String>,
    /// URL of the running server; `None` without one.
    pub server_url: Option<String>,
}

/// A probe in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeRow {
    pub id: ProbeId,
    pub name: String,
    /// Slug of the workspace whose private regions it serves; `None` for other regions.
    #[serde(default)]
    pub workspace: Option<String>,
    /// Regions that it serves.
    pub regions: Vec<Region>,
    pub created_at: Timestamp,
    /// Time at which the server last heard from it.
    pub last_seen_at: Option<Timestamp>,
    /// Version of its program, as of then.
    pub version: Option<String>,
    /// Address that it connected from, as of then.
    pub address: Option<String>,
    /// End of its previous token; `None` unless the token was rotated and not used since.
    pub previous_token_ends_at: Option<Timestamp>,
    /// Whether it is connected now; `None` if unknown.
    pub connected: Option<bool>,
}

/// An operation on probes. A probe is named by its name or its ID.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub(super) enum ProbeOperation {
    Create(CreateProbe),
    List,
    Rotate { probe: String },
    Delete { probe: String },
}

/// The result of an operation on probes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "result", content = "of", rename_all = "snake_case")]
pub(super) enum ProbeReply {
    /// The probe has a new token.
    Token(CreatedProbe),
    Listed(Vec<ProbeRow>),
    Deleted(ProbeRow),
}
