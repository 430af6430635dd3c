//! Planned maintenance: a calendar of windows, a list, and forms with a preview of the next windows. The
//! service validates and plans; `picker` finds monitors and components in long lists, and `in_words` shows
//! recurrences.

mod calendar;
mod form_page;
mod in_words;
mod list;
mod picker;
mod preview;
mod show;

use axum::routing::{get, post};

use crate::route::{EDITOR, Route, VIEWER};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/maintenance", VIEWER, || get(list::show)),
    Route::get("/w/{workspace}/maintenance/new", EDITOR, || get(form_page::new)),
    Route::post("/w/{workspace}/maintenance/new", EDITOR, || post(form_page::create))
        .with_fleet_form(),
    // Parts of the form for the scripts; without them, the form is sent.
    Route::post("/w/{workspace}/maintenance/preview", EDITOR, || post(form_page::preview_part))
        .with_fleet_form(),
    Route::post("/w/{workspace}/maintenance/monitors", EDITOR, || post(form_page::monitors_part))
        .with_fleet_form(),
    Route::post("/w/{workspace}/maintenance/components", EDITOR, || {
        post(form_page::components_part)
    })
    .with_fleet_form(),
    Route::get("/w/{workspace}/maintenance/{maintenance}", VIEWER, || get(show::show)),
    Route::get("/w/{workspace}/maintenance/{maintenance}/edit", EDITOR, || get(form_page::edit)),
    Route::post("/w/{workspace}/maintenance/{maintenance}/edit", EDITOR, || {
        post(form_page::update)
    })
    .with_fleet_form(),
    // Alerts that the window held are sent.
    Route::post("/w/{workspace}/maintenance/{maintenance}/end", EDITOR, || post(show::end))
        .within(15),
    Route::post("/w/{workspace}/maintenance/{maintenance}/delete", EDITOR, || post(show::delete))
        .within(15),
];
