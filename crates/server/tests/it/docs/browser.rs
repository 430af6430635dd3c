//! The documentation in a real browser: with and without scripts, on desktop and phone, in light
//! and dark mode, and in print. Screenshots are in `target/tmp/pages`.

use testkit::browser::{Browser, Tab, View};

use super::Site;
use crate::screen::{fits, keeps_every_rule, take_picture};

/// Pages of each kind: name of the screenshot, path and status.
const PAGES: [(&str, &str, u16); 7] = [
    ("docs-home", "/docs", 200),
    ("docs-resource", "/docs/terraform/resources/http_monitor", 200),
    ("docs-service", "/docs/reference/region.v1", 200),
    ("docs-guide", "/docs/guides/first-monitor", 200),
    ("docs-settings", "/docs/reference/settings", 200),
    ("docs-search", "/docs/search?q=monitor+status", 200),
    ("docs-missing", "/docs/http-monitor", 404),
];

struct DocsBrowser {
    site: Site,
    browser: Browser,
}

impl DocsBrowser {
    async fn open() -> Self {
        Self { site: Site::open().await, browser: Browser::start().await }
    }

    async fn tab(&self, view: View) -> Tab {
        let origin = format!("http://{}", self.site.server.address());
        self.browser.open(&origin, view, None).await
    }
}

// issue 7: "axe-core finds no violation, light and dark", phone and desktop width. This requirement
// for status pages applies to documentation pages too.
#[tokio::test]
async fn every_page_can_be_read_by_everybody() {
    let docs_browser = DocsBrowser::open().await;
    let phone = View { width: 390, height: 844, ..View::PHONE };
    let plain = [phone.without_scripts(), View::DESKTOP.without_scripts()];
    let views = [View::DESKTOP, phone, View::DESKTOP.dark(), phone.dark()].into_iter().chain(plain);
    for view in views {
        let tab = docs_browser.tab(view).await;
        for (name, path, status) in PAGES {
            assert_eq!(tab.visit(path).await, status, "{name}");
            fits(&tab, name).await;
            // axe itself needs scripts.
            let found = if view.scripts { tab.audit().await } else { Vec::new() };
            assert_eq!(found, Vec::<String>::new(), "{name} {view:?}");
            take_picture(&tab, name, view).await;
        }
        let asked = tab.asked().await;
        let origin = format!("http://{}", docs_browser.site.server.address());
        assert!(asked.iter().all(|url| url.starts_with(&origin)), "{asked:?}");
        tab.close().await;
    }
    let tab = docs_browser.tab(View::DESKTOP.printed()).await;
    tab.visit("/docs/terraform/resources/http_monitor").await;
    take_picture(&tab, "docs-resource", View::DESKTOP.printed()).await;
}

#[tokio::test]
async fn minified_style_keeps_every_rule() {
    let docs_browser = DocsBrowser::open().await;
    let tab = docs_browser.tab(View::DESKTOP).await;
    tab.visit("/docs").await;
    keeps_every_rule(&tab, "documentation").await;
}

#[tokio::test]
async fn nothing_complains() {
    let docs_browser = DocsBrowser::open().await;
    let tab = docs_browser.tab(View::DESKTOP).await;
    for (name, path, status) in PAGES {
        tab.visit(path).await;
        let complaints = tab.errors().await;
        // The browser itself logs an error for a missing page.
        assert_eq!(complaints.len(), usize::from(status == 404), "{name}: {complaints:?}");
    }
}

// issue 8: "per method a runnable example as curl, TypeScript and, where it applies, Terraform"
#[tokio::test]
async fn language_choice_covers_all_pages_only_with_scripts() {
    let docs_browser = DocsBrowser::open().await;
    let shown = "[...document.querySelector('.tabs').querySelectorAll(':scope>.code')]\
                 .map((it) => getComputedStyle(it).display)";
    for view in [View::DESKTOP, View::DESKTOP.without_scripts()] {
        let tab = docs_browser.tab(view).await;
        tab.visit("/docs/reference/monitor.v1").await;
        let first = tab.evaluate(shown).await;
        assert_eq!((&first[0], &first[1]), (&"block".into(), &"none".into()), "{first}");
        tab.click(".tabs>label:nth-of-type(2)").await;
        let second = tab.evaluate(shown).await;
        assert_eq!((&second[0], &second[1]), (&"none".into(), &"block".into()), "{second}");
        tab.visit("/docs/reference/notification.v1").await;
        let elsewhere = tab.evaluate(shown).await;
        assert_eq!(elsewhere[1] == "block", view.scripts, "{elsewhere}");
    }
}

#[tokio::test]
async fn results_appear_while_typing() {
    let docs_browser = DocsBrowser::open().await;
    let tab = docs_browser.tab(View::DESKTOP).await;
    tab.visit("/docs/terraform").await;
    tab.press("/").await;
    assert_eq!(tab.text("document.activeElement.id").await, "q");
    tab.fill("#q", "degraded_at").await;
    tab.until("document.querySelectorAll('.found a').length > 0").await;
    assert_eq!(tab.audit().await, Vec::<String>::new());
    take_picture(&tab, "docs-found", View::DESKTOP).await;
    tab.press("ArrowDown").await;
    let first = tab.text("document.activeElement.getAttribute('href')").await;
    assert!(first.starts_with("/docs/"), "{first}");
    tab.press("Escape").await;
    assert_eq!(tab.evaluate("document.querySelector('.found').hidden").await, true);
    tab.press("Enter").await;
    tab.until("location.pathname === '/docs/search'").await;
    assert!(tab.text("document.querySelector('.results').innerText").await.contains("degraded_at"));
}

// A late response must not open the list over the text after the reader has moved on.
#[tokio::test]
async fn late_answer_to_a_closed_search_stays_hidden() {
    let docs_browser = DocsBrowser::open().await;
    let tab = docs_browser.tab(View::DESKTOP).await;
    tab.visit("/docs/terraform").await;
    // The test controls when responses arrive.
    let hold =
        "window.waiting = []; window.fetch = () => new Promise((come) => waiting.push(come)); null";
    let answer = "(async () => { const hits = [{ address: '/docs', document: 'x', section: '', snippet: [] }]; \
         waiting.pop()({ ok: true, json: async () => ({ hits, total: 1 }) }); \
         await new Promise((done) => setTimeout(done)); })()";
    tab.evaluate(hold).await;
    for (leave, is_hidden) in [(true, true), (false, false)] {
        tab.fill("#q", if leave { "monitor" } else { "channel" }).await;
        tab.until("waiting.length > 0").await;
        if leave {
            tab.press("Escape").await;
        }
        tab.evaluate(answer).await;
        assert_eq!(tab.evaluate("document.querySelector('.found').hidden").await, is_hidden);
    }
}

#[tokio::test]
async fn badly_encoded_fragment_does_not_break_the_page() {
    let docs_browser = DocsBrowser::open().await;
    let tab = docs_browser.tab(View::DESKTOP).await;
    tab.visit("/docs/terraform#100%").await;
    assert_eq!(tab.errors().await, Vec::<String>::new());
    tab.press("/").await;
    assert_eq!(tab.text("document.activeElement.id").await, "q", "the search is set up");
}

#[tokio::test]
async fn without_scripts_a_search_is_a_page() {
    let docs_browser = DocsBrowser::open().await;
    let tab = docs_browser.tab(View::PHONE.without_scripts()).await;
    tab.visit("/docs/nowhere").await;
    tab.fill("#q", "max_retries").await;
    tab.press("Enter").await;
    tab.until("location.pathname === '/docs/search'").await;
    assert!(tab.text("document.querySelector('.results').innerText").await.contains("max_retries"));
    // The menu works without scripts.
    assert_eq!(tab.evaluate("document.querySelector('.menu').open").await, false);
    tab.click(".menu>summary").await;
    assert_eq!(tab.evaluate("document.querySelector('.menu').open").await, true);
}

// issue 16 point 29: "code blocks have a copy button"
#[tokio::test]
async fn copy_button_copies_the_code_of_its_block() {
    let docs_browser = DocsBrowser::open().await;
    let tab = docs_browser.tab(View::DESKTOP).await;
    let with_clipboard =
        "navigator.clipboard.writeText = async (text) => { window.copied = text; }; null";
    // As over plain HTTP from another machine.
    let without_clipboard = "Object.defineProperty(navigator, 'clipboard', { value: undefined }); \
                             document.addEventListener('copy', () => { window.copied = getSelection().toString(); }); null";
    let refusing = "navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); \
                    document.execCommand = () => false; window.copied = 'nothing'; null";
    for (clipboard, label) in
        [(with_clipboard, "Copied"), (without_clipboard, "Copied"), (refusing, "Not copied")]
    {
        tab.visit("/docs/guides/first-monitor").await;
        let blocks = tab.evaluate("document.querySelectorAll('.code').length").await;
        assert_eq!(tab.evaluate("document.querySelectorAll('.code>.copy').length").await, blocks);
        tab.evaluate(clipboard).await;
        // The label returns after a moment, so the page records it.
        let record = "new MutationObserver(() => { window.label ??= document.querySelector('.copy').textContent; }) \
                      .observe(document.querySelector('.copy'), { childList: true }); null";
        tab.evaluate(record).await;
        tab.click(".copy").await;
        tab.until("window.label && window.copied").await;
        assert_eq!(tab.text("window.label").await, label);
        if label == "Copied" {
            let code =
                "window.copied.trim() === document.querySelector('.code code').textContent.trim()";
            assert_eq!(tab.evaluate(code).await, true, "{}", tab.text("window.copied").await);
        }
    }
    let plain = docs_browser.tab(View::DESKTOP.without_scripts()).await;
    plain.visit("/docs/guides/first-monitor").await;
    assert_eq!(plain.evaluate("document.querySelectorAll('.copy').length").await, 0);
}
