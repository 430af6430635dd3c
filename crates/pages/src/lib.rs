//! Public status pages: HTML in the visitor's language, JSON, feeds, calendars, badges and images,
//! and the forms that visitors submit. Every representation passes the same access check and comes
//! from the same cache.
//!
//! `domain::page` decides what a page shows. This crate reads the facts from `store`, renders the
//! view and caches the result. [`routes()`] are the paths, [`Pages`] is the state behind them, and
//! the server implements [`Backend`] for the rest: the latest checks, and the login emails, which a
//! visitor waits for. Other emails go through the outbox.
//!
//! In reading order, in which each module imports only from those before it:
//! - Requests: `address` finds the page that a URL means, `signer` signs cookies and tokens,
//!   `token` has the tokens in emails to subscribers, and `access` decides who may read a page.
//! - Content: `source` has the store and what the server answers, `snapshot` is the content of a
//!   page at one time, and `projection` reads it.
//! - Parts of several representations: `robots` has the rules for search engines, `i18n` the
//!   strings, `event_text` incidents as plain text, `report` status reports as text and JSON,
//!   `events` selects ongoing and past events, and `bars` draws days.
//! - Renderers of a snapshot: `og_image`, `badge`, `html`, `widget`, `json`, `feed`, `ical`,
//!   `markdown`, and `statuspage_v2` for Statuspage's JSON. `representation` lists them all, with
//!   their content types and cache keys.
//! - Caches and limits: `cache_rule` has the rules for caches and search engines, `metrics` counts,
//!   `cache` stores snapshots with their rendered representations, `detail_cache` the data of detail
//!   pages, and `icon` the owners' icons. `live_updates` knows the waiting browsers, and
//!   `subscribe_limits` the recent requests.
//! - `state` has all of these as [`Pages`], which the handlers receive.
//! - Handlers: `responses` finds a page, checks access and builds responses for all of them.
//!   `details` reads the pages below a page on demand, `handlers` serve representations, badges and
//!   icons, `login` the forms of restricted pages, `subscribe` those of subscribers, and `live`
//!   sends updates to open browsers. `preview` renders a page for its owners.
//! - `routes` lists all paths, each with its handler.

mod access;
mod address;
mod badge;
mod bars;
mod cache;
mod cache_rule;
mod detail_cache;
mod details;
mod event_text;
mod events;
mod feed;
mod handlers;
mod html;
mod i18n;
mod ical;
mod icon;
mod json;
mod live;
mod live_updates;
mod login;
mod markdown;
mod metrics;
mod og_image;
mod preview;
mod projection;
mod report;
mod representation;
mod responses;
mod robots;
mod routes;
mod signer;
mod snapshot;
mod source;
mod state;
mod statuspage_v2;
mod subscribe;
mod subscribe_limits;
mod token;
mod widget;

pub use self::address::{PageAddress, PageDomain};
pub use self::metrics::PageMetrics;
pub use self::routes::{domain_routes, page_paths, paths, routes};
pub use self::source::{Backend, BoxFuture};
pub use self::state::{Pages, PagesParts};
pub use self::token::{Purpose, SubscriberTokens};
