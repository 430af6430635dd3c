//! Login page of pages with restricted access, the pages of login by email, and messages that
//! belong to no page.

use askama::Template;
use rules::AccessType;
use rules::status_page::StatusPage;

use super::super::i18n::Strings;
use super::{PageLayout, STYLE, render};

/// Input that the login page offers.
enum LoginInput<'a> {
    Nothing,
    Password,
    /// A form for an email address at one of the page's domains.
    Email,
    /// A button that uses the link with this token.
    Button(&'a str),
}

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    frame: PageLayout<'a>,
    sentence: &'a str,
    /// Advice below the message.
    about: Option<&'a str>,
    input: LoginInput<'a>,
    wrong: Option<&'a str>,
}

/// Renders the form that gives access to the page.
pub(crate) fn login_page(page: &StatusPage, words: &'static Strings, base: &str) -> String {
    match page.settings.effective_access() {
        AccessType::EmailDomain => email_form(page, words, base, None),
        // A public page has no login page that a visitor could reach.
        AccessType::Password | AccessType::Public => password_form(page, words, base, None),
    }
}

/// Renders the password form, with the error of the last attempt.
pub(crate) fn password_form(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    wrong: Option<&str>,
) -> String {
    with_input(page, words, base, (words.password_prompt, LoginInput::Password, wrong))
}

/// Renders the form for an email address, with the error of the last attempt.
pub(crate) fn email_form(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    wrong: Option<&str>,
) -> String {
    with_input(page, words, base, (words.email_prompt, LoginInput::Email, wrong))
}

/// Renders the message that a link is sent if the address is at one of the page's domains.
pub(crate) fn link_sent(page: &StatusPage, words: &'static Strings, base: &str) -> String {
    with_input(page, words, base, (words.link_sent, LoginInput::Nothing, None))
}

/// Renders the button that uses the link with this token.
pub(crate) fn link_button(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    token: &str,
) -> String {
    with_input(page, words, base, (words.link_is_good, LoginInput::Button(token), None))
}

/// Tells visitors who need a link by email that this server cannot send any.
pub(crate) fn email_unavailable(page: &StatusPage, words: &'static Strings, base: &str) -> String {
    with_input(page, words, base, (words.no_email, LoginInput::Nothing, None))
}

/// Renders one sentence that belongs to no page, with advice below it.
pub(crate) fn message_page(sentence: &str, about: Option<&str>, words: &'static Strings) -> String {
    let frame = PageLayout {
        words,
        heading: sentence.to_owned(),
        title: "",
        about: None,
        homepage: None,
        contact: None,
        theme: None,
        base: "",
        home: "/",
        has_access: false,
        is_preview: false,
        skip: ("content", words.skip_to_content),
        has_icon: false,
        is_listed: false,
        share: None,
        style: STYLE,
    };
    render(&LoginPage { frame, sentence, about, input: LoginInput::Nothing, wrong: None })
}

fn with_input(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    (sentence, input, wrong): (&str, LoginInput<'_>, Option<&str>),
) -> String {
    let frame = PageLayout::restricted(page, words, base);
    render(&LoginPage { frame, sentence, about: None, input, wrong })
}
