//! Preview of a page for its owners: as visitors see it, published or not and whatever its access. The
//! dashboard shows it in a frame of its own site. It has no script, and its links open elsewhere.

use std::sync::LazyLock;

use axum::response::Response;
use domain::page::project;
use http::header::{CONTENT_SECURITY_POLICY, X_FRAME_OPTIONS};
use http::{HeaderMap, HeaderValue, StatusCode};
use rules::AccessType;
use rules::status_page::StatusPage;
use store::StoreError;
use tokio::task::spawn_blocking;
use web::http_body::EncodedBody;

use crate::Pages;
use crate::address::PageAddress;
use crate::cache_rule::CacheRule;
use crate::html;
use crate::responses::{build_response, language};
use crate::snapshot::PageSnapshot;

/// Policy of all pages, except that pages of this site may frame it.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let policy = html::policy();
    let policy = policy.to_str().expect("the policy is ASCII");
    let policy = policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'");
    HeaderValue::try_from(policy).expect("the policy is a header")
});

impl Pages {
    /// Returns a page as visitors see it. The caller checks who asks.
    pub async fn preview(
        &self,
        page: StatusPage,
        request: &HeaderMap,
    ) -> Result<Response, StoreError> {
        let words = language(request);
        let facts = self.facts(page, self.source.ctx.now()).await?;
        let work = spawn_blocking(move || {
            let view = project(&facts).into();
            let mut page = facts.page;
            // Visitors would not get the icon either.
            if !page.published || page.settings.effective_access() != AccessType::Public {
                page.settings.icon = None;
            }
            let base = PageAddress::Slug(page.settings.slug.clone()).base();
            let snapshot = PageSnapshot { page, view, is_outdated: false };
            html::home_preview(&snapshot, words, &base)
        });
        let text = match work.await {
            Ok(text) => text,
            Err(why) if why.is_panic() => std::panic::resume_unwind(why.into_panic()),
            // The server is stopping and renders no more pages.
            Err(_) => return Err(StoreError::Closed),
        };
        let body = EncodedBody::new("text/html; charset=utf-8", text);
        let mut response = build_response(&body, StatusCode::OK, CacheRule::NoStore, request);
        let headers = response.headers_mut();
        headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
        headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
        Ok(response)
    }
}
