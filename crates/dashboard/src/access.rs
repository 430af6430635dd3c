//! Access to routes: every request passes here before its handler. Refuses posts from other sites,
//! finds the session and the role, and limits the time of an answer.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::rejection::{BytesRejection, RawPathParamsRejection};
use axum::extract::{FromRequest as _, FromRequestParts as _, RawPathParams, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{HeaderName, Method, StatusCode};
use rules::Role;
use tokio::time::{Instant, timeout_at};
use web::peer::ShownSession;

use crate::error::ScreenError;
use crate::html::redirect;
use crate::origin::{Client, is_cross_site, is_from_browser};
use crate::route::{Access, Pace};
use crate::session::{self, Member, SignedIn};
use crate::signed_out::keep_form;
use crate::state::Dashboard;

/// Time of an answer that only needs the database. One that hangs is reported within three seconds
/// (issue 18).
pub(crate) const DATABASE_WITHIN: Duration = Duration::from_millis(2_500);
/// Action of the audit log for a refused post from another site.
const CROSS_SITE_POST: &str = "user.cross_site_post";
/// Header of htmx in requests for a part of a page. A login page is no such part.
const PARTIAL: HeaderName = HeaderName::from_static("hx-request");
/// Name of the route parameter of the workspace's slug.
const WORKSPACE: &str = "workspace";

/// Rule of a route, as the state of its layer.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) state: Dashboard,
    pub(crate) access: Access,
    pub(crate) pace: Pace,
}

/// Decision about a request that is not refused.
enum Admission {
    Granted,
    /// The person has to sign in first.
    SignedOut,
}

/// Admits a request to its handler, with an `Arc<SignedIn>` in its extensions, and a [`Member`] on paths
/// of a workspace.
pub(crate) async fn enforce(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let asked = Instant::now();
    let admitted = timeout_at(asked + DATABASE_WITHIN, gate.admit(&mut parts)).await;
    match admitted.unwrap_or(Err(ScreenError::SlowDatabase)) {
        Ok(Admission::Granted) => {}
        Ok(Admission::SignedOut) => return answer_signed_out(parts, body).await,
        Err(error) => return error.into_response(),
    }
    let admission = asked.elapsed();
    let request = match read_form(parts, body).await {
        Ok(request) => request,
        Err(error) => return error.into_response(),
    };
    // The handler has what admission left of the time: a hang in both takes no longer.
    let now = Instant::now();
    let begun = now.checked_sub(admission).unwrap_or(now);
    let answer = next.run(request);
    let mut response = answer_in_time(gate.pace, begun, answer).await;
    if !matches!(gate.access, Access::Anyone | Access::Program) {
        response.extensions_mut().insert(ShownSession);
    }
    response
}

/// Answers a person without a session. A page leads to the login page and back, and a form is kept.
async fn answer_signed_out(parts: Parts, body: Body) -> Response {
    if parts.headers.contains_key(PARTIAL) {
        return ScreenError::SignedOut.into_response();
    }
    if parts.method == Method::GET {
        return redirect(&login_path(&parts));
    }
    match read_form(parts, body).await {
        Ok(request) => {
            let (parts, body) = request.into_parts();
            let form = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
            keep_form(&parts, &form)
        }
        Err(error) => error.into_response(),
    }
}

/// Reads the body of a form before its handler, because a slow sender takes no time of the database. The
/// service ends bodies that take too long.
async fn read_form(parts: Parts, body: Body) -> Result<Request, ScreenError> {
    if parts.method.is_safe() || body.is_end_stream() {
        return Ok(Request::from_parts(parts, body));
    }
    let form = Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await;
    let form = form.map_err(|rejection: BytesRejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ScreenError::LargeForm,
        _ => ScreenError::UnfinishedForm,
    })?;
    Ok(Request::from_parts(parts, Body::from(form)))
}

/// Returns the answer of a handler, or the reason if it takes longer than its pace allows.
async fn answer_in_time(
    pace: Pace,
    begun: Instant,
    answer: impl Future<Output = Response>,
) -> Response {
    let (within, too_slow) = match pace {
        Pace::Prompt => (DATABASE_WITHIN, ScreenError::SlowDatabase),
        Pace::Within(time) => (time, ScreenError::TooSlow),
    };
    let answer = timeout_at(begun + within, answer).await;
    answer.unwrap_or_else(|_| too_slow.into_response())
}

impl Gate {
    /// Decides about a request.
    async fn admit(&self, parts: &mut Parts) -> Result<Admission, ScreenError> {
        let is_change = !parts.method.is_safe();
        let is_expected_program = self.access == Access::Program && !is_from_browser(parts);
        let is_foreign = is_change && !is_expected_program && is_cross_site(parts, &self.state);
        let slug = workspace(parts, &self.state).await?;
        if matches!(self.access, Access::Anyone | Access::Program) {
            return if is_foreign {
                Err(self.refuse_foreign(parts, None).await)
            } else {
                Ok(Admission::Granted)
            };
        }
        let client = Client::from_parts(parts, &self.state);
        let Some(signed_in) = session::find(&self.state, &parts.headers, client.address).await?
        else {
            return if is_foreign {
                Err(self.refuse_foreign(parts, None).await)
            } else {
                Ok(Admission::SignedOut)
            };
        };
        if is_foreign {
            return Err(self.refuse_foreign(parts, Some(&signed_in)).await);
        }
        let signed_in = Arc::new(signed_in);
        if let Access::Member(role) = self.access {
            parts.extensions.insert(find_member(&signed_in, &slug, role)?);
        }
        parts.extensions.insert(signed_in);
        Ok(Admission::Granted)
    }

    /// Records a post from another site in the log and in the audit log: of the person's workspaces, or
    /// of the oldest one for a stranger.
    async fn refuse_foreign(&self, parts: &Parts, signed_in: Option<&SignedIn>) -> ScreenError {
        let client = Client::from_parts(parts, &self.state);
        let path = parts.uri.path();
        tracing::warn!(client.address = %client.address, "refused a post from another site to `{path}`");
        if let Some(signed_in) = signed_in {
            self.state.audit_refusal(signed_in, CROSS_SITE_POST, path).await;
        } else if self.state.limits.try_record_stranger(client.address) {
            self.state.audit_stranger(CROSS_SITE_POST, path, client.address).await;
        }
        ScreenError::CrossSite
    }
}

/// Returns the person as a member of the workspace with this slug. To others it does not exist.
fn find_member(signed_in: &Arc<SignedIn>, slug: &str, role: Role) -> Result<Member, ScreenError> {
    let mut all = signed_in.memberships.iter();
    let membership = all.find(|it| it.workspace.slug == slug).ok_or(ScreenError::NotFound)?;
    if !membership.role.includes(role) {
        return Err(ScreenError::MissingRole { has: membership.role, needs: role });
    }
    Ok(Member { signed_in: Arc::clone(signed_in), membership: membership.clone() })
}

/// Returns the slug in the path, or an empty one on paths of no workspace. Nothing has a path that is
/// not UTF-8.
async fn workspace(parts: &mut Parts, state: &Dashboard) -> Result<String, ScreenError> {
    let params = match RawPathParams::from_request_parts(parts, state).await {
        Ok(params) => params,
        Err(RawPathParamsRejection::InvalidUtf8InPathParam(_)) => {
            return Err(ScreenError::NotFound);
        }
        Err(_) => return Ok(String::new()),
    };
    let found = params.iter().find(|(name, _)| *name == WORKSPACE);
    Ok(found.map(|(_, value)| value.to_owned()).unwrap_or_default())
}

/// Returns the login page that leads back to this request.
fn login_path(parts: &Parts) -> String {
    let path = parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let next = percent_encoding::utf8_percent_encode(path, percent_encoding::NON_ALPHANUMERIC);
    format!("/login?next={next}")
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use http::StatusCode;

    use super::*;

    #[tokio::test]
    async fn slow_report_does_not_blame_the_database() {
        let pace = Pace::Within(Duration::from_millis(10));
        let report = answer_in_time(pace, Instant::now(), pending()).await;
        assert_eq!(report.status(), StatusCode::GATEWAY_TIMEOUT);
        let begun = Instant::now().checked_sub(DATABASE_WITHIN).unwrap();
        let list = answer_in_time(Pace::Prompt, begun, pending()).await;
        assert_eq!(list.status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    // issue 18, bad input: "If the database hangs, show a page that says so within 3 s"
    #[test]
    fn deadline_leaves_time_for_the_page() {
        assert!(DATABASE_WITHIN + Duration::from_millis(500) <= Duration::from_secs(3));
    }
}
