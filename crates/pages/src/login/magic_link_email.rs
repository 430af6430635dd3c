//! The email with a login link, with the same content as text and as HTML.

use askama::Template;
use domain::notify::email_style::{BODY, BUTTON, CARD, HEADING, LIGHT, SMALL};
use domain::notify::{ListLinks, Mail};
use rules::status_page::StatusPage;

use super::super::html::render;
use super::super::i18n::Strings;

#[derive(Template)]
#[template(path = "magic_link_email.html")]
struct MagicLinkEmail<'a> {
    words: &'static Strings,
    page: &'a str,
    title: &'a str,
    why: &'a str,
    link: &'a str,
}

/// Creates the email to this mailbox. `number` is random and makes its ID unique.
pub(super) fn compose(
    page: &StatusPage,
    words: &'static Strings,
    link: &str,
    (mailbox, number): (&str, u64),
) -> Mail {
    let name = page.settings.title.as_str();
    let title = words.link_title.replace("{}", name);
    let why = words.link_text.replace("{}", name);
    let text = format!(
        "{title}\n\n{why}\n\n{open}: {link}\n\n{unasked}\n",
        open = words.enter,
        unasked = words.link_unrequested,
    );
    let email = MagicLinkEmail { words, page: name, title: &title, why: &why, link };
    let html = render(&email);
    let id = format!("enter-{number:016x}");
    Mail {
        to: mailbox.to_owned(),
        subject: title.clone(),
        text,
        html,
        thread: id.clone(),
        id,
        list: ListLinks::None,
    }
}
