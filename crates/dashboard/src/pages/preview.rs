//! Preview of a status page in a frame, as visitors see it: with the stored texts, or with those that a
//! person is writing. Nothing is stored.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderMap;
use rules::tables::STATUS_PAGE;
use rules::{PageId, Validator};

use crate::backend::{PagePreview, PreviewDraft};
use crate::error::ScreenError;
use crate::extract::{Asked, Posted};
use crate::form::Values;
use crate::session::Member;
use crate::state::Dashboard;

/// Shows the page. The script of the form asks for it while a person writes.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Asked(given): Asked<Vec<(String, String)>>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    preview(&state, &member, (&id, given), request).await
}

/// Shows the page with the texts of the posted form, for browsers without scripts.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(given): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    preview(&state, &member, (&id, given), request).await
}

async fn preview(
    state: &Dashboard,
    member: &Member,
    (id, given): (&str, Vec<(String, String)>),
    headers: HeaderMap,
) -> Result<Response, ScreenError> {
    let preview = PagePreview {
        workspace: member.workspace(),
        page: PageId::parse(id).map_err(|_| ScreenError::NotFound)?,
        draft: draft(&Values::posted(given, &STATUS_PAGE)),
        headers,
    };
    Ok(state.backend.page_preview(preview).await?)
}

/// Returns the valid texts. The page keeps its own instead of others: a URL may be half written.
fn draft(values: &Values) -> PreviewDraft {
    let read = |name: &str| {
        let given = values.first(name)?.trim();
        if given.is_empty() {
            return Some(String::new());
        }
        Validator::new(&STATUS_PAGE).text(name, Some(given.to_owned()))
    };
    PreviewDraft {
        title: read("title").filter(|title| !title.is_empty()),
        description: read("description"),
        homepage_url: read("homepage_url"),
        contact_url: read("contact_url"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft_of(fields: &[(&str, &str)]) -> PreviewDraft {
        let mut values = Values::default();
        for (name, value) in fields {
            values.set(name, *value);
        }
        draft(&values)
    }

    #[test]
    fn invalid_texts_are_left_out() {
        let long = "x".repeat(257);
        let fields = [("title", long.as_str()), ("contact_url", "javascript:alert(1)")];
        assert_eq!(draft_of(&fields), PreviewDraft::default());
        assert_eq!(draft_of(&[("title", "  ")]), PreviewDraft::default());
        let draft = draft_of(&[("title", " Acme "), ("description", "")]);
        let expected = PreviewDraft {
            title: Some("Acme".to_owned()),
            description: Some(String::new()),
            ..PreviewDraft::default()
        };
        assert_eq!(draft, expected);
    }
}
