//! Common frame of all pages: the owner's name, links, style and script.

use rules::Theme;
use rules::status_page::StatusPage;

use super::super::address::home;
use super::super::i18n::Strings;
use super::super::robots;
use super::STYLE;

/// Frame of a page.
#[expect(clippy::struct_excessive_bools, reason = "each shows or hides a part of its own")]
pub(crate) struct PageLayout<'a> {
    pub(crate) words: &'static Strings,
    pub(crate) heading: String,
    pub(crate) title: &'a str,
    pub(crate) about: Option<&'a str>,
    pub(crate) homepage: Option<&'a str>,
    pub(crate) contact: Option<&'a str>,
    pub(crate) theme: Option<&'static str>,
    /// Prefix of all paths.
    pub(crate) base: &'a str,
    pub(crate) home: &'a str,
    /// Whether the visitor has access and may see links to feeds.
    pub(crate) has_access: bool,
    /// Whether it is shown in a frame of the dashboard, without a script.
    pub(crate) is_preview: bool,
    /// Anchor and label of the skip link.
    pub(crate) skip: (&'static str, &'static str),
    pub(crate) has_icon: bool,
    /// Whether search engines may list the page.
    pub(crate) is_listed: bool,
    /// Open Graph metadata.
    pub(crate) share: Option<Share>,
    pub(crate) style: &'static str,
}

/// Open Graph metadata (<https://ogp.me>), used when the URL of a page is shared.
pub(crate) struct Share {
    pub(crate) url: String,
    pub(crate) sentence: String,
    /// Text alternative of the image.
    pub(crate) alternative: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl<'a> PageLayout<'a> {
    /// Returns the frame of a page that the visitor may not see: its name and nothing else.
    pub(crate) fn restricted(page: &'a StatusPage, words: &'static Strings, base: &'a str) -> Self {
        let whole = Self::for_page(page, words, base);
        Self { about: None, homepage: None, contact: None, has_access: false, ..whole }
    }

    pub(crate) fn for_page(page: &'a StatusPage, words: &'static Strings, base: &'a str) -> Self {
        let settings = &page.settings;
        Self {
            words,
            heading: settings.title.clone(),
            title: &settings.title,
            about: settings.description.as_deref(),
            homepage: settings.homepage_url.as_deref(),
            contact: settings.contact_url.as_deref(),
            theme: match page.theme {
                Theme::System => None,
                Theme::Light => Some("light"),
                Theme::Dark => Some("dark"),
            },
            base,
            home: home(base),
            has_access: true,
            is_preview: false,
            skip: ("content", words.skip_to_content),
            has_icon: settings.icon.is_some(),
            is_listed: robots::is_listed(page),
            share: None,
            style: STYLE,
        }
    }
}
