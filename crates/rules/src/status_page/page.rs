//! Status pages (§2.5): draft, settings, and the rules between fields.

use crate::mask::{self, replace};
use crate::tables::STATUS_PAGE;
use crate::{
    AccessType, DomainName, PageId, Secret, Theme, Timestamp, Validator, Violations, WorkspaceId,
};

/// A stored status page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusPage {
    pub id: PageId,
    pub workspace: WorkspaceId,
    /// The user's settings.
    pub settings: PageSettings,
    /// Whether visitors can see it; not an argument, see `PublishStatusPage`.
    pub published: bool,
    /// Not an argument, see `SetStatusPageTheme`.
    pub theme: Theme,
    /// Whether search engines may list it if it is public; not an argument, see
    /// `SetStatusPageIndexing`.
    pub allow_indexing: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The valid arguments of §2.5. Only [`PageDraft::parse`] and the store create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSettings {
    /// At most 256 characters.
    pub title: String,
    /// Name in the URL; unique in the server.
    pub slug: String,
    /// At most 1,024 characters.
    pub description: Option<String>,
    /// Link to the homepage.
    pub homepage_url: Option<String>,
    /// Link to the contact page.
    pub contact_url: Option<String>,
    /// URL of the icon.
    pub icon: Option<String>,
    /// Domain as written; unique in the server by [`Self::custom_domain_name`].
    pub custom_domain: Option<String>,
    /// Access as written; see [`Self::effective_access`].
    pub access_type: Option<AccessType>,
    /// Present if `access_type` is `password`; kept for other types if given.
    pub password: Option<Secret<String>>,
    /// Domains of email addresses, in order; not empty if `access_type` is `email-domain`.
    pub auth_email_domains: Vec<String>,
}

/// §2.5 as sent by a caller: not validated, every field optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageDraft {
    pub title: Option<String>,
    pub slug: Option<String>,
    pub description: Option<String>,
    pub homepage_url: Option<String>,
    pub contact_url: Option<String>,
    /// URL of the icon.
    pub icon: Option<String>,
    pub custom_domain: Option<String>,
    /// A name of [`AccessType`].
    pub access_type: Option<String>,
    pub password: Option<Secret<String>>,
    pub auth_email_domains: Vec<String>,
}

impl PageSettings {
    /// Returns the access type, public by default (design §4).
    pub fn effective_access(&self) -> AccessType {
        self.access_type.unwrap_or(AccessType::Public)
    }

    /// Returns the domains whose addresses have access to a members page, in their queried form.
    pub fn member_domains(&self) -> impl Iterator<Item = DomainName> {
        let written = self.auth_email_domains.iter();
        written.map(|domain| {
            DomainName::parse(domain).expect("settings only contain valid domain names")
        })
    }

    /// Returns the custom domain in its queried form: different spellings of a domain are equal.
    pub fn custom_domain_name(&self) -> Option<DomainName> {
        let written = self.custom_domain.as_deref()?;
        Some(DomainName::parse(written).expect("settings only contain valid domain names"))
    }
}

impl PageDraft {
    /// Validates the draft; returns all violations.
    pub fn parse(self) -> Result<PageSettings, Violations> {
        let mut validator = Validator::new(&STATUS_PAGE);
        let settings = settings(&mut validator, self);
        validator.finish(settings)
    }

    /// Copies the fields in `mask` from `other`, clearing those that `other` omits. Rejects unknown
    /// names without copying anything.
    pub fn apply_mask(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        mask::check(&STATUS_PAGE, mask)?;
        let named = |name: &str| mask.iter().any(|named| named == name);
        // Destructured, so that a new field cannot be forgotten here.
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
    /// Creates the draft that parses to these settings, the base of a masked update.
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

fn settings(validator: &mut Validator, draft: PageDraft) -> Option<PageSettings> {
    let (has_password, has_domains) =
        (draft.password.is_some(), !draft.auth_email_domains.is_empty());
    let title = validator.text("title", draft.title);
    let slug = validator.text("slug", draft.slug);
    let description = validator.text("description", draft.description);
    let homepage_url = validator.text("homepage_url", draft.homepage_url);
    let contact_url = validator.text("contact_url", draft.contact_url);
    let icon = validator.text("icon", draft.icon);
    let custom_domain = validator.text("custom_domain", draft.custom_domain);
    let access_type: Option<AccessType> = validator.word("access_type", draft.access_type);
    let password = validator.secret("password", draft.password);
    let auth_email_domains = validator.domains("auth_email_domains", draft.auth_email_domains);
    let word = access_type.map(AccessType::as_str);
    validator.check_rules(
        |field| if field == "access_type" { word } else { None },
        |field| match field {
            "password" => has_password,
            "auth_email_domains" => has_domains,
            other => panic!("the table has a rule for the unknown field `{other}`"),
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
