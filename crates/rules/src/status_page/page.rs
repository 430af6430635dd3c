//! A status page (§2.5): draft, settings, and the rules between them.

use crate::mask::{self, replace};
use crate::tables::STATUS_PAGE;
use crate::{
    AccessType, DomainName, PageId, Reader, Secret, Theme, Timestamp, Violations, WorkspaceId,
};

/// A status page as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusPage {
    /// Its identifier.
    pub id: PageId,
    /// Who owns it.
    pub workspace: WorkspaceId,
    /// What the user wrote.
    pub settings: PageSettings,
    /// Whether visitors see it; not an argument, see `PublishStatusPage`.
    pub published: bool,
    /// Its colours; not an argument, see `SetStatusPageTheme`.
    pub theme: Theme,
    /// Whether search engines may list it, where everybody may see it; not an argument, see
    /// `SetStatusPageIndexing`.
    pub allow_indexing: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// The arguments of §2.5, valid. Only [`PageDraft::parse`] and the store make them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSettings {
    /// Title, at most 256 characters.
    pub title: String,
    /// Name in the address; unique in the server.
    pub slug: String,
    /// Description, at most 1,024 characters.
    pub description: Option<String>,
    /// Link to the homepage.
    pub homepage_url: Option<String>,
    /// Link to the contact page.
    pub contact_url: Option<String>,
    /// URL of the icon.
    pub icon: Option<String>,
    /// Domain as written; unique in the server by [`Self::custom_domain_name`].
    pub custom_domain: Option<String>,
    /// Who may read it as written; see [`Self::effective_access`].
    pub access_type: Option<AccessType>,
    /// Password; there when `access_type` is `password`, and kept whenever it was written.
    pub password: Option<Secret<String>>,
    /// Domains of email addresses, in order; some when `access_type` is `email-domain`.
    pub auth_email_domains: Vec<String>,
}

/// §2.5 as a caller wrote it: nothing checked, everything optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageDraft {
    /// Title.
    pub title: Option<String>,
    /// Name in the address.
    pub slug: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Link to the homepage.
    pub homepage_url: Option<String>,
    /// Link to the contact page.
    pub contact_url: Option<String>,
    /// URL of the icon.
    pub icon: Option<String>,
    /// Domain.
    pub custom_domain: Option<String>,
    /// A word of [`AccessType`].
    pub access_type: Option<String>,
    /// Password.
    pub password: Option<Secret<String>>,
    /// Domains of email addresses.
    pub auth_email_domains: Vec<String>,
}

impl PageSettings {
    /// Who may read the page: everybody, where nothing was written (design §4).
    pub fn effective_access(&self) -> AccessType {
        self.access_type.unwrap_or(AccessType::Public)
    }

    /// The domains whose addresses may read a page for members, as they are looked up.
    pub fn member_domains(&self) -> impl Iterator<Item = DomainName> {
        let written = self.auth_email_domains.iter();
        written
            .map(|domain| DomainName::parse(domain).expect("only domain names get into settings"))
    }

    /// The custom domain as it is looked up: domains that differ only in how they are written are one.
    pub fn custom_domain_name(&self) -> Option<DomainName> {
        let written = self.custom_domain.as_deref()?;
        Some(DomainName::parse(written).expect("only a domain name gets into settings"))
    }
}

impl PageDraft {
    /// The settings this draft describes, or all that is wrong with it.
    pub fn parse(self) -> Result<PageSettings, Violations> {
        let mut reader = Reader::new(&STATUS_PAGE);
        let settings = settings(&mut reader, self);
        reader.finish(settings)
    }

    /// Takes from `other` the fields that `mask` names, also where `other` leaves them out: that
    /// clears them. A name that no page has is refused, and nothing is taken then.
    pub fn take(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&STATUS_PAGE, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Taken apart by name, so that a new field cannot be forgotten here.
        let Self {
            title,
            slug,
            description,
            homepage_url,
            contact_url,
            icon,
            custom_domain,
            access_type,
            password,
            auth_email_domains,
        } = other;
        replace(&mut self.title, title, named("title"));
        replace(&mut self.slug, slug, named("slug"));
        replace(&mut self.description, description, named("description"));
        replace(&mut self.homepage_url, homepage_url, named("homepage_url"));
        replace(&mut self.contact_url, contact_url, named("contact_url"));
        replace(&mut self.icon, icon, named("icon"));
        replace(&mut self.custom_domain, custom_domain, named("custom_domain"));
        replace(&mut self.access_type, access_type, named("access_type"));
        replace(&mut self.password, password, named("password"));
        let domains = named("auth_email_domains");
        replace(&mut self.auth_email_domains, auth_email_domains, domains);
        Ok(())
    }
}

impl From<&PageSettings> for PageDraft {
    /// The draft that parses to these settings: where an update with a mask begins.
    fn from(settings: &PageSettings) -> Self {
        Self {
            title: Some(settings.title.clone()),
            slug: Some(settings.slug.clone()),
            description: settings.description.clone(),
            homepage_url: settings.homepage_url.clone(),
            contact_url: settings.contact_url.clone(),
            icon: settings.icon.clone(),
            custom_domain: settings.custom_domain.clone(),
            access_type: settings.access_type.map(|access| access.to_string()),
            password: settings.password.clone(),
            auth_email_domains: settings.auth_email_domains.clone(),
        }
    }
}

fn settings(reader: &mut Reader, draft: PageDraft) -> Option<PageSettings> {
    let (has_password, has_domains) =
        (draft.password.is_some(), !draft.auth_email_domains.is_empty());
    let title = reader.text("title", draft.title);
    let slug = reader.text("slug", draft.slug);
    let description = reader.text("description", draft.description);
    let homepage_url = reader.text("homepage_url", draft.homepage_url);
    let contact_url = reader.text("contact_url", draft.contact_url);
    let icon = reader.text("icon", draft.icon);
    let custom_domain = reader.text("custom_domain", draft.custom_domain);
    let access_type: Option<AccessType> = reader.word("access_type", draft.access_type);
    let password = reader.secret("password", draft.password);
    let auth_email_domains = reader.domains("auth_email_domains", draft.auth_email_domains);
    let word = access_type.map(AccessType::as_str);
    reader.hold(
        |field| if field == "access_type" { word } else { None },
        |field| match field {
            "password" => has_password,
            "auth_email_domains" => has_domains,
            other => panic!("the table has a rule for `{other}` that nobody reads here"),
        },
    );
    Some(PageSettings {
        title: title?,
        slug: slug?,
        description,
        homepage_url,
        contact_url,
        icon,
        custom_domain,
        access_type,
        password,
        auth_email_domains,
    })
}
