//! Public status pages: HTML in the visitor's language, JSON, feeds, calendars, badges and images,
//! and the forms that visitors submit. Every representation passes the same access check and comes
//! from the same cache.
//!
//! `domain::page` decides what a page shows. This crate reads the facts from `store`, renders the
//! view and caches the result. [`routes()`] are the paths, and [`Pages`] is the state behind them.
//! The server implements [`Backend`], for what the database does not have: the latest checks, and
//! the mail server.
//!
//! In reading order:
//! - A request: `routes` lists all paths, `address` finds the page that a path or a host names,
//!   `access` decides whether the visitor may read it, and `handlers` respond. `login` has the
//!   forms for passwords and members, and `signer` signs cookies and links.
//! - Content: `state` is shared by all handlers, `projection` reads a page, and `cache` keeps it
//!   with its representations. `details` has the pages below it, read on demand.
//! - Representations: `html` (with `i18n`, `bars`, `chart`, `report` and `events`), `json`,
//!   `statuspage_v2`, `feed`, `ical`, `markdown`, `badge`, `widget`, `og_image`, `icon`, `robots`.
//! - Visitors: `live` sends updates to open browsers, `subscribe` has the forms of subscribers, and
//!   `token` the tokens in their emails.

mod access;
mod address;
mod badge;
mod bars;
mod cache;
mod chart;
mod details;
mod events;
mod feed;
mod handlers;
mod html;
mod i18n;
mod ical;
mod icon;
mod json;
mod live;
mod login;
mod markdown;
mod og_image;
mod projection;
mod report;
mod robots;
mod routes;
mod signer;
mod state;
mod statuspage_v2;
mod subscribe;
mod token;
mod widget;

pub use self::address::{PageAddress, PageDomain};
pub use self::routes::{domain_routes, page_paths, paths, routes};
pub use self::state::{Backend, BoxFuture, PageMetrics, Pages, PagesParts};
pub use self::token::{Purpose, SubscriberTokens};
