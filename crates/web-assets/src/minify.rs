//! Minifies style sheets and scripts.

/// Returns the style sheet without comments and spaces.
pub(crate) fn style(source: &str) -> String {
    minifier::css::minify(source).expect("style sheets are valid").to_string()
}

/// Returns the script without comments and spaces.
pub(crate) fn script(source: &str) -> String {
    minifier::js::minify(source).expect("scripts are valid").to_string()
}
