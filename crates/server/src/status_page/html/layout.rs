//! Common frame of all pages: the owner's name, links, style and script.

use rules::Theme;
use rules::status_page::StatusPage;

use super::super::address::home;
use super::super::i18n::Strings;
use super::super::robots;
use super::STYLE;

/// Frame of a page.
pub(in crate::status_page) struct PageLayout<'a> {
    pub(in crate::status_page) words: &'static Strings,
    pub(in crate::status_page) heading: String,
    pub(in crate::status_page) title: &'a str,
    pub(in crate::status_page) about: Option<&'a str>,
    pub(in crate::status_page) homepage: Option<&'a str>,
    pub(in crate::status_page) contact: Option<&'a str>,
    pub(in crate::status_page) theme: Option<&'static str>,
    /// Prefix of all paths.
    pub(in crate::status_page) base: &'a str,
    pub(in crate::status_page) home: &'a str,
    /// Whether the visitor has access and may see links to feeds.
    pub(in crate::status_page) is_open: bool,
    /// Anchor and label of the skip link.
    pub(in crate::status_page) skip: (&'static str, &'static str),
    pub(in crate::status_page) has_icon: bool,
    /// Whether search engines may list the page.
    pub(in crate::status_page) is_listed: bool,
    /// Open Graph metadata.
    pub(in crate::status_page) share: Option<Share>,
    pub(in crate::status_page) style: &'static str,
}

/// Open Graph metadata (<https://ogp.me>), used when the URL of a page is shared.
pub(in crate::status_page) struct Share {
    pub(in crate::status_page) url: String,
    pub(in crate::status_page) sentence: String,
    /// Text alternative of the image.
    pub(in crate::status_page) alternative: String,
    pub(in crate::status_page) width: u32,
    pub(in crate::status_page) height: u32,
}

impl<'a> PageLayout<'a> {
    /// Returns the frame of a page that the visitor may not see: its name and nothing else.
    pub(in crate::status_page) fn restricted(
        page: &'a StatusPage,
        words: &'static Strings,
        base: &'a str,
    ) -> Self {
        let whole = Self::for_page(page, words, base);
        Self { about: None, homepage: None, contact: None, is_open: false, ..whole }
    }

    pub(in crate::status_page) fn for_page(
        page: &'a StatusPage,
        words: &'static Strings,
        base: &'a str,
    ) -> Self {
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
            is_open: true,
            skip: ("content", words.skip_to_content),
            has_icon: settings.icon.is_some(),
            is_listed: robots::is_listed(page),
            share: None,
            style: STYLE,
        }
    }
}
