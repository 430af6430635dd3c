//! Reads the fields of a form and the query of an address, as a browser sends them. Answers unreadable
//! ones with a page.

use std::error::Error;

use axum::body::HttpBody as _;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Form, FromRequest, FromRequestParts, Query, Request};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use serde::de::DeserializeOwned;

use crate::error::ScreenError;

/// Fields of a posted form.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Posted<T>(pub(crate) T);

/// Fields of a query.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Posted<T> {
    type Rejection = ScreenError;

    async fn from_request(mut request: Request, state: &S) -> Result<Self, ScreenError> {
        // Programs leave out the type of an empty body, which is a form without fields.
        if request.body().is_end_stream() {
            let form = HeaderValue::from_static("application/x-www-form-urlencoded");
            request.headers_mut().insert(CONTENT_TYPE, form);
        }
        let read = Form::from_request(request, state).await;
        read.map(|Form(fields)| Self(fields)).map_err(ScreenError::from)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = ScreenError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ScreenError> {
        let read = Query::from_request_parts(parts, state).await;
        read.map(|Query(fields)| Self(fields)).map_err(ScreenError::from)
    }
}

impl From<FormRejection> for ScreenError {
    fn from(rejection: FormRejection) -> Self {
        match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Self::LargeForm,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::OtherContent,
            _ => Self::Malformed(reason(&rejection)),
        }
    }
}

impl From<QueryRejection> for ScreenError {
    fn from(rejection: QueryRejection) -> Self {
        Self::MalformedQuery(reason(&rejection))
    }
}

/// Returns the part of a rejection that names the field.
fn reason(rejection: &dyn Error) -> String {
    rejection.source().map_or_else(|| rejection.to_string(), ToString::to_string)
}
