//! Dead links in the documentation, between pages and to anchors.

use std::collections::{BTreeMap, BTreeSet};

use super::{Site, attributes};

/// Valid link targets outside the documentation.
const ELSEWHERE: [&str; 6] =
    ["/", "/openapi.json", "/readyz", "/metrics", "/docs/docs.js", "/healthz"];

// issue 8: "dead links fail them"
#[tokio::test]
async fn every_link_of_every_page_leads_somewhere() {
    let site = Site::open().await;
    let (mut waiting, mut ids) = (vec!["/docs".to_owned()], BTreeMap::new());
    let mut wanted: BTreeSet<(String, String, String)> = BTreeSet::new();
    while let Some(path) = waiting.pop() {
        if ids.contains_key(&path) {
            continue;
        }
        let reply = site.ask(&path, &[("accept", "text/html")]).await;
        assert_eq!(reply.status, 200, "{path}, which is linked to, is not there");
        let text = String::from_utf8(reply.body.to_vec()).unwrap();
        let is_page = reply.headers["content-type"] == "text/html; charset=utf-8";
        let places: BTreeSet<String> =
            attributes(&text, "id").into_iter().map(str::to_owned).collect();
        ids.insert(path.clone(), places);
        let links = if is_page { attributes(&text, "href") } else { Vec::new() };
        for link in
            links.into_iter().chain(if is_page { attributes(&text, "src") } else { Vec::new() })
        {
            if link.starts_with("https://")
                || link.starts_with("mailto:")
                || ELSEWHERE.contains(&link)
            {
                continue;
            }
            let (page, anchor) = link.split_once('#').unwrap_or((link, ""));
            let page = if page.is_empty() { path.as_str() } else { page };
            assert!(page.starts_with("/docs"), "{path} links to {link}");
            wanted.insert((path.clone(), page.to_owned(), anchor.to_owned()));
            waiting.push(page.to_owned());
        }
    }
    for (from, page, anchor) in &wanted {
        let is_there = anchor.is_empty() || ids[page].contains(anchor);
        assert!(is_there, "{from} links to `{page}#{anchor}`, and {page} has no such place");
    }
    assert!(ids.len() > 40 && wanted.len() > 1_000, "{} pages, {} links", ids.len(), wanted.len());
}

#[tokio::test]
async fn page_ids_are_unique() {
    let site = Site::open().await;
    for path in attributes(&site.text("/docs").await, "href") {
        if !path.starts_with("/docs/") || path.contains('.') {
            continue;
        }
        let page = site.text(path).await;
        let all = attributes(&page, "id");
        let different: BTreeSet<&&str> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "{path} has an id twice");
    }
}
