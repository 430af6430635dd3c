//! Style sheet, scripts and the icon. Their paths contain the hash of their content, so browsers keep them
//! forever.

use crate::route::{Access, Route};
use axum::routing::get;
use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Path;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, StatusCode};
use sha2::{Digest as _, Sha256};
use web::http_body::EncodedBody;

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

pub(crate) const ROUTES: &[Route] =
    &[Route::get("/assets/{version}/{name}", Access::Anyone, || get(serve))];

/// A file for browsers.
struct Asset {
    name: &'static str,
    version: String,
    body: EncodedBody,
}

static ASSETS: LazyLock<[Asset; 4]> = LazyLock::new(|| {
    [
        asset("dashboard.css", CSS, include_str!(concat!(env!("OUT_DIR"), "/dashboard.css"))),
        asset("dashboard.js", SCRIPT, include_str!(concat!(env!("OUT_DIR"), "/dashboard.js"))),
        asset("libraries.js", SCRIPT, LIBRARIES),
        asset("icon.svg", "image/svg+xml", include_str!("../assets/icon.svg")),
    ]
});

/// The libraries for partial updates, as their authors publish them.
const LIBRARIES: &str = concat!(
    include_str!("../assets/vendor/htmx.min.js"),
    "\n",
    include_str!("../assets/vendor/idiomorph-ext.min.js"),
    "\n",
);

/// Returns the path of the file with this name.
pub(crate) fn path(name: &str) -> String {
    let asset = ASSETS.iter().find(|it| it.name == name).expect("templates name existing files");
    format!("/assets/{}/{name}", asset.version)
}

/// Serves a file. Its version only matters to caches.
pub(crate) async fn serve(
    Path((_, name)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, StatusCode> {
    let asset = ASSETS.iter().find(|it| it.name == name).ok_or(StatusCode::NOT_FOUND)?;
    let encoding = asset.body.encoding(&request);
    let mut response = Response::new(Body::from(asset.body.bytes(encoding)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.body.content_type));
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    headers.insert(CACHE_CONTROL, forever);
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(token) = encoding.as_token() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(token));
    }
    Ok(response)
}

fn asset(name: &'static str, content_type: &'static str, text: &'static str) -> Asset {
    let version = URL_SAFE_NO_PAD.encode(&Sha256::digest(text)[..9]);
    Asset { name, version, body: EncodedBody::new(content_type, text) }
}

#[cfg(test)]
mod tests {
    use web::http_body::Encoding;

    use super::*;

    #[test]
    fn files_fit_in_60_kilobytes_compressed() {
        // issue 18: at most 60 KB of CSS and JavaScript
        let sizes = ASSETS.iter().map(|it| it.body.bytes(Encoding::Gzip).len());
        let total: usize = sizes.sum();
        assert!(total < 60_000, "{total}");
    }
}
