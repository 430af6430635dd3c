//! `GET /v1/openapi.json`: the description of `/v1`, written by hand in `openapi.json` beside this
//! file. The RPC describes itself by reflection.

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;

const DESCRIPTION: &str = include_str!("openapi.json");

/// Answers the description.
pub(super) async fn description() -> Response {
    ([(CONTENT_TYPE, "application/json")], DESCRIPTION).into_response()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::v1::ROUTES;

    #[test]
    fn the_description_has_every_route_and_no_other() {
        let description: Value = serde_json::from_str(DESCRIPTION).unwrap();
        let mut described: Vec<(String, String)> = Vec::new();
        for (path, methods) in description["paths"].as_object().unwrap() {
            let methods = methods.as_object().unwrap().keys();
            let methods = methods.filter(|it| *it != "parameters");
            described.extend(methods.map(|method| (method.clone(), path.clone())));
        }
        let mut routes: Vec<(String, String)> = ROUTES
            .iter()
            .map(|(method, path)| ((*method).to_owned(), (*path).to_owned()))
            .collect();
        described.sort();
        routes.sort();
        assert_eq!(described, routes);
    }

    #[test]
    fn every_reference_of_the_description_leads_somewhere() {
        let description: Value = serde_json::from_str(DESCRIPTION).unwrap();
        let mut found = 0;
        let mut rest = DESCRIPTION;
        while let Some(start) = rest.find("\"#/") {
            rest = &rest[start + 2..];
            let end = rest.find('"').unwrap();
            assert!(description.pointer(&rest[..end]).is_some(), "{}", &rest[..end]);
            found += 1;
        }
        assert!(found > 5, "{found} references");
    }
}
