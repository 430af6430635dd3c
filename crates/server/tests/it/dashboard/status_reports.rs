//! Status reports and templates are written, edited and deleted.

use testkit::person::Person;
use testkit::server::TestServer;

use super::trouble::Trouble;

#[tokio::test]
async fn report_is_created_updated_and_deleted() {
    let trouble = Trouble::start().await;
    let (page, component) = trouble.page().await;
    let ada = &trouble.ada;
    let form = ada.get("/w/acme/status-reports/new").await.text();
    let impact = format!("impact.{component}");
    assert!(form.contains(&format!("name=\"{impact}\"")) && form.contains(&page), "{form}");
    let fields = [
        ("page_id", page.as_str()),
        ("title", "Slow API"),
        ("status", "investigating"),
        ("text", "We look into it."),
        (impact.as_str(), "degraded"),
        ("notify", "true"),
    ];
    let created = ada.post("/w/acme/status-reports/new", &fields).await;
    let path = created.location().unwrap();
    assert!(path.starts_with("/w/acme/status-reports/rpt_"), "{created}");

    let next = [("status", "resolved"), ("text", "All is *well*."), (impact.as_str(), "none")];
    let updated = ada.post(&format!("{path}/updates"), &next).await;
    assert_eq!(updated.location().as_deref(), Some(path.as_str()), "{updated}");
    let renamed = ada.post(&format!("{path}/title"), &[("title", "API was slow")]).await;
    assert_eq!(renamed.status, 303, "{renamed}");
    let shown = ada.get(&path).await.text();
    for expected in ["API was slow", "All is <em>well</em>.", "We look into it.", "API: degraded"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }

    let edit = link(&shown, "/updates/", "/edit");
    let form = ada.get(&edit).await.text();
    assert!(form.contains("All is *well*."), "{form}");
    let changed =
        [("status", "resolved"), ("text", "Over."), ("at", ""), (impact.as_str(), "none")];
    assert_eq!(ada.post(&edit, &changed).await.status, 303);
    let update = edit.strip_suffix("/edit").unwrap();
    assert_eq!(ada.post(&format!("{update}/delete"), &[]).await.status, 303);
    let shown = ada.get(&path).await.text();
    assert!(!shown.contains("Over.") && shown.contains("Investigating"), "{shown}");

    let list = ada.get(&format!("/w/acme/status-reports?page_id={page}&state=open")).await.text();
    assert!(list.contains(&path), "{list}");
    assert_eq!(ada.post(&format!("{path}/delete"), &[]).await.status, 303);
    assert_eq!(ada.get(&path).await.status, 404);
}

#[tokio::test]
async fn invalid_report_keeps_the_input() {
    let trouble = Trouble::start().await;
    let (page, component) = trouble.page().await;
    let impact = format!("impact.{component}");
    let fields = [
        ("page_id", page.as_str()),
        ("title", ""),
        ("status", "monitoring"),
        ("text", ""),
        (impact.as_str(), "down"),
    ];
    let reply = trouble.ada.post("/w/acme/status-reports/new", &fields).await;
    let text = reply.text();
    assert_eq!(reply.status, 422);
    assert!(text.contains("id=\"title-error\"") && text.contains("id=\"text-error\""), "{text}");
    assert!(text.contains("value=\"monitoring\" selected"), "{text}");
    assert!(text.contains("value=\"down\" selected"), "{text}");
}

#[tokio::test]
async fn template_fills_in_a_report() {
    let trouble = Trouble::start().await;
    let (_, component) = trouble.page().await;
    let (ada, templates) = (&trouble.ada, "/w/acme/status-reports/templates");
    let impact = format!("impact.{component}");
    let fields = [
        ("name", "Disk"),
        ("title", "Disk is full"),
        ("status", "identified"),
        ("text", "We clean up."),
        (impact.as_str(), "down"),
    ];
    let created = ada.post(&format!("{templates}/new"), &fields).await;
    assert_eq!(created.location().as_deref(), Some(templates), "{created}");
    let list = ada.get(templates).await.text();
    let edit = link(&list, "/templates/tpl_", "/edit");
    let form = ada.get(&link(&list, "/status-reports/new?template=", "")).await.text();
    for expected in [
        "value=\"Disk is full\"",
        "We clean up.",
        "value=\"identified\" selected",
        "value=\"down\" selected",
    ] {
        assert!(form.contains(expected), "{expected}: {form}");
    }
    let renamed = [("name", "Full disk"), ("title", ""), ("status", ""), ("text", "")];
    assert_eq!(ada.post(&edit, &renamed).await.status, 303);
    assert!(ada.get(&edit).await.text().contains("value=\"Full disk\""));
    let delete = edit.replace("/edit", "/delete");
    assert_eq!(ada.post(&delete, &[]).await.status, 303);
    assert!(ada.get(templates).await.text().contains("No templates"));
}

// Choosing a template loaded the form again without what a person had written.
#[tokio::test]
async fn template_keeps_the_written_text() {
    let trouble = Trouble::start().await;
    let (page, component) = trouble.page().await;
    let (ada, templates) = (&trouble.ada, "/w/acme/status-reports/templates");
    let fields = [("name", "Disk"), ("title", "Disk is full"), ("status", ""), ("text", "")];
    assert_eq!(ada.post(&format!("{templates}/new"), &fields).await.status, 303);
    let list = ada.get(templates).await.text();
    let template = link(&list, "/status-reports/new?template=", "");
    let template = template.split_once("template=").unwrap().1;
    let impact = format!("impact.{component}");
    let written = [
        ("page_id", page.as_str()),
        ("template", template),
        ("action", "use"),
        ("title", "Typed"),
        ("status", "monitoring"),
        ("text", "Written before."),
        (impact.as_str(), "down"),
    ];
    let form = ada.post("/w/acme/status-reports/new", &written).await;
    let text = form.text();
    assert_eq!(form.status, 200, "{text}");
    for expected in [
        "value=\"Disk is full\"",
        "Written before.",
        "value=\"monitoring\" selected",
        "value=\"down\" selected",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(ada.get("/w/acme/status-reports").await.text().contains("No status reports"));
}

#[tokio::test]
async fn workspace_without_a_page_learns_the_next_step() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    for path in ["/w/acme/status-reports", "/w/acme/status-reports/new"] {
        let text = ada.get(path).await.text();
        assert!(text.contains("href=\"/w/acme/pages\""), "{path}: {text}");
    }
}

/// Returns the first link that contains `part` and ends with `end`.
fn link(html: &str, part: &str, end: &str) -> String {
    let links = html.split("href=\"").skip(1).filter_map(|rest| rest.split_once('"'));
    let found = links.map(|(link, _)| link).find(|it| it.contains(part) && it.ends_with(end));
    found.unwrap_or_else(|| panic!("no link with {part} in {html}")).to_owned()
}
