//! Public status pages: HTML in the visitor's language, JSON, feeds, badges, and the forms of
//! visitors. Every representation passes the same access check and comes from the same cache.
//! `domain::page` decides what a page shows. This crate reads it, renders it and caches the result;
//! [`Backend`] is all that it needs from the server around it.
//!
//! In reading order:
//! - A request: `routes` lists all paths, `address` finds the page that one means, `handlers` answer,
//!   and `access` decides who may read a page (`login`, `token` and `signer` are the ways in).
//! - Content: `state` holds what handlers share, `projection` reads a page, and `cache` keeps it with
//!   its representations. `details` are the pages below it, read on demand.
//! - Representations: `html` (with `i18n`, `bars`, `chart`, `report` and `events`), `json`,
//!   `statuspage_v2`, `feed`, `ical`, `markdown`, `badge`, `widget`, `og_image`, `icon`, `robots`.
//! - Visitors: `live` sends updates, and `subscribe` has the forms of subscribers.

mod access;
mod address;
mod badge;
mod bars;
mod cache;
mod chart;
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
