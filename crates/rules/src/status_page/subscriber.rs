//! Subscribers of a status page: people or programs that are notified of its events. Draft,
//! settings, and the rules between fields; `store` checks that components are on the page.

use super::component::reference;
use super::{A_COMPONENT, A_PAGE};
use crate::enums::{Language, SubscriberKind, SubscriberState, Topic};
use crate::tables::SUBSCRIBER;
use crate::{
    ComponentId, DomainName, PageId, Secret, SubscriberId, Timestamp, Validator, Violations,
    WorkspaceId, limits,
};

/// A stored subscriber. Ended subscriptions are deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    pub id: SubscriberId,
    pub workspace: WorkspaceId,
    /// The subscriber's settings.
    pub settings: SubscriberSettings,
    pub created_at: Timestamp,
    /// Time of confirmation; `None` until the owner of the address confirms it.
    pub confirmed_at: Option<Timestamp>,
    /// Proof of access to the page.
    pub access_proof: AccessProof,
}

/// Proof that a subscriber has access to its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessProof {
    /// An owner of the page added it.
    Owner,
    /// It signed up on a page without password.
    Visitor,
    /// It signed up on a page with this password: a mark that is equal for equal passwords of one
    /// page and does not reveal them.
    Password(Vec<u8>),
}

/// The valid settings of a subscriber. Only [`SubscriberDraft`] and the store create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberSettings {
    /// Fixed.
    pub page_id: PageId,
    /// Fixed.
    pub destination: Destination,
    /// Language of its emails.
    pub language: Language,
    pub scope: ComponentScope,
    /// Sorted, without duplicates, not empty.
    pub topics: Vec<Topic>,
}

/// Destination of a subscriber's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// An email address.
    Email(String),
    /// A URL, which is a secret: anyone who knows it could send to it.
    Webhook(Secret<String>),
}

/// Components of its page that a subscriber is notified of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComponentScope {
    /// All, including future ones, and events of the page as a whole.
    All,
    /// Sorted, without duplicates.
    Some(Vec<ComponentId>),
}

/// A subscriber as sent by a caller or visitor: not validated, every field optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriberDraft {
    pub page_id: Option<String>,
    pub email: Option<String>,
    pub webhook_url: Option<Secret<String>>,
    /// A name of [`Language`].
    pub language: Option<String>,
    pub component_ids: Vec<String>,
    /// Names of [`Topic`].
    pub topics: Vec<String>,
}

impl Topic {
    /// Default topics: those that people write. Monitors fail too often for an email each time.
    pub const BY_DEFAULT: &'static [Self] = &[Self::Reports, Self::Maintenance];
}

impl Destination {
    /// Returns the kind of destination.
    pub const fn kind(&self) -> SubscriberKind {
        match self {
            Self::Email(_) => SubscriberKind::Email,
            Self::Webhook(_) => SubscriberKind::Webhook,
        }
    }

    /// Returns the address or URL.
    pub fn expose(&self) -> &str {
        match self {
            Self::Email(address) => address,
            Self::Webhook(url) => url.expose(),
        }
    }

    /// Returns the domain of an email address in its queried form, by which a page recognises
    /// members.
    pub fn domain(&self) -> Option<DomainName> {
        match self {
            Self::Email(address) => DomainName::from_mailbox(address),
            Self::Webhook(_) => None,
        }
    }

    /// Returns a form that is equal for equivalent destinations: email addresses ignore case.
    pub fn normal(&self) -> String {
        match self {
            Self::Email(address) => address.to_lowercase(),
            Self::Webhook(url) => url.expose().clone(),
        }
    }
}

impl ComponentScope {
    /// Returns the IDs; empty means all components.
    pub fn ids(&self) -> &[ComponentId] {
        match self {
            Self::All => &[],
            Self::Some(ids) => ids,
        }
    }
}

impl Subscriber {
    /// Returns whether it is confirmed.
    pub const fn state(&self) -> SubscriberState {
        match self.confirmed_at {
            Some(_) => SubscriberState::Active,
            None => SubscriberState::Pending,
        }
    }
}

impl SubscriberDraft {
    /// Validates the draft; returns all violations.
    pub fn parse(self) -> Result<SubscriberSettings, Violations> {
        let mut validator = Validator::new(&SUBSCRIBER);
        let settings = settings(&mut validator, self);
        validator.finish(settings)
    }
}

fn settings(validator: &mut Validator, draft: SubscriberDraft) -> Option<SubscriberSettings> {
    let page_id = reference(validator, "page_id", draft.page_id, A_PAGE);
    let destination = destination(validator, draft.email, draft.webhook_url);
    let language = validator.word("language", draft.language);
    let scope = scope(validator, draft.component_ids);
    let topics = validator.variant_set("topics", draft.topics);
    let topics = if topics.is_empty() { Topic::BY_DEFAULT.to_vec() } else { topics };
    Some(SubscriberSettings {
        page_id: page_id?,
        destination: destination?,
        language: language?,
        scope: scope?,
        topics,
    })
}

fn destination(
    validator: &mut Validator,
    email: Option<String>,
    webhook_url: Option<Secret<String>>,
) -> Option<Destination> {
    match (email.is_some(), webhook_url.is_some()) {
        (false, false) => {
            validator.reject_without_value("email", "must be given, or `webhook_url`")
        }
        (true, true) => {
            validator.reject_without_value("webhook_url", "must not be given together with `email`")
        }
        (true, false) => validator.text("email", email).map(Destination::Email),
        (false, true) => validator.secret("webhook_url", webhook_url).map(Destination::Webhook),
    }
}

fn scope(validator: &mut Validator, given: Vec<String>) -> Option<ComponentScope> {
    const FIELD: &str = "component_ids";
    let most = limits::SUBSCRIBER_COMPONENTS_MAX;
    if given.len() > most {
        return validator.refuse(
            FIELD,
            given.len(),
            format!("must name at most {most} components"),
        );
    }
    let mut ids = Vec::new();
    for text in validator.id_set(FIELD, given) {
        match ComponentId::parse(&text) {
            Ok(id) => ids.push(id),
            Err(_) => return validator.refuse(FIELD, text, A_COMPONENT),
        }
    }
    Some(if ids.is_empty() { ComponentScope::All } else { ComponentScope::Some(ids) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_draft() -> SubscriberDraft {
        SubscriberDraft {
            page_id: Some(PageId::from_bits(1).to_string()),
            email: Some("ada@example.com".to_owned()),
            ..SubscriberDraft::default()
        }
    }

    fn refused(draft: SubscriberDraft) -> String {
        let violations = draft.parse().expect_err("the draft is invalid");
        violations.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }

    // issue 7: "email … webhook, per component"
    #[test]
    fn default_topics_are_reports_and_maintenance() {
        let settings = a_draft().parse().unwrap();
        assert_eq!(settings.topics, [Topic::Reports, Topic::Maintenance]);
        assert_eq!((settings.scope, settings.language), (ComponentScope::All, Language::En));
    }

    #[test]
    fn subscriber_has_exactly_one_destination() {
        let neither = SubscriberDraft { email: None, ..a_draft() };
        let url = || Some(Secret::new("https://example.com/hook".to_owned()));
        let both = SubscriberDraft { webhook_url: url(), ..a_draft() };
        assert!(refused(neither.clone()).contains("`webhook_url`"));
        assert!(refused(both).contains("together with `email`"));
        let webhook = SubscriberDraft { webhook_url: url(), ..neither };
        assert_eq!(webhook.parse().unwrap().destination.kind(), SubscriberKind::Webhook);
    }

    #[test]
    fn components_are_a_limited_set() {
        let ids = |count: usize| {
            let id = |bits: usize| ComponentId::from_bits(bits as u64).to_string();
            SubscriberDraft { component_ids: (0..count).map(id).collect(), ..a_draft() }
        };
        let most = limits::SUBSCRIBER_COMPONENTS_MAX;
        assert_eq!(ids(most).parse().unwrap().scope.ids().len(), most);
        assert!(refused(ids(most + 1)).contains("at most"));
        let twice = vec![ComponentId::from_bits(7).to_string(); 2];
        let twice = SubscriberDraft { component_ids: twice, ..a_draft() };
        assert_eq!(twice.parse().unwrap().scope.ids(), [ComponentId::from_bits(7)]);
    }

    #[test]
    fn invalid_address_is_rejected_and_case_ignored() {
        for email in
            ["", "ada", "ada@", "a da@example.com", "ada@example.com\r\nBcc: x@example.com"]
        {
            let draft = SubscriberDraft { email: Some(email.to_owned()), ..a_draft() };
            assert!(draft.parse().is_err(), "{email:?}");
        }
        let written = Destination::Email("Ada@Example.COM".to_owned());
        assert_eq!(written.normal(), "ada@example.com");
    }
}
