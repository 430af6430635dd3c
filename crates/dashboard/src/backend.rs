//! The parts of the running server that the dashboard needs: the services of the contract, which it
//! calls in process as a member, emails, previews of status pages, and the set-up of their domains.

use std::collections::HashMap;
use std::fmt::Debug;
use std::net::IpAddr;
use std::pin::Pin;

use axum::response::Response;
use bytes::Bytes;
use contract::monitor::wire::{GetResponseLogResponse, Warning};
use contract::rpc::Error;
use domain::notify::Mail;
use http::HeaderMap;
use rules::status_page::PageSettings;
use rules::{DomainName, MonitorKind, PageId, Region, Role, Scope, Secret, UserId, WorkspaceId};

/// Future that a method of [`Backend`] returns. It is boxed, because the state holds any backend.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The parts of the server that the dashboard uses.
pub trait Backend: Debug + Send + Sync {
    /// Calls a method of the contract as a member of a workspace. The services validate, limit and
    /// audit the call as that of a key.
    fn call(&self, call: MemberCall) -> BoxFuture<'_, Result<Bytes, Error>>;

    /// Issues a key of the member's workspace, and returns its only copy.
    fn issue_key(
        &self,
        member: CallingMember,
        key: NewKey,
    ) -> BoxFuture<'_, Result<Secret<String>, Error>>;
    /// Validates a monitor that is not stored yet, and checks it from the regions of the call, with the
    /// limits of manual checks. Stores nothing.
    fn check_draft(&self, call: DraftCall) -> BoxFuture<'_, Result<CheckedDraft, Error>>;

    /// Returns the name of the place that checks of a region come from, if it is not that of the region.
    /// Regions with the same probe share a place.
    fn location_of(&self, workspace: WorkspaceId, region: Region) -> Option<String>;

    /// Returns whether emails can be sent.
    fn can_send_emails(&self) -> bool;

    /// Sends an email on behalf of a workspace, whose limits count. Fails with the reason if it was not sent.
    fn send_email(
        &self,
        workspace: WorkspaceId,
        mail: Mail,
    ) -> BoxFuture<'static, Result<(), String>>;

    /// Returns a status page as visitors see it, published or not, for a frame of the dashboard.
    fn page_preview(&self, preview: PagePreview) -> BoxFuture<'_, Result<Response, Error>>;

    /// Returns the overall status of published pages of a workspace for visitors, as the word of
    /// `domain::page::State`, such as `up`. Omits other pages.
    fn page_states(
        &self,
        workspace: WorkspaceId,
        pages: Vec<PageId>,
    ) -> BoxFuture<'_, Result<HashMap<PageId, String>, Error>>;

    /// Returns the DNS records that a domain needs to show a page, and looks each of them up. Fails
    /// with the reason if the domain cannot show a page of this server.
    fn domain_setup(&self, claim: DomainClaim) -> BoxFuture<'_, Result<DomainSetup, String>>;

    /// Sends a request to the provider of single sign-on, by the egress policy. Fails with the reason
    /// if there is no whole response.
    fn fetch(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'static, Result<http::Response<Bytes>, String>>;
}

/// A status page to preview.
#[derive(Clone, Debug)]
pub struct PagePreview {
    pub workspace: WorkspaceId,
    pub page: PageId,
    /// Texts that are not stored yet.
    pub draft: PreviewDraft,
    /// Headers of the browser's request, with its language.
    pub headers: HeaderMap,
}

/// Valid texts that a person is writing, instead of the stored ones of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreviewDraft {
    pub title: Option<String>,
    /// An empty text removes the description, as in the next fields.
    pub description: Option<String>,
    pub homepage_url: Option<String>,
    pub contact_url: Option<String>,
}

impl PreviewDraft {
    /// Replaces the texts of a page.
    pub fn apply(self, page: &mut PageSettings) {
        let Self { title, description, homepage_url, contact_url } = self;
        if let Some(title) = title {
            page.title = title;
        }
        for (stored, given) in [
            (&mut page.description, description),
            (&mut page.homepage_url, homepage_url),
            (&mut page.contact_url, contact_url),
        ] {
            if let Some(given) = given {
                *stored = Some(given).filter(|text| !text.is_empty());
            }
        }
    }
}

/// A page that claims a domain.
#[derive(Clone, Debug)]
pub struct DomainClaim {
    pub workspace: WorkspaceId,
    /// Slug of the page.
    pub slug: String,
    pub domain: DomainName,
}

/// DNS records of a custom domain: one that points to the server, and one that names the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainSetup {
    pub target: DnsRequirement,
    pub ownership: DnsRequirement,
}

/// A requirement that one of a few DNS records fulfils.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsRequirement {
    pub records: Vec<DnsRecord>,
    /// Reason that no record fulfils it, as the end of a sentence. `None` if one does.
    pub problem: Option<String>,
}

/// A DNS record to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsRecord {
    /// Type of the record, such as `CNAME`.
    pub kind: &'static str,
    pub name: String,
    pub value: String,
}

/// A key to issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    pub name: String,
    pub scope: Scope,
    /// Lifetime in days. `None` for no end.
    pub days: Option<u32>,
}

/// Author of a call: a person with a role in a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallingMember {
    pub workspace: WorkspaceId,
    pub user: UserId,
    pub role: Role,
    /// Address of the person's browser.
    pub address: IpAddr,
}

/// Draft of a monitor.
#[derive(Clone, Debug)]
pub struct DraftCall {
    pub member: CallingMember,
    pub kind: MonitorKind,
    /// JSON of the request that would create the monitor.
    pub request: Bytes,
    /// Regions to check from. Without any, the draft is only validated.
    pub regions: Vec<Region>,
}

/// Outcome of a valid draft.
#[derive(Clone, Debug, Default)]
pub struct CheckedDraft {
    /// Reasons why its checks cannot succeed.
    pub warnings: Vec<Warning>,
    /// Results by region.
    pub results: Vec<GetResponseLogResponse>,
}

/// Format of a call and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    Protobuf,
    Json,
}

/// Call of a method of the contract.
#[derive(Clone, Debug)]
pub struct MemberCall {
    pub member: CallingMember,
    /// Path of the method, such as `/monitor.v1.MonitorService/GetMonitor`.
    pub method: &'static str,
    pub codec: Codec,
    pub request: Bytes,
    /// Identifies a create and its repetitions, which create nothing more.
    pub idempotency_key: Option<String>,
}
