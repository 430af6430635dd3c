//! Drafts of pages, components and groups through the public interface: rules between fields, fixed
//! fields, masks. The server's tests check their limits.

use aloft_rules::field::{Presence, Resource};
use aloft_rules::status_page::{
    ComponentDraft, ComponentSettings, GroupDraft, PageDraft, PageSettings,
};
use aloft_rules::{AccessType, Secret, Violations, tables};

#[expect(clippy::unnecessary_wraps, reason = "fields of drafts are optional")]
fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn a_page() -> PageDraft {
    PageDraft { title: text("Acme"), slug: text("acme"), ..PageDraft::default() }
}

/// A page in which every field differs from [`a_page`].
fn a_full_page() -> PageDraft {
    PageDraft {
        title: text("Other"),
        slug: text("other"),
        description: text(""),
        homepage_url: text("https://example.com"),
        contact_url: text("mailto:ops@example.com"),
        icon: text("https://example.com/i.png"),
        custom_domain: text("status.example.com"),
        access_type: text("email-domain"),
        password: Some(Secret::new("hunter2".to_owned())),
        auth_email_domains: names(&["b.example", "a.example", "b.example"]),
    }
}

fn a_component() -> ComponentDraft {
    ComponentDraft {
        page_id: text("page_0000000000001"),
        kind: text("monitor"),
        monitor_id: text("mon_0000000000001"),
        ..ComponentDraft::default()
    }
}

fn a_full_component() -> ComponentDraft {
    ComponentDraft {
        page_id: text("page_0000000000002"),
        kind: text("static"),
        monitor_id: text("mon_0000000000002"),
        name: text(""),
        description: text("d"),
        order: Some(0),
        group_id: text("grp_0000000000001"),
        group_order: Some(-1),
    }
}

fn a_group(page: &str, name: &str) -> GroupDraft {
    GroupDraft { page_id: text(page), name: text(name) }
}

fn outcome<T: std::fmt::Debug>(parsed: Result<T, Violations>) -> String {
    parsed.map_or_else(|violations| violations.to_string(), |_| "fine".to_owned())
}

fn outputs(table: &'static Resource) -> impl Iterator<Item = &'static str> {
    let outputs = table.fields.iter().filter(|field| field.presence == Presence::Output);
    outputs.chain(table.beyond).map(|field| field.name)
}

#[test]
fn drafts_round_trip_through_settings() {
    // design: §4: order kept, nothing rewritten; absent stays absent
    let settings = a_full_page().parse().unwrap();
    assert_eq!(PageDraft::from(&settings), a_full_page());
    let bare = a_page().parse().unwrap();
    assert_eq!((bare.access_type, bare.effective_access()), (None, AccessType::Public));
    assert_eq!((bare.description, bare.password), (None, None));
    let component = a_component().parse().unwrap();
    assert_eq!(ComponentDraft::from(&component), a_component());
}

#[test]
fn access_type_requires_its_field() {
    // spec: §2.5
    let with = |access: Option<&str>, password: Option<&str>, domains: &[&str]| {
        outcome(
            PageDraft {
                access_type: access.map(str::to_owned),
                password: password.map(|password| Secret::new(password.to_owned())),
                auth_email_domains: names(domains),
                ..a_page()
            }
            .parse(),
        )
    };
    let cases = [
        with(Some("password"), None, &["a.example"]),
        with(Some("password"), Some(""), &[]),
        with(Some("password"), Some("x"), &[]),
        with(Some("email-domain"), Some("x"), &[]),
        with(Some("email-domain"), None, &["a.example"]),
        with(Some("public"), None, &[]),
        with(Some("public"), Some("x"), &["a.example"]),
        with(None, Some("x"), &["a.example"]),
        with(Some("secret"), None, &[]),
        with(None, None, &["a.example", "https://b.example"]),
    ];
    insta::assert_snapshot!(cases.join("\n"), @"
    `password` must be given when `access_type` is `password`
    `password` must not be empty
    fine
    `auth_email_domains` must be given when `access_type` is `email-domain`
    fine
    fine
    fine
    fine
    `access_type` must be one of public, password, email-domain (given: `secret`)
    `auth_email_domains[1]` must be a domain name without scheme and path, such as example.com (given: `https://b.example`)
    ");
}

#[test]
fn spellings_of_a_domain_are_equal() {
    let name = |written: &str| {
        let draft = PageDraft { custom_domain: text(written), ..a_page() };
        draft.parse().ok().and_then(|page: PageSettings| page.custom_domain_name())
    };
    for same in ["Status.BÜCHER.example", "status.xn--bcher-kva.example", "status.bücher.example."]
    {
        assert_eq!(name(same), name("status.bücher.example"), "{same}");
    }
    assert_ne!(name("status.bucher.example"), name("status.bücher.example"));
}

#[test]
fn component_type_decides_about_its_monitor() {
    // spec: §2.6
    let with = |kind: Option<&str>, monitor: Option<&str>| {
        let (kind, monitor_id) = (kind.map(str::to_owned), monitor.map(str::to_owned));
        outcome(ComponentDraft { kind, monitor_id, ..a_component() }.parse())
    };
    let monitor = Some("mon_0000000000001");
    let cases = [
        with(Some("monitor"), monitor),
        with(Some("monitor"), None),
        with(Some("static"), None),
        with(Some("static"), monitor),
        with(None, None),
        with(Some("group"), None),
        with(Some("monitor"), Some("")),
        with(Some("monitor"), Some("key_0000000000001")),
        with(Some("monitor"), Some("mon_x")),
        outcome(
            ComponentDraft {
                kind: text("static"),
                monitor_id: None,
                name: text("Mail"),
                ..a_component()
            }
            .parse(),
        ),
    ];
    insta::assert_snapshot!(cases.join("\n"), @"
    fine
    `monitor_id` must be given when `type` is `monitor`
    `name` must be given when `type` is `static`
    `monitor_id` must not be given when `type` is `static`
    `type` must be given
    `type` must be one of monitor, static (given: `group`)
    `monitor_id` must not be empty
    `monitor_id` must be an identifier of the form mon_… (given: `key_0000000000001`)
    `monitor_id` must be a monitor of this workspace (given: `mon_x`)
    fine
    ");
}

#[test]
fn page_and_component_type_are_fixed() {
    // spec: §2.6, §2.7: changing it forces replacement
    let seen = a_component().parse().unwrap();
    let changed = |draft: ComponentDraft| outcome(draft.parse_change(&seen));
    let group = a_group("page_0000000000001", "Core").parse().unwrap();
    let cases = [
        changed(a_component()),
        changed(ComponentDraft { page_id: text("page_0000000000002"), ..a_component() }),
        changed(ComponentDraft { kind: text("static"), monitor_id: None, ..a_component() }),
        changed(ComponentDraft { monitor_id: text("mon_0000000000002"), ..a_component() }),
        changed(ComponentDraft { monitor_id: None, ..a_component() }),
        changed(ComponentDraft { page_id: None, kind: None, ..a_component() }),
        changed(ComponentDraft { page_id: None, kind: None, ..a_component() }.with_fixed(&seen)),
        outcome(a_group("page_0000000000001", "Edge").parse_change(&group)),
        outcome(a_group("page_0000000000002", "Edge").parse_change(&group)),
        outcome(
            GroupDraft { page_id: None, name: text("Edge") }
                .with_fixed(&group)
                .parse_change(&group),
        ),
    ];
    insta::assert_snapshot!(cases.join("\n"), @"
    fine
    `page_id` must stay page_0000000000001: it stays on its page (given: `page_0000000000002`)
    `type` must stay monitor: it keeps its type (given: `static`); `name` must be given when `type` is `static`
    fine
    `monitor_id` must be given when `type` is `monitor`
    `page_id` must be given; `type` must be given
    fine
    fine
    `page_id` must stay page_0000000000001: it stays on its page (given: `page_0000000000002`)
    fine
    ");
}

#[test]
fn orphaned_component_allows_other_changes() {
    // design: §4
    let whole = a_component().parse().unwrap();
    let seen = ComponentSettings { monitor_id: None, ..whole };
    let mut draft = ComponentDraft::from(&seen);
    draft.name = text("API");
    let renamed = draft.clone().parse_change(&seen).unwrap();
    assert_eq!((renamed.name.as_deref(), renamed.monitor_id), (Some("API"), None));
    draft.monitor_id = text("mon_0000000000002");
    assert!(draft.clone().parse_change(&seen).unwrap().monitor_id.is_some());
    assert!(
        ComponentDraft { monitor_id: None, ..draft }.parse().is_err(),
        "a new component requires a monitor"
    );
}

#[test]
fn group_order_without_group_is_kept() {
    let draft = ComponentDraft { group_order: Some(3), ..a_component() };
    assert_eq!(draft.parse().unwrap().group_order, Some(3));
}

/// Checks the mask of a kind of draft.
fn masks_hold<D: Clone + PartialEq + std::fmt::Debug>(
    table: &'static Resource,
    (bare, full): (&D, &D),
    take: impl Fn(&mut D, D, &[String]) -> Result<(), Violations>,
) {
    let taken = |mask: &[String]| {
        let mut draft = bare.clone();
        take(&mut draft, full.clone(), mask).map(|()| draft)
    };
    let all: Vec<String> = table.writable().map(str::to_owned).collect();
    assert_eq!(taken(&all).as_ref(), Ok(full), "{}", table.name);
    assert_eq!(taken(&[]).as_ref(), Ok(bare), "{}", table.name);
    for name in &all {
        let one = taken(std::slice::from_ref(name)).unwrap_or_else(|no| panic!("`{name}`: {no}"));
        assert_ne!(one, *bare, "{} `{name}` is copied", table.name);
        let others: Vec<_> = all.iter().filter(|other| *other != name).cloned().collect();
        let rest = taken(&others).unwrap_or_else(|no| panic!("all but `{name}`: {no}"));
        assert_ne!(rest, *full, "{} `{name}` is copied by no other name", table.name);
    }
    for output in outputs(table) {
        assert!(taken(&[output.to_owned()]).is_err(), "{} `{output}` is an output", table.name);
    }
    assert!(taken(&["title".to_owned(), "nonsense".to_owned()]).is_err(), "{}", table.name);
}

#[test]
fn mask_copies_exactly_the_named_fields() {
    // design: §4 update_mask
    let pages = (&a_page(), &a_full_page());
    masks_hold(&tables::STATUS_PAGE, pages, PageDraft::apply_mask);
    let components = (&a_component(), &a_full_component());
    let table = &tables::STATUS_PAGE_COMPONENT;
    masks_hold(table, components, ComponentDraft::apply_mask);
    let groups = (&a_group("page_0000000000001", "a"), &a_group("page_0000000000002", "b"));
    let table = &tables::STATUS_PAGE_COMPONENT_GROUP;
    masks_hold(table, groups, GroupDraft::apply_mask);
}

#[test]
fn masked_but_omitted_field_is_cleared() {
    // design: §4 update_mask
    let mut page = a_full_page();
    let optional = ["description", "icon", "access_type", "password", "auth_email_domains"];
    page.apply_mask(PageDraft::default(), &names(&optional)).unwrap();
    let settings = page.parse().unwrap();
    assert_eq!((settings.description, settings.icon, settings.access_type), (None, None, None));
    assert!(settings.password.is_none() && settings.auth_email_domains.is_empty());
    let mut page = a_full_page();
    page.apply_mask(PageDraft::default(), &names(&["title"])).unwrap();
    assert_eq!(outcome(page.parse()), "`title` must be given");
}

#[test]
fn password_is_hidden_in_messages_and_debug() {
    let password = Some(Secret::new(format!("hunter2{}", "x".repeat(256))));
    let draft = PageDraft { password, ..a_page() };
    assert!(!format!("{draft:?}").contains("hunter2"));
    assert_eq!(
        outcome(draft.parse()),
        "`password` must have at most 256 characters (given: `263 characters`)"
    );
}
