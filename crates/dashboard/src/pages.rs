//! Status pages: their settings, components and groups in order, a preview, the custom domain and the
//! subscribers.
//!
//! `summary` reads a stored page, `fields` builds its form, and `arrangement` orders components and
//! groups. The other modules are screens.

mod arrangement;
mod components;
mod create;
mod delete;
mod detail;
mod domain;
mod edit;
mod fields;
mod groups;
mod list;
mod monitors;
mod order;
mod part_form;
mod preview;
mod publication;
mod subscribers;
mod summary;

use axum::routing::{get, post};

pub(crate) use self::summary::TABS;
use crate::route::{EDITOR, Route, VIEWER};

/// Time for the DNS lookups of a custom domain, in seconds.
const DNS_SECONDS: u64 = 35;
/// Time for changes of many components, in seconds.
const CHANGES_SECONDS: u64 = 15;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/pages", VIEWER, || get(list::show)),
    Route::get("/w/{workspace}/pages/new", EDITOR, || get(create::show)),
    Route::post("/w/{workspace}/pages/new", EDITOR, || post(create::submit)),
    Route::get("/w/{workspace}/pages/{page}", VIEWER, || get(detail::show)),
    Route::get("/w/{workspace}/pages/{page}/preview", VIEWER, || get(preview::show)),
    Route::post("/w/{workspace}/pages/{page}/preview", EDITOR, || post(preview::submit)),
    Route::get("/w/{workspace}/pages/{page}/edit", EDITOR, || get(edit::show)),
    Route::post("/w/{workspace}/pages/{page}/edit", EDITOR, || post(edit::submit)),
    Route::post("/w/{workspace}/pages/{page}/publication", EDITOR, || post(publication::publish)),
    Route::post("/w/{workspace}/pages/{page}/theme", EDITOR, || post(publication::set_theme)),
    Route::post("/w/{workspace}/pages/{page}/indexing", EDITOR, || post(publication::set_indexing)),
    Route::get("/w/{workspace}/pages/{page}/delete", EDITOR, || get(delete::ask)),
    Route::post("/w/{workspace}/pages/{page}/delete", EDITOR, || post(delete::submit)),
    Route::post("/w/{workspace}/pages/{page}/order", EDITOR, || post(order::submit))
        .within(CHANGES_SECONDS),
    Route::get("/w/{workspace}/pages/{page}/monitors", EDITOR, || get(monitors::show)),
    Route::post("/w/{workspace}/pages/{page}/monitors", EDITOR, || post(monitors::submit))
        .within(CHANGES_SECONDS),
    Route::get("/w/{workspace}/pages/{page}/components/new", EDITOR, || get(components::new)),
    Route::post("/w/{workspace}/pages/{page}/components/new", EDITOR, || post(components::create)),
    Route::get("/w/{workspace}/pages/{page}/components/{component}", EDITOR, || {
        get(components::show)
    }),
    Route::post("/w/{workspace}/pages/{page}/components/{component}", EDITOR, || {
        post(components::update)
    }),
    Route::post("/w/{workspace}/pages/{page}/components/{component}/delete", EDITOR, || {
        post(components::delete)
    }),
    Route::get("/w/{workspace}/pages/{page}/groups/new", EDITOR, || get(groups::new)),
    Route::post("/w/{workspace}/pages/{page}/groups/new", EDITOR, || post(groups::create)),
    Route::get("/w/{workspace}/pages/{page}/groups/{group}", EDITOR, || get(groups::show)),
    Route::post("/w/{workspace}/pages/{page}/groups/{group}", EDITOR, || post(groups::update)),
    Route::post("/w/{workspace}/pages/{page}/groups/{group}/delete", EDITOR, || {
        post(groups::delete)
    }),
    Route::get("/w/{workspace}/pages/{page}/domain", EDITOR, || get(domain::show))
        .within(DNS_SECONDS),
    Route::post("/w/{workspace}/pages/{page}/domain", EDITOR, || post(domain::submit))
        .within(DNS_SECONDS),
    Route::get("/w/{workspace}/pages/{page}/subscribers", VIEWER, || get(subscribers::show)),
    Route::post("/w/{workspace}/pages/{page}/subscribers", EDITOR, || post(subscribers::add)),
    Route::post("/w/{workspace}/pages/{page}/subscribers/{subscriber}/remove", EDITOR, || {
        post(subscribers::remove)
    }),
];
