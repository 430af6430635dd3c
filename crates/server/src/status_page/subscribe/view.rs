//! Subscription pages as HTML: a form, a question with one button, or a result.

use askama::Template;
use domain::page::PageView;
use rules::ComponentId;
use rules::status_page::{ComponentScope, StatusPage, Subscriber, Topic};

use super::super::html::{PageLayout, rendered};
use super::super::i18n::Strings;
use super::super::token::Purpose;
use super::form::components_of;
use super::{i18n, spoken};

#[derive(Template)]
#[template(path = "status_page/subscribe.html")]
struct Subscribe<'a> {
    frame: PageLayout<'a>,
    say: &'static i18n::SubscribeStrings,
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
    asks_address: bool,
    topics: Vec<Choice>,
    components: Vec<Choice>,
}

struct Choice {
    value: String,
    words: String,
    chosen: bool,
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
    pub(super) fn asking(view: &PageView, base: &str, words: &'static Strings) -> Self {
        let say = i18n::of(spoken(words));
        let component = |(id, name): (ComponentId, &str)| Choice {
            value: id.to_string(),
            words: name.to_owned(),
            chosen: false,
        };
        Self {
            action: format!("{base}/subscribe"),
            button: say.submit,
            asks_address: true,
            topics: topics(say, Topic::BY_DEFAULT),
            components: components_of(view).map(component).collect(),
        }
    }

    /// Returns the form that asks for confirmation with one button.
    pub(super) fn button(purpose: Purpose, action: String, words: &'static Strings) -> Self {
        let say = i18n::of(spoken(words));
        let button = match purpose {
            Purpose::Confirm => say.confirm,
            Purpose::Manage => say.save,
            Purpose::Unsubscribe => say.unsubscribe,
        };
        let (topics, components) = (Vec::new(), Vec::new());
        Self { action, button, asks_address: false, topics, components }
    }

    /// Returns the form with the choices of a subscriber.
    pub(super) fn choosing(
        view: &PageView,
        subscriber: &Subscriber,
        action: String,
        words: &'static Strings,
    ) -> Self {
        let say = i18n::of(spoken(words));
        let settings = &subscriber.settings;
        let is_chosen = |id: &ComponentId| match &settings.scope {
            ComponentScope::All => false,
            ComponentScope::Some(ids) => ids.contains(id),
        };
        let component = |(id, name): (ComponentId, &str)| Choice {
            chosen: is_chosen(&id),
            value: id.to_string(),
            words: name.to_owned(),
        };
        Self {
            action,
            button: say.save,
            asks_address: false,
            topics: topics(say, &settings.topics),
            components: components_of(view).map(component).collect(),
        }
    }
}

/// Renders the ways to subscribe to a page, with the form if email is available.
pub(super) fn asks(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    (form, wrong): (Option<Form>, Option<&'static str>),
) -> String {
    let say = i18n::of(spoken(words));
    let mut frame = PageLayout::of(page, words, base);
    // A live update would discard what the visitor is typing.
    frame.is_open = false;
    let (heading, sentences) = match &form {
        Some(_) => (say.title, vec![say.intro]),
        None => (words.subscribe, Vec::new()),
    };
    rendered(&Subscribe { frame, say, heading, sentences, form, wrong, has_feeds: true })
}

/// Renders the form for the holder of a token, who may have no access to the page itself.
pub(super) fn asks_holder(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    (purpose, form): (Purpose, Form),
) -> String {
    let say = i18n::of(spoken(words));
    let frame = PageLayout::closed(page, words, base);
    let heading = match purpose {
        Purpose::Confirm => say.confirm_title,
        Purpose::Manage => say.manage_title,
        Purpose::Unsubscribe => say.unsubscribe_title,
    };
    let sentences = Vec::new();
    rendered(&Subscribe {
        frame,
        say,
        heading,
        sentences,
        form: Some(form),
        wrong: None,
        has_feeds: false,
    })
}

/// Renders the result of an action.
pub(super) fn told(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    said: ResultPage,
) -> String {
    let say = i18n::of(spoken(words));
    let frame = PageLayout::closed(page, words, base);
    let (heading, sentence) = match said {
        ResultPage::Sent => (say.title, say.sent),
        ResultPage::Confirmed => (say.confirm_title, say.confirmed),
        ResultPage::Saved => (say.manage_title, say.saved),
        ResultPage::Ended => (say.unsubscribe_title, say.ended),
    };
    let sentences = vec![sentence];
    rendered(&Subscribe {
        frame,
        say,
        heading,
        sentences,
        form: None,
        wrong: None,
        has_feeds: false,
    })
}

fn topics(say: &'static i18n::SubscribeStrings, chosen: &[Topic]) -> Vec<Choice> {
    let choice = |topic: &Topic| Choice {
        value: topic.to_string(),
        words: say.topic(*topic).to_owned(),
        chosen: chosen.contains(topic),
    };
    Topic::ALL.iter().map(choice).collect()
}
