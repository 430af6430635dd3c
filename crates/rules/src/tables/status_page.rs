//! `service_status_page` (§2.5).

use super::monitor::TARGET_CHARS_MAX;
use super::revision;
use crate::field::{Field, Resource, Rule, Shape};
use crate::{AccessType, PageId, Theme};

/// Maximum length of a domain name, in characters (RFC 1035, without the trailing dot).
const DOMAIN_CHARS_MAX: u32 = 253;
/// Maximum number of email domains of a page (ours).
const EMAIL_DOMAINS_MAX: u32 = 100;
/// Maximum length of a page's password, in characters (ours).
const PASSWORD_CHARS_MAX: u32 = 256;

/// A status page (§2.5).
pub static STATUS_PAGE: Resource = Resource {
    name: "service_status_page",
    description: "Shows visitors the state of its components.",
    fields: &[
        Field::required(
            "title",
            Shape::Line { min: 1, max: 256 },
            "Title of the page, 1 to 256 characters.",
        ),
        Field::required(
            "slug",
            Shape::Slug { min: 1, max: 256 },
            "Name of the page in its URL, 1 to 256 characters: words in lower case joined by hyphens.",
        ),
        Field::optional(
            "description",
            Shape::Text { min: 0, max: 1_024 },
            "What the page is about; at most 1024 characters.",
        ),
        Field::optional(
            "homepage_url",
            Shape::HttpUrl { max: TARGET_CHARS_MAX },
            "Link to the homepage.",
        ),
        Field::optional(
            "contact_url",
            Shape::ContactUrl { max: TARGET_CHARS_MAX },
            "Link to the contact page: http, https or mailto.",
        ),
        Field::optional("icon", Shape::HttpUrl { max: TARGET_CHARS_MAX }, "URL of the icon."),
        Field::optional(
            "custom_domain",
            Shape::DomainName { max: DOMAIN_CHARS_MAX },
            "Custom domain of the page; its DNS must already point to the service, and name the page in the TXT record `_aloft.DOMAIN`.",
        ),
        Field::optional(
            "access_type",
            Shape::OneOf(AccessType::WORDS),
            "Access to the page: anyone, anyone with the password, or anyone with an address at one of \
             the domains.",
        ),
        Field::optional(
            "password",
            Shape::Text { min: 1, max: PASSWORD_CHARS_MAX },
            "Password of the page; required when access_type is password.",
        )
        .sensitive(),
        Field::optional(
            "auth_email_domains",
            Shape::ListOfDomains { max: EMAIL_DOMAINS_MAX },
            "Domains of the email addresses that may read the page; required when access_type is \
             email-domain.",
        ),
        Field::output("id", Shape::Id(PageId::PREFIX), "Identifier of the page."),
        Field::output("published", Shape::Bool, "Whether visitors can see the page."),
        Field::output("theme", Shape::OneOf(Theme::WORDS), "Colours of the page."),
        Field::output("created_at", Shape::Instant, "When the page was created."),
        Field::output("updated_at", Shape::Instant, "When the page was last changed."),
    ],
    beyond: &[
        Field::output(
            "allow_indexing",
            Shape::Bool,
            "Whether search engines may list the page if it is public.",
        ),
        revision::OUTPUT,
    ],
    blocks: &[],
    rules: &[
        Rule::RequiredWhen { field: "password", when: "access_type", is: "password" },
        Rule::RequiredWhen { field: "auth_email_domains", when: "access_type", is: "email-domain" },
    ],
    import: Some("<page_id>"),
};
