//! Reads the configuration of other monitoring programs and services, and writes it as a configuration
//! file of `aloft apply`. Without network access: the command line reads interfaces over HTTPS.
//!
//! In reading order:
//! - Sources: `record` is an object of a source, `json` and `yaml` read files into values.
//! - Conversion: `convert` has the conversions that importers share, `repair` makes drafts valid, `text`
//!   makes names and keys, `channel` has drafts of channels, and `preview` notes what changes and what is impossible.
//! - Result: `assembly` collects and validates resources, `configuration` is the file, `draft_node` and
//!   `node` write it, and `secrets` replaces secrets by names of environment variables.
//! - Peers: `kuma`, `gatus`. `source` selects one.
//! - `history` writes past results and incidents. `error` has the reasons for a failure.

mod assembly;
mod channel;
mod configuration;
mod convert;
mod draft_node;
mod error;
mod gatus;
mod history;
mod json;
mod kuma;
mod node;
mod preview;
mod record;
mod repair;
mod secrets;
mod source;
mod text;
mod yaml;

pub use error::ImportError;
pub use history::{HISTORY_VERSION, HistoryTotals};
pub use preview::{Change, Entry, Loss, ObjectKind, Outcome, Preview, Totals};
pub use secrets::SecretStyle;
pub use source::{Environment, Import, Peer, Written, read};
