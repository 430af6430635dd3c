//! Common parts of all surfaces that answer HTTP: `server`, `pages` and later ones. This crate knows
//! no route, no store and no key.
//!
//! In reading order:
//! - `context` provides time and randomness.
//! - `client` says where a request came from, and `proxies` believes the operator's proxies about it.
//! - `limits` limits the attempts of clients without a key.
//! - `cache` caches values that are expensive to read.
//! - `http_body` negotiates and compresses bodies for browsers, and [`ICON`] is what they show.

pub mod cache;
pub mod client;
pub mod context;
pub mod http_body;
pub mod limits;
pub mod proxies;

/// Icon of the product: a pulse, in colours that are visible on light and dark and represent no
/// status.
pub const ICON: &str = include_str!("../assets/icon.svg");
