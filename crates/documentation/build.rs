//! Prepares the style sheet and the script for embedding.

use web_assets::{Assets, Surface};

/// Parts of the style sheet, in the order of the cascade.
const STYLE: [&str; 8] = [
    "base.css",
    "navigation.css",
    "text.css",
    "code.css",
    "search.css",
    "lists.css",
    "narrow.css",
    "print.css",
];

fn main() {
    let assets = Assets::from_build_script();
    assets.write_style("style.css", &STYLE, Surface::Page);
    assets.write_script("docs.js");
}
