//! Skip link of each kind of page, for keyboard users.

use super::{Site, report, well};

#[tokio::test]
async fn skip_link_is_localized_and_targets_main_content() {
    // issue 7: "axe-core finds no violation"; WCAG 2.4.1
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let report = report::opened(&site).await["id"].as_str().unwrap().to_owned();
    let home = site.text("").await;
    let component = home.split_once("/component/").unwrap().1.split_once('"').unwrap().0.to_owned();
    for (rest, language, leads, words) in [
        ("", "en", "components", "Skip to components"),
        ("", "de", "components", "Zu den Komponenten"),
        (&format!("/component/{component}"), "en", "content", "Skip to content"),
        (&format!("/report/{report}"), "de", "content", "Zum Inhalt"),
        ("/day/2026-11-21", "fr", "content", "Aller au contenu"),
        ("/history", "es", "content", "Ir al contenido"),
        ("/history/2026-11", "pt", "content", "Ir para o conteúdo"),
        ("/history/2026-11", "ja", "content", "本文へ"),
        ("/history", "zh", "content", "跳到正文"),
    ] {
        let reply = site.visit(rest, &[("accept-language", language)]).await;
        let page = String::from_utf8(reply.body.to_vec()).unwrap();
        let link = format!("<a class=\"skip\" href=\"#{leads}\">{words}</a>");
        assert!(page.contains(&link), "{rest} in {language}: {page}");
        assert_eq!(page.matches(&format!(" id=\"{leads}\"")).count(), 1, "{rest}: {page}");
    }
}
