//! Search of the documentation, with and without scripts.

use super::{Site, attributes};

/// Returns the addresses of the search results, best first.
async fn found(site: &Site, words: &str) -> Vec<String> {
    let words = words.replace(' ', "+");
    let page = site.text(&format!("/docs/search?q={words}")).await;
    let results = page.split("<ol class=\"results\">").nth(1).unwrap_or_default();
    attributes(results, "href").into_iter().map(str::to_owned).collect()
}

// issue 8: "Searchable without a third party"
#[tokio::test]
async fn search_finds_methods_fields_reasons_and_settings() {
    let site = Site::open().await;
    for (words, place) in [
        ("CreateHttpMonitor", "/docs/reference/monitor.v1#createhttpmonitor"),
        ("list monitors", "/docs/reference/monitor.v1#listmonitors"),
        ("MONITOR_TYPE_MISMATCH", "/docs/reference/errors#reasons"),
        ("degraded_at", "/docs/terraform/resources/http_monitor"),
        ("degradedAt", "/docs/reference/monitor.v1#httpmonitor"),
        ("service_http_monitor", "/docs/terraform/resources/http_monitor"),
        ("max_retries", "/docs/terraform#optional"),
        ("ALOFT_SMTP_URL", "/docs/reference/settings"),
        ("retention days", "/docs/reference/retention"),
    ] {
        let found = found(&site, words).await;
        assert!(found.iter().take(5).any(|it| it.starts_with(place)), "{words}: {found:?}");
    }
    assert!(found(&site, "degraded_at nonsense").await.is_empty());
}

#[tokio::test]
async fn json_results_equal_the_pages() {
    let site = Site::open().await;
    let json = site.json("/docs/search?q=custom%20domain").await;
    let hits = json["hits"].as_array().unwrap();
    let addresses: Vec<_> = hits.iter().map(|hit| hit["address"].as_str().unwrap()).collect();
    assert_eq!(addresses, found(&site, "custom domain").await);
    assert!(json["total"].as_u64().unwrap() >= hits.len() as u64);
    let pieces = hits[0]["snippet"].as_array().unwrap();
    assert!(pieces.iter().any(|piece| piece["marked"] == true), "{json}");
}

#[tokio::test]
async fn query_is_treated_as_text() {
    let site = Site::open().await;
    let page = site.text("/docs/search?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E%22").await;
    assert!(!page.contains("<script>") && page.contains("&#60;script&#62;"), "{page}");
    for path in ["/docs/search", "/docs/search?q=", "/docs/search?q=%ff%00", "/docs/search?x=1&q=+"]
    {
        assert!(site.text(path).await.contains("role=\"search\""), "{path}");
    }
}
