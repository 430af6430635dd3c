//! Custom domain of a status page: the DNS records that it needs, the state of each, and the
//! certificate.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::rpc;
use contract::rpc::MethodRequest as _;
use contract::status_page::wire::UpdateStatusPageRequest;
use http::{HeaderMap, StatusCode};
use rules::DomainName;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::summary::{self, PageSummary, StoredPage};
use crate::backend::{DnsRequirement, DomainClaim};
use crate::error::{ScreenError, sentence};
use crate::extract::{Asked, Posted};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// Domain to check, before it is stored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChosenDomain {
    domain: Option<String>,
}

#[derive(Template)]
#[template(path = "page_domain.html")]
struct DomainPage {
    frame: Frame,
    page: PageSummary,
    domain: String,
    /// Whether the page has this domain already.
    is_stored: bool,
    error: Option<String>,
    /// Requirements of the domain. Empty without one.
    requirements: Vec<DnsRequirement>,
    certificate: Option<Certificate>,
    tab: &'static str,
    can_edit: bool,
}

/// State of the certificate of a stored domain.
struct Certificate {
    /// Class of the badge, and name of its symbol.
    badge: &'static str,
    word: &'static str,
    text: String,
}

/// Shows the records that a domain needs, and whether they exist.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Asked(chosen): Asked<ChosenDomain>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?;
    let stored = page.summary.custom_domain.clone();
    let domain = chosen.domain.filter(|it| !it.trim().is_empty()).or(stored).unwrap_or_default();
    let page = page_of(&state, &member, page, (domain.trim(), None), &request).await;
    Ok(html::page(&page, &request))
}

/// Stores the domain, or removes it if the form is empty.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(chosen): Posted<ChosenDomain>,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?;
    let Some(domain) = chosen.domain else {
        return Err(ScreenError::Malformed("missing field `domain`".to_owned()));
    };
    let mut settings = json!({ "id": id });
    if !domain.trim().is_empty() {
        settings["customDomain"] = json!(domain.trim());
    }
    let update = json!({ "statusPage": settings, "updateMask": "customDomain" });
    match state.send_json(member.caller(), UpdateStatusPageRequest::PATH, &update).await {
        Ok(_) => {
            let text = match domain.trim() {
                "" => "The page has no domain of its own any more.".to_owned(),
                domain => format!("{domain} shows the page."),
            };
            Ok(redirect_with_notice(&page.summary.path(&member, "/domain"), &text))
        }
        Err(error) => {
            let violations = rpc::field_violations(&error);
            let reason = violations.first().map(|it| it.description.clone());
            let reason = reason.or_else(|| error.message.clone()).unwrap_or_default();
            let error = Some(sentence(&reason));
            let page = page_of(&state, &member, page, (domain.trim(), error), &request).await;
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request))
        }
    }
}

async fn page_of(
    state: &Dashboard,
    member: &Member,
    stored: StoredPage,
    (domain, error): (&str, Option<String>),
    request: &HeaderMap,
) -> DomainPage {
    let StoredPage { summary: page, domain: status, .. } = stored;
    let checked = check(state, member, &page, domain).await;
    let (requirements, problem) = match checked {
        Ok(requirements) => (requirements, None),
        Err(why) => (Vec::new(), Some(sentence(&why))),
    };
    let is_stored = !domain.is_empty() && page.custom_domain.as_deref() == Some(domain);
    DomainPage {
        frame: Frame::of_member(member, Section::Pages, &page.title, request),
        domain: domain.to_owned(),
        error: error.or(problem),
        certificate: is_stored.then(|| Certificate::new(&status)).flatten(),
        is_stored,
        requirements,
        tab: "/domain",
        can_edit: true,
        page,
    }
}

/// Looks up the records of a domain.
async fn check(
    state: &Dashboard,
    member: &Member,
    page: &PageSummary,
    domain: &str,
) -> Result<Vec<DnsRequirement>, String> {
    if domain.is_empty() {
        return Ok(Vec::new());
    }
    let domain = DomainName::parse(domain).map_err(|why| why.to_string())?;
    let claim = DomainClaim { workspace: member.workspace(), slug: page.slug.clone(), domain };
    let setup = state.backend.domain_setup(claim).await?;
    Ok(vec![setup.target, setup.ownership])
}

impl Certificate {
    /// Reads the state of a domain in the JSON of the contract.
    fn new(status: &Json) -> Option<Self> {
        let (badge, word, text) = match status["state"].as_str()? {
            "active" => ("up", "Active", "Visitors reach the page over HTTPS.".to_owned()),
            "pending" => ("maintenance", "Pending", "A certificate is being issued.".to_owned()),
            "failed" => {
                let reason = status["reason"].as_str().unwrap_or("unknown reason");
                ("down", "Failed", sentence(reason))
            }
            _ => {
                let text = "This server issues no certificates. A proxy in front of it has to serve \
                            HTTPS for the domain.";
                ("", "Unmanaged", text.to_owned())
            }
        };
        Some(Self { badge, word, text })
    }
}
