//! Prepares the style sheets and the scripts for embedding.

use web_assets::{Assets, Surface};

/// Parts of the style sheet of pages, in the order of the cascade.
const STYLE: [&str; 9] = [
    "base.css",
    "status.css",
    "events.css",
    "components.css",
    "bars.css",
    "tables.css",
    "forms.css",
    "narrow.css",
    "print.css",
];

fn main() {
    let assets = Assets::from_build_script();
    assets.write_style("style.css", &STYLE, Surface::Page);
    assets.write_style("widget.css", &["widget.css"], Surface::Widget);
    assets.write_style("widget_frame.css", &["widget.css", "widget_frame.css"], Surface::Widget);
    assets.write_script("live.js");
    assets.write_script("widget.js");
}
