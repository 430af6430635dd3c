//! Prepares the style sheet and the script for embedding.

use web_assets::{Assets, Surface};

/// Parts of the style sheet, in the order of the cascade.
const STYLE: &[&str] = &[
    "base.css",
    "frame.css",
    "forms.css",
    "tables.css",
    "panels.css",
    "charts.css",
    "home.css",
    "fleet.css",
    "palette.css",
    "monitor.css",
    "monitor-log.css",
    "monitor-form.css",
    "account.css",
    "channels.css",
    "pages.css",
    "incidents.css",
    "planning.css",
    "uptime.css",
    "narrow.css",
];

/// Parts of the script.
const SCRIPTS: &[&str] = &[
    "page.js",
    "forms.js",
    "copy.js",
    "print.js",
    "order.js",
    "preview.js",
    "passkeys.js",
    "live.js",
    "fleet.js",
    "palette.js",
];

fn main() {
    let assets = Assets::from_build_script();
    assets.write_style("dashboard.css", STYLE, Surface::Page);
    assets.write_scripts("dashboard.js", SCRIPTS);
}
