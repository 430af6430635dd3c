//! A subscriber of a status page: somebody, or a program, who is told what happens on it. Draft,
//! settings, and the rules between them; whether components are on the page is asked by `store`.

use super::component::reference;
use super::{A_COMPONENT, A_PAGE};
use crate::tables::SUBSCRIBER;
use crate::{
    ComponentId, DomainName, PageId, Reader, Secret, SubscriberId, Timestamp, Violations,
    WorkspaceId, limits,
};

words! {
    /// How a subscriber is told.
    SubscriberKind ("kind of subscriber") {
        /// By email.
        Email = "email",
        /// By a webhook, signed like those of channels.
        Webhook = "webhook",
    }

    /// Whether a subscriber is told anything.
    SubscriberState ("state of a subscriber") {
        /// Not yet: whose address it is was asked, and not answered.
        Pending = "pending",
        /// It is told what it wants to hear.
        Active = "active",
    }

    /// Why a subscriber is told nothing at the moment.
    NotTold ("reason why a subscriber is not told") {
        /// Whose address it is was asked, and not answered.
        Pending = "pending",
        /// The page is hidden from visitors.
        Hidden = "page_hidden",
        /// The page is for members, and the address is at none of their domains.
        Domain = "other_domain",
        /// The page has a password, and it was not this one that let the subscriber in.
        Password = "password",
    }

    /// What a subscriber may hear of.
    Topic ("topic") {
        /// Reports that people write.
        Reports = "reports",
        /// Planned maintenance.
        Maintenance = "maintenance",
        /// Incidents of the monitors that components show.
        Incidents = "incidents",
    }

    /// The languages that visitors and subscribers are spoken to in.
    Language ("language") {
        /// English.
        En = "en",
        /// German.
        De = "de",
        /// French.
        Fr = "fr",
        /// Spanish.
        Es = "es",
        /// Portuguese.
        Pt = "pt",
        /// Japanese.
        Ja = "ja",
        /// Chinese.
        Zh = "zh",
    }
}

/// A subscriber as it is stored. One that ended is stored nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// Its identifier.
    pub id: SubscriberId,
    /// Whose page it is.
    pub workspace: WorkspaceId,
    /// What was asked for.
    pub settings: SubscriberSettings,
    /// When it was added.
    pub created_at: Timestamp,
    /// Since when it is told; `None` until whoever has the address said yes.
    pub confirmed_at: Option<Timestamp>,
    /// What shows that it may know what its page tells.
    pub admission: Admission,
}

/// What shows that a subscriber may know what its page tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// An owner of the page added it.
    Owner,
    /// It asked at a page that has no password.
    Visitor,
    /// It asked where the page's password was said: what is the same for two equal passwords of one
    /// page, and tells nothing of them.
    Password(Vec<u8>),
}

/// What a subscriber wants, valid. Only [`SubscriberDraft`] and the store make them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberSettings {
    /// The page; fixed.
    pub page_id: PageId,
    /// Where it is told; fixed.
    pub destination: Destination,
    /// Language of its emails.
    pub language: Language,
    /// What of the page it hears of.
    pub scope: Components,
    /// What it hears of: sorted, each once, at least one.
    pub topics: Vec<Topic>,
}

/// Where a subscriber is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// At this address.
    Email(String),
    /// At this URL, which is a secret: who knows it may write to it.
    Webhook(Secret<String>),
}

/// Which components of its page a subscriber hears of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Components {
    /// All, also those to come, and what is about the page as a whole.
    All,
    /// These; sorted, each once.
    Some(Vec<ComponentId>),
}

/// A subscriber as a caller or a visitor wrote it: nothing checked, everything optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriberDraft {
    /// The page.
    pub page_id: Option<String>,
    /// An address.
    pub email: Option<String>,
    /// A URL.
    pub webhook_url: Option<Secret<String>>,
    /// A word of [`Language`].
    pub language: Option<String>,
    /// Components of the page.
    pub component_ids: Vec<String>,
    /// Words of [`Topic`].
    pub topics: Vec<String>,
}

impl Topic {
    /// What is heard of where nobody says otherwise: what people write. Monitors fail more often than
    /// anybody wants an email for.
    pub const BY_DEFAULT: &'static [Self] = &[Self::Reports, Self::Maintenance];
}

impl Destination {
    /// How it is told there.
    pub const fn kind(&self) -> SubscriberKind {
        match self {
            Self::Email(_) => SubscriberKind::Email,
            Self::Webhook(_) => SubscriberKind::Webhook,
        }
    }

    /// The address or the URL.
    pub fn expose(&self) -> &str {
        match self {
            Self::Email(address) => address,
            Self::Webhook(url) => url.expose(),
        }
    }

    /// The domain of an address, as it is looked up: what members of a page are known by.
    pub fn domain(&self) -> Option<DomainName> {
        match self {
            Self::Email(address) => DomainName::of_mailbox(address),
            Self::Webhook(_) => None,
        }
    }

    /// The same for two that are one: mail programs do not tell cases apart.
    pub fn normal(&self) -> String {
        match self {
            Self::Email(address) => address.to_lowercase(),
            Self::Webhook(url) => url.expose().clone(),
        }
    }
}

impl Components {
    /// The identifiers; none stand for all.
    pub fn ids(&self) -> &[ComponentId] {
        match self {
            Self::All => &[],
            Self::Some(ids) => ids,
        }
    }
}

impl Subscriber {
    /// Whether it is told anything.
    pub const fn state(&self) -> SubscriberState {
        match self.confirmed_at {
            Some(_) => SubscriberState::Active,
            None => SubscriberState::Pending,
        }
    }
}

impl SubscriberDraft {
    /// The settings, or all that is wrong with the draft.
    pub fn parse(self) -> Result<SubscriberSettings, Violations> {
        let mut reader = Reader::new(&SUBSCRIBER);
        let settings = settings(&mut reader, self);
        reader.finish(settings)
    }
}

fn settings(reader: &mut Reader, draft: SubscriberDraft) -> Option<SubscriberSettings> {
    let page_id = reference(reader, "page_id", draft.page_id, A_PAGE);
    let destination = destination(reader, draft.email, draft.webhook_url);
    let language = reader.word("language", draft.language);
    let scope = scope(reader, draft.component_ids);
    let topics = reader.word_set("topics", draft.topics);
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
    reader: &mut Reader,
    email: Option<String>,
    webhook_url: Option<Secret<String>>,
) -> Option<Destination> {
    match (email.is_some(), webhook_url.is_some()) {
        (false, false) => reader.refuse_unseen("email", "must be given, or `webhook_url`"),
        (true, true) => {
            reader.refuse_unseen("webhook_url", "must not be given together with `email`")
        }
        (true, false) => reader.text("email", email).map(Destination::Email),
        (false, true) => reader.secret("webhook_url", webhook_url).map(Destination::Webhook),
    }
}

fn scope(reader: &mut Reader, given: Vec<String>) -> Option<Components> {
    const FIELD: &str = "component_ids";
    let most = limits::SUBSCRIBER_COMPONENTS_MAX;
    if given.len() > most {
        return reader.refuse(FIELD, given.len(), format!("must name at most {most} components"));
    }
    let mut ids = Vec::new();
    for text in reader.id_set(FIELD, given) {
        match ComponentId::parse(&text) {
            Ok(id) => ids.push(id),
            Err(_) => return reader.refuse(FIELD, text, A_COMPONENT),
        }
    }
    Some(if ids.is_empty() { Components::All } else { Components::Some(ids) })
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
        let violations = draft.parse().expect_err("it is refused");
        violations.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }

    // issue 7: "email … webhook, per component"
    #[test]
    fn reports_and_maintenance_of_the_whole_page_are_heard_by_default() {
        let settings = a_draft().parse().unwrap();
        assert_eq!(settings.topics, [Topic::Reports, Topic::Maintenance]);
        assert_eq!((settings.scope, settings.language), (Components::All, Language::En));
    }

    #[test]
    fn a_subscriber_is_told_in_one_way() {
        let neither = SubscriberDraft { email: None, ..a_draft() };
        let url = || Some(Secret::new("https://example.com/hook".to_owned()));
        let both = SubscriberDraft { webhook_url: url(), ..a_draft() };
        assert!(refused(neither.clone()).contains("`webhook_url`"));
        assert!(refused(both).contains("together with `email`"));
        let webhook = SubscriberDraft { webhook_url: url(), ..neither };
        assert_eq!(webhook.parse().unwrap().destination.kind(), SubscriberKind::Webhook);
    }

    #[test]
    fn components_are_a_set_up_to_the_limit() {
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
    fn addresses_that_are_none_are_refused_and_cases_are_one() {
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
