//! Detail pages: incidents, history by month, and components with charts.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use testkit::target::{HttpTarget, ScriptedResponse};

use super::{Site, well};

/// Opens a site whose monitor failed once and recovered. Returns it with the incident.
async fn recovered(target: &HttpTarget) -> (Site, String) {
    let site = Site::open(target).await;
    site.results(1).await;
    target.on("/", ScriptedResponse::status(503).body("secret of the house"));
    site.watched.server.advance(Duration::from_secs(30));
    site.results(2).await;
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    let incident = json["openIncidents"][0]["id"].as_str().unwrap().to_owned();
    let taken_up = site
        .owner
        .call("incident.v1.IncidentService", "AcknowledgeIncident", json!({ "id": incident }))
        .await;
    assert_eq!(taken_up.status, 200, "{taken_up}");
    target.on("/", ScriptedResponse::ok("fine"));
    site.watched.server.advance(Duration::from_secs(30));
    site.results(3).await;
    (site, incident)
}

async fn publish(site: &Site, public: bool) {
    let monitor = json!({ "id": site.monitor.unwrap().to_string(), "public": public });
    let request = json!({ "monitor": monitor, "updateMask": "public" });
    let reply = site.owner.rpc("UpdateHttpMonitor", request).await;
    assert_eq!(reply.status, 200, "{reply}");
}

async fn component(site: &Site) -> String {
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    let id = json["sections"][0]["component"]["id"].as_str().unwrap();
    format!("/component/{id}")
}

// issue 7: "a page per incident"
#[tokio::test]
async fn incident_page_shows_public_details_only() {
    let target = well().await;
    let (site, incident) = recovered(&target).await;
    let page = site.text(&format!("/incident/{incident}")).await;
    for there in [
        "<h1>API &#38; more was down</h1>",
        "21 Nov 2026, 00:00 UTC</time> to <time datetime=\"2026-11-21T00:01:00.000Z\">21 Nov 2026, 00:01 UTC</time> (30 s)",
        "Recovered",
        "Duration: 30 s",
        "We are looking into it",
        "Checks started to fail",
        "/component/cmp_",
        "/history/2026-11\"",
    ] {
        assert!(page.contains(there), "{there} is not in {page}");
    }
    let monitor = site.monitor.unwrap().to_string();
    for never in ["secret of the house", "503", "fly-ams", &target.url("/"), &monitor, "key_"] {
        assert!(!page.contains(never), "{never} is in {page}");
    }
    let home = site.text("").await;
    assert!(home.contains(&format!("href=\"/status/acme/incident/{incident}\"")), "{home}");
    assert!(home.contains("href=\"/status/acme/history\""), "{home}");
    let german = site.visit(&format!("/incident/{incident}"), &[("accept-language", "de")]).await;
    assert!(String::from_utf8_lossy(&german.body).contains("Erste Prüfungen fehlgeschlagen"));
}

#[tokio::test]
async fn incident_not_on_the_page_is_404() {
    let target = well().await;
    let (site, incident) = recovered(&target).await;
    let path = format!("/incident/{incident}");
    for rest in ["/incident/inc_0000000000001", "/incident/nonsense"] {
        assert_eq!(site.visit(rest, &[]).await.status, StatusCode::NOT_FOUND, "{rest}");
    }
    assert_eq!(site.visit(&path, &[]).await.status, StatusCode::OK);
    let component = component(&site).await;
    let id = component.strip_prefix("/component/").unwrap();
    let service = testkit::server::STATUS_PAGES;
    let reply = site.owner.call(service, "DeleteComponent", json!({ "id": id })).await;
    assert_eq!(reply.status, 200, "{reply}");
    assert_eq!(site.visit(&path, &[]).await.status, StatusCode::NOT_FOUND);
    assert_eq!(site.visit(&component, &[]).await.status, StatusCode::NOT_FOUND);
    assert!(!site.text("/history").await.contains("was down"));
}

// issue 7: "/history"
#[tokio::test]
async fn history_is_split_by_month_since_first_data() {
    let target = well().await;
    let (site, incident) = recovered(&target).await;
    let link = format!("href=\"/status/acme/incident/{incident}\"");
    let now = site.text("/history").await;
    assert!(now.contains(">Nov 2026</h1>") && now.contains(&link), "{now}");
    assert!(!now.contains("/history/2026-10") && !now.contains("/history/2026-12"), "{now}");
    for rest in ["/history/2026-10", "/history/2026-12", "/history/2026-13", "/history/x"] {
        assert_eq!(site.visit(rest, &[]).await.status, StatusCode::NOT_FOUND, "{rest}");
    }
    // No checks run in the weeks skipped here.
    site.watched.server.advance(Duration::from_hours(24 * 45));
    let later = site.text("/history").await;
    assert!(later.contains(">Jan 2027</h1>") && later.contains("/history/2026-12"), "{later}");
    let between = site.text("/history/2026-12").await;
    assert!(between.contains(">Dec 2026</h1>"), "{between}");
    assert!(between.contains("/history/2026-11") && between.contains("/history/2027-01"));
    assert!(site.text("/history/2026-11").await.contains(&link));
}

#[tokio::test]
async fn a_month_in_which_nothing_happened_says_so() {
    let target = well().await;
    let site = Site::open(&target).await;
    let page = site.text("/history").await;
    assert!(page.contains("No incidents"), "{page}");
}

// spec: §2.1 "public"; issue 7: "percentiles and phases chart for `public` monitors"
#[tokio::test]
async fn only_public_monitors_have_latency_charts() {
    let target = well().await;
    let site = Site::open(&target).await;
    let path = component(&site).await;
    site.results(1).await;
    let hidden = site.text(&path).await;
    assert!(hidden.contains("<h1>API &#38; more: "), "{hidden}");
    for never in ["Response time", "p95", " ms<", "Response time by phase"] {
        assert!(!hidden.contains(never), "{never} is in {hidden}");
    }
    publish(&site, true).await;
    for (range, others) in [("", 3), ("/1d", 3), ("/7d", 3), ("/30d", 3), ("/90d", 3)] {
        let page = site.text(&format!("{path}{range}")).await;
        for there in [
            "Response time</h2>",
            "Response time by phase</h2>",
            "role=\"img\" aria-labelledby=\"lt ld\"",
            "<title id=\"lt\">Response time</title>",
            "<th scope=\"col\">p99</th>",
            "<th scope=\"col\">First byte</th>",
            "aria-current=\"page\"",
            "id=\"latency\"",
        ] {
            assert!(page.contains(there), "{range}: {there} is not in {page}");
        }
        assert_eq!(page.matches("#latency\"").count(), others, "{range}: {page}");
        assert!(!page.contains("style=\"") && !page.contains("onclick"), "the policy forbids it");
        assert!(!page.contains(&target.url("/")), "{page}");
    }
    for range in ["/2d", "/1D", "/"] {
        let reply = site.visit(&format!("{path}{range}"), &[]).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{range}");
    }
    publish(&site, false).await;
    assert!(!site.text(&path).await.contains("Response time"), "what is hidden is so at once");
}

#[tokio::test]
async fn chart_matches_its_table_and_compresses_well() {
    let target = well().await;
    let site = Site::open(&target).await;
    let path = component(&site).await;
    site.results(1).await;
    publish(&site, true).await;
    let page = site.text(&format!("{path}/1d")).await;
    let hint = page.split("<title>21 Nov 2026, 00:00 UTC: p50 ").nth(1).unwrap();
    let median = hint.split(',').next().unwrap();
    assert!(median.ends_with(" ms"), "{median}");
    assert!(page.contains(&format!("<td>{median}</td>")), "{median} is not in the table of {page}");
    let quarter = site.visit(&format!("{path}/90d"), &[("accept-encoding", "gzip")]).await;
    assert!(quarter.body.len() <= 30_000, "{} bytes", quarter.body.len());
}

// design: §4 "Deleting a monitor leaves page components that show it … shown as unknown with its history"
#[tokio::test]
async fn deleted_monitors_component_is_unknown_with_history() {
    let target = well().await;
    let (site, incident) = recovered(&target).await;
    publish(&site, true).await;
    let path = component(&site).await;
    let request = json!({ "id": site.monitor.unwrap().to_string() });
    let reply = site.owner.rpc("DeleteMonitor", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    let page = site.text(&path).await;
    assert!(page.contains("<h1>API &#38; more: Unknown</h1>"), "{page}");
    assert!(page.contains(&incident) && page.contains("Response time"), "{page}");
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    let shown = &json["sections"][0]["component"];
    assert_eq!((&shown["status"], &shown["isStale"]), (&json!("unknown"), &json!(false)), "{json}");
    let days = shown["days"].as_array().unwrap();
    assert_eq!(days.last().unwrap()["downMs"], 30_000, "{json}");
    // Time without data does not count as up.
    site.watched.server.advance(Duration::from_hours(24 * 3));
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    let days = json["sections"][0]["component"]["days"].as_array().unwrap();
    assert_eq!(days.last().unwrap()["upMs"], 0, "{json}");
    assert!(site.text("").await.contains("No data for API &#38; more"));
}

#[tokio::test]
async fn cached_details_are_served_without_database() {
    let target = well().await;
    let (site, incident) = recovered(&target).await;
    let path = format!("/incident/{incident}");
    assert!(site.text(&path).await.contains("Recovered"));
    site.watched.server.running().app().store.clone().close().await.unwrap();
    site.watched.server.advance(Duration::from_mins(1));
    assert!(site.text(&path).await.contains("Recovered"));
    let unseen = site.visit("/history", &[]).await;
    assert_eq!(unseen.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(unseen.headers["retry-after"], "10");
}

// issue 7: "kept as compressed bytes with ETag"
#[tokio::test]
async fn detail_pages_have_etags() {
    let target = well().await;
    let (site, incident) = recovered(&target).await;
    let component = component(&site).await;
    for rest in [
        format!("/incident/{incident}"),
        "/history".to_owned(),
        "/day/2026-11-21".to_owned(),
        component,
        "/badge.svg".to_owned(),
        "/badge/latency.svg?percentile=50".to_owned(),
    ] {
        let first = site.visit(&rest, &[("accept-encoding", "br")]).await;
        assert_eq!(
            (first.status, &first.headers["content-encoding"]),
            (StatusCode::OK, &"br".parse().unwrap()),
            "{rest}"
        );
        let tag = first.headers["etag"].to_str().unwrap();
        let again = site.visit(&rest, &[("accept-encoding", "br"), ("if-none-match", tag)]).await;
        assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0), "{rest}");
    }
}

#[tokio::test]
async fn missing_details_are_looked_up_after_change() {
    let target = well().await;
    let site = Site::open(&target).await;
    let nobody = site.anybody();
    assert_eq!(nobody.get("/status/later").await.status, StatusCode::NOT_FOUND);
    site.update(json!({ "slug": "later" })).await;
    assert_eq!(nobody.get("/status/later").await.status, StatusCode::OK);
    site.owns("UnpublishStatusPage").await;
    assert_eq!(nobody.get("/status/later").await.status, StatusCode::NOT_FOUND);
    site.owns("PublishStatusPage").await;
    assert_eq!(nobody.get("/status/later").await.status, StatusCode::OK);
}

#[tokio::test]
async fn absent_details_are_not_found_from_cache() {
    let target = well().await;
    let site = Site::open(&target).await;
    let unknown = ["/incident/inc_0000000000001", "/report/rpt_0000000000001", "/history/2026-09"];
    for rest in unknown {
        assert_eq!(site.visit(rest, &[]).await.status, StatusCode::NOT_FOUND, "{rest}");
    }
    assert_eq!(site.anybody().get("/status/other").await.status, StatusCode::NOT_FOUND);
    site.watched.server.running().app().store.clone().close().await.unwrap();
    // A month that was never requested is not queried either: it cannot exist.
    for rest in unknown.into_iter().chain(["/history/1999-01", "/day/1999-01-01"]) {
        assert_eq!(site.visit(rest, &[]).await.status, StatusCode::NOT_FOUND, "{rest}");
    }
    assert_eq!(site.anybody().get("/status/other").await.status, StatusCode::NOT_FOUND);
}

// decision 0048: "not its address, headers, assertions, evidence or logs"
#[tokio::test]
async fn no_path_reveals_monitor_target_or_response() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    target.on("/", ScriptedResponse::status(503).body("secret of the house"));
    site.watched.server.advance(Duration::from_secs(30));
    site.results(2).await;
    let monitor = site.monitor.unwrap().to_string();
    let address = target.url("/");
    let host = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
    for public in [false, true] {
        if public {
            publish(&site, true).await;
        }
        for path in super::access::everything(&site)
            .await
            .iter()
            .filter(|path| *path != "/events" && *path != "/og.png")
        {
            let answer = site.visit(path, &[]).await;
            // Only public monitors have charts.
            let is_hidden = !public && path.ends_with("/30d");
            assert!(answer.status.is_success() || is_hidden, "{path}: {answer}");
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            for hidden in ["secret of the house", "status is 503", &host, &monitor] {
                assert!(!text.contains(hidden), "`{hidden}` is in {path}, public: {public}");
            }
        }
    }
}
