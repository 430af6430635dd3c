//! Subscription pages as HTML: a form, a question with one button, or a result.

use askama::Template;
use domain::page::PageView;
use rules::ComponentId;
use rules::status_page::{ComponentScope, StatusPage, Subscriber, Topic};

use super::super::html::{PageLayout, render};
use super::super::i18n::Strings;
use super::super::token::Purpose;
use super::form::components_of;
use super::{i18n, language_of};

#[derive(Template)]
#[template(path = "subscribe.html")]
struct Subscribe<'a> {
    frame: PageLayout<'a>,
    strings: &'static i18n::SubscribeStrings,
    heading: &'static str,
    sentences: Vec<&'static str>,
    form: Option<Form>,
    wrong: Option<&'static str>,
    has_feeds: bool,
}

/// A form for visitors.
pub(super) struct Form {
    action: String,
    button: &'static str,
    has_email_field: bool,
    topics: Vec<Choice>,
    components: Vec<Choice>,
}

struct Choice {
    value: String,
    label: String,
    is_selected: bool,
}

/// Result of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultPage {
    /// A confirmation email was sent, or the reason why not is withheld.
    Sent,
    Confirmed,
    Saved,
    Ended,
}

impl Form {
    /// Returns the form that asks for an email address.
    pub(super) fn for_signup(view: &PageView, base: &str, words: &'static Strings) -> Self {
        let strings = i18n::for_language(language_of(words));
        let component = |(id, name): (ComponentId, &str)| Choice {
            value: id.to_string(),
            label: name.to_owned(),
            is_selected: false,
        };
        Self {
            action: format!("{base}/subscribe"),
            button: strings.submit,
            has_email_field: true,
            topics: topics(strings, Topic::BY_DEFAULT),
            components: components_of(view).map(component).collect(),
        }
    }

    /// Returns the form that asks for confirmation with one button.
    pub(super) fn button(purpose: Purpose, action: String, words: &'static Strings) -> Self {
        let strings = i18n::for_language(language_of(words));
        let button = match purpose {
            Purpose::Confirm => strings.confirm,
            Purpose::Manage => strings.save,
            Purpose::Unsubscribe => strings.unsubscribe,
        };
        let (topics, components) = (Vec::new(), Vec::new());
        Self { action, button, has_email_field: false, topics, components }
    }

    /// Returns the form with the choices of a subscriber.
    pub(super) fn for_manage(
        view: &PageView,
        subscriber: &Subscriber,
        action: String,
        words: &'static Strings,
    ) -> Self {
        let strings = i18n::for_language(language_of(words));
        let settings = &subscriber.settings;
        let is_chosen = |id: &ComponentId| match &settings.scope {
            ComponentScope::All => false,
            ComponentScope::Some(ids) => ids.contains(id),
        };
        let component = |(id, name): (ComponentId, &str)| Choice {
            is_selected: is_chosen(&id),
            value: id.to_string(),
            label: name.to_owned(),
        };
        Self {
            action,
            button: strings.save,
            has_email_field: false,
            topics: topics(strings, &settings.topics),
            components: components_of(view).map(component).collect(),
        }
    }
}

/// Renders the ways to subscribe to a page, with the form if email is available.
pub(super) fn signup_page(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    (form, wrong): (Option<Form>, Option<&'static str>),
) -> String {
    let strings = i18n::for_language(language_of(words));
    let mut frame = PageLayout::for_page(page, words, base);
    // A live update would discard what the visitor is typing.
    frame.has_access = false;
    let (heading, sentences) = match &form {
        Some(_) => (strings.title, vec![strings.intro]),
        None => (words.subscribe, Vec::new()),
    };
    render(&Subscribe { frame, strings, heading, sentences, form, wrong, has_feeds: true })
}

/// Renders the form for the holder of a token, who may have no access to the page itself.
pub(super) fn token_page(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    (purpose, form): (Purpose, Form),
) -> String {
    let strings = i18n::for_language(language_of(words));
    let frame = PageLayout::restricted(page, words, base);
    let heading = match purpose {
        Purpose::Confirm => strings.confirm_title,
        Purpose::Manage => strings.manage_title,
        Purpose::Unsubscribe => strings.unsubscribe_title,
    };
    let sentences = Vec::new();
    render(&Subscribe {
        frame,
        strings,
        heading,
        sentences,
        form: Some(form),
        wrong: None,
        has_feeds: false,
    })
}

/// Renders the result of an action.
pub(super) fn result_page(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    result: ResultPage,
) -> String {
    let strings = i18n::for_language(language_of(words));
    let frame = PageLayout::restricted(page, words, base);
    let (heading, sentence) = match result {
        ResultPage::Sent => (strings.title, strings.sent),
        ResultPage::Confirmed => (strings.confirm_title, strings.confirmed),
        ResultPage::Saved => (strings.manage_title, strings.saved),
        ResultPage::Ended => (strings.unsubscribe_title, strings.ended),
    };
    let sentences = vec![sentence];
    render(&Subscribe {
        frame,
        strings,
        heading,
        sentences,
        form: None,
        wrong: None,
        has_feeds: false,
    })
}

fn topics(strings: &'static i18n::SubscribeStrings, chosen: &[Topic]) -> Vec<Choice> {
    let choice = |topic: &Topic| Choice {
        value: topic.to_string(),
        label: strings.topic(*topic).to_owned(),
        is_selected: chosen.contains(topic),
    };
    Topic::ALL.iter().map(choice).collect()
}
