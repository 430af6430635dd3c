//! A stored status page in a few words, and the tabs of its screens.

use contract::rpc::MethodRequest as _;
use contract::status_page::wire::GetStatusPageRequest;
use rules::{AccessType, PageId};
use serde_json::{Value as Json, json};

use crate::error::{ScreenError, sentence};
use crate::session::Member;
use crate::state::Dashboard;

/// A status page as screens show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageSummary {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) slug: String,
    /// Address for visitors.
    pub(crate) url: String,
    pub(crate) published: bool,
    pub(crate) theme: String,
    pub(crate) access: &'static str,
    pub(crate) is_public: bool,
    pub(crate) allow_indexing: bool,
    pub(crate) custom_domain: Option<String>,
    pub(crate) revision: String,
}

/// A stored page in the JSON of the contract, with the state of its domain and what prevents visitors
/// from seeing it.
pub(super) struct StoredPage {
    pub(super) id: PageId,
    pub(super) json: Json,
    pub(super) summary: PageSummary,
    pub(super) domain: Json,
    pub(super) warnings: Vec<String>,
}

/// Screens of a page, each with its path below the page and its label.
pub(crate) const TABS: [PageTab; 4] = [
    PageTab { path: "", label: "Components", needs_editor: false },
    PageTab { path: "/edit", label: "Settings", needs_editor: true },
    PageTab { path: "/domain", label: "Domain", needs_editor: true },
    PageTab { path: "/subscribers", label: "Subscribers", needs_editor: false },
];

/// A screen of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageTab {
    pub(crate) path: &'static str,
    pub(crate) label: &'static str,
    pub(crate) needs_editor: bool,
}

/// Returns a stored page.
pub(super) async fn find(
    state: &Dashboard,
    member: &Member,
    id: &str,
) -> Result<StoredPage, ScreenError> {
    let parsed = PageId::parse(id).map_err(|_| ScreenError::NotFound)?;
    let found =
        state.send_json(member.caller(), GetStatusPageRequest::PATH, &json!({ "id": id })).await?;
    let json = found["statusPage"].clone();
    let warnings = found["warnings"].as_array().into_iter().flatten();
    Ok(StoredPage {
        id: parsed,
        summary: PageSummary::new(&json, state),
        warnings: warnings.filter_map(|it| it["message"].as_str()).map(sentence).collect(),
        domain: found["customDomainStatus"].clone(),
        json,
    })
}

impl PageSummary {
    /// Reads a page in the JSON of the contract.
    pub(super) fn new(json: &Json, state: &Dashboard) -> Self {
        let text = |field: &str| json[field].as_str().unwrap_or_default().to_owned();
        let slug = text("slug");
        let access = AccessType::parse(&text("accessType")).unwrap_or(AccessType::Public);
        let custom_domain = json["customDomain"].as_str().map(str::to_owned);
        let url = match &custom_domain {
            Some(domain) => format!("https://{domain}"),
            None => state.url(&format!("/status/{slug}")),
        };
        Self {
            id: text("id"),
            title: text("title"),
            slug,
            url,
            published: json["published"].as_bool().unwrap_or_default(),
            theme: text("theme"),
            access: match access {
                AccessType::Public => "Everybody",
                AccessType::Password => "With the password",
                AccessType::EmailDomain => "By email domain",
            },
            is_public: access == AccessType::Public,
            allow_indexing: json["allowIndexing"].as_bool().unwrap_or_default(),
            custom_domain,
            revision: text("revision"),
        }
    }

    /// Returns the path of a screen of this page.
    pub(super) fn path(&self, member: &Member, rest: &str) -> String {
        member.path(&format!("/pages/{}{rest}", self.id))
    }

    /// Returns the address without its scheme, for lists.
    pub(crate) fn address(&self) -> &str {
        self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest)
    }
}
