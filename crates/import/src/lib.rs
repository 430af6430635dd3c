//! Reads the configuration of other monitoring programs and services, and writes it as a configuration
//! file of `aloft apply`. Without network access: the command line reads interfaces over HTTPS.
//!
//! In reading order:
//! - Sources: `record` is an object of a source, `json` and `yaml` read files into values, and
//!   `saved` reads saved answers of interfaces.
//! - Conversion: `convert`, `channel` and `page` have what importers share, `repair` makes drafts valid,
//!   `text` makes names and keys, and `preview` notes every change and loss.
//! - Result: `assembly` collects and validates resources, `configuration` is the file, `draft_node` and
//!   `node` write it, and `secrets` replaces secrets by names of environment variables.
//! - Peers: `peer` lists them, and `source` selects one of `kuma`, `gatus`, `openstatus`, `better_stack`,
//!   `uptimerobot` and `statuspage`.
//! - `live` reads interfaces request by request.
//! - `history` writes past results and incidents, `destination` all files. `error` has the reasons for a failure.

mod assembly;
mod better_stack;
mod channel;
mod configuration;
mod convert;
mod destination;
mod draft_node;
mod error;
mod gatus;
mod history;
mod json;
mod kuma;
mod live;
mod node;
mod openstatus;
mod page;
mod peer;
mod preview;
mod record;
mod repair;
mod saved;
mod secrets;
mod source;
mod statuspage;
mod text;
mod uptimerobot;
mod yaml;

pub use destination::Destinations;
pub use error::ImportError;
pub use history::{HISTORY_VERSION, HistoryTotals};
pub use live::{ApiRequest, Live, LiveService};
pub use peer::{Environment, Peer};
pub use preview::{Change, Entry, Loss, ObjectKind, Outcome, Preview, Totals};
pub use secrets::SecretStyle;
pub use source::{Import, Written, read, read_answers};
