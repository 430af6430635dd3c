//! Parts that every HTTP surface needs, in `server`, `pages`, `dashboard` and `documentation`: the
//! clock, the origin of a request, limits, caches, charts and bodies. This crate has no routes, reads
//! no database and authenticates no caller.
//!
//! In reading order:
//! - `context` is the only source of time and randomness.
//! - `peer` has the types that say where a request came from, and `proxies` finds the client's
//!   address behind the operator's proxies.
//! - `limits` counts the attempts of clients without a key.
//! - `cache` caches values that are expensive to read.
//! - `escape` escapes text for HTML, and `chart` draws charts as SVG.
//! - `http_body` compresses bodies for browsers and compares entity tags; [`ICON`] is the product's
//!   icon.

pub mod cache;
pub mod chart;
pub mod context;
pub mod escape;
pub mod http_body;
pub mod limits;
pub mod peer;
pub mod proxies;

/// Icon of the product: a pulse, in colours that are visible on light and dark and represent no
/// status.
pub const ICON: &str = include_str!("../assets/icon.svg");
