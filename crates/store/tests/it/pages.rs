//! Status pages: stored values read back equal with a sealed password, slugs and domains are unique
//! in the server. Concurrent edits conflict, and a deletion removes the contents.

use rules::status_page::{PageDraft, PageSettings, StatusPage};
use rules::{PageId, Secret, Theme, WorkspaceId};
use store::{Created, Idempotency, NewPage, Page, StoreError};

use crate::data_dir::is_on_disk;
use crate::harness::{Engine, Home, a_workspace, at, for_each_engine, instant, workspace_id};

const FIRST_PART: Page<PageId> = Page { limit: 50, offset: 0, after: None };

pub(crate) const fn page_id(number: u64) -> PageId {
    PageId::from_bits(number)
}

/// Returns settings with only a slug, after `change`.
pub(crate) fn page_settings(slug: &str, change: impl FnOnce(&mut PageDraft)) -> PageSettings {
    let (title, slug) = (Some("Acme".to_owned()), Some(slug.to_owned()));
    let mut draft = PageDraft { title, slug, ..PageDraft::default() };
    change(&mut draft);
    draft.parse().unwrap()
}

async fn create(
    home: &Home,
    workspace: WorkspaceId,
    number: u64,
    settings: PageSettings,
) -> Result<StatusPage, StoreError> {
    let new = NewPage { id: page_id(number), workspace, settings, idempotency: None };
    home.store.pages().create(new, at(number as i64)).await.map(Created::into_inner)
}

/// Creates a page in the home's workspace.
pub(crate) async fn a_page(home: &Home, number: u64) -> StatusPage {
    let settings = page_settings(&format!("page-{number}"), |_| {});
    create(home, home.workspace, number, settings).await.unwrap()
}

/// Creates a page with all fields.
pub(crate) async fn a_full_page(home: &Home, number: u64) -> StatusPage {
    create(home, home.workspace, number, page_settings("", everything)).await.unwrap()
}

fn everything(draft: &mut PageDraft) {
    *draft = PageDraft {
        title: Some("Äcme".to_owned()),
        slug: Some("acme-status".to_owned()),
        description: Some(String::new()),
        homepage_url: Some("https://example.com".to_owned()),
        contact_url: Some("mailto:ops@example.com".to_owned()),
        icon: Some("https://example.com/i.png".to_owned()),
        custom_domain: Some("Status.Bücher.example".to_owned()),
        access_type: Some("password".to_owned()),
        password: Some(Secret::new("hunter2".to_owned())),
        auth_email_domains: vec!["b.example".to_owned(), "a.example".to_owned()],
    };
}

#[tokio::test]
async fn created_page_reads_back_equal() {
    for_each_engine(async |home| {
        let full = page_settings("", everything);
        let written = create(home, home.workspace, 1, full.clone()).await.unwrap();
        assert_eq!((written.published, written.theme), (true, Theme::System));
        assert_eq!((&written.settings, written.created_at), (&full, instant(1)));
        let bare = a_page(home, 2).await;
        for page in [written, bare] {
            assert_eq!(home.store.pages().get(home.workspace, page.id).await.unwrap(), page);
        }
    })
    .await;
}

#[tokio::test]
async fn slugs_and_domains_are_unique_in_the_server() {
    // spec: §2.5; issue 5: unique in the server
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        create(home, workspace_id(2), 1, page_settings("", everything)).await.unwrap();
        let with_domain = |domain: &str| {
            page_settings("mine", |draft| draft.custom_domain = Some(domain.to_owned()))
        };
        let mine = create(home, home.workspace, 2, page_settings("mine", |_| {})).await.unwrap();
        let cases = [
            ("slug", page_settings("acme-status", |_| {})),
            ("custom_domain", with_domain("status.xn--bcher-kva.example")),
            ("custom_domain", with_domain("STATUS.bücher.example.")),
        ];
        for (field, settings) in cases {
            let update = home.store.pages().update(mine.clone(), settings.clone(), at(3)).await;
            let fresh = PageSettings { slug: settings.slug.replace("mine", "third"), ..settings };
            let refusals = [update, create(home, home.workspace, 3, fresh).await];
            for refusal in refusals {
                let is_refused =
                    matches!(&refusal, Err(StoreError::Taken(it)) if it.field == field);
                assert!(is_refused, "{field}: {refusal:?}");
            }
        }
        assert_eq!(home.store.pages().list(home.workspace, FIRST_PART).await.unwrap().total, 1);
        // A deletion frees both, and a page may keep its own.
        home.store.pages().delete(workspace_id(2), page_id(1), at(4)).await.unwrap();
        let full = page_settings("", everything);
        let taken = home.store.pages().update(mine, full.clone(), at(5)).await.unwrap();
        let renamed = PageSettings { title: "Again".to_owned(), ..full };
        home.store.pages().update(taken, renamed, at(6)).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn stale_edit_of_a_page_is_a_conflict() {
    for_each_engine(async |home| {
        let seen = a_page(home, 1).await;
        let edit = |title: &str| PageSettings { title: title.to_owned(), ..seen.settings.clone() };
        let first = home.store.pages().update(seen.clone(), edit("first"), at(0)).await.unwrap();
        assert!(first.updated_at > seen.updated_at, "even if the clock stands still");
        let second = home.store.pages().update(seen.clone(), edit("second"), at(9)).await;
        assert!(matches!(second, Err(StoreError::Conflict { what: "status page", .. })));
        assert_eq!(home.store.pages().get(home.workspace, seen.id).await.unwrap(), first);
    })
    .await;
}

// Issue 7: people who lose access must not see the page, however the call ended.
#[tokio::test]
async fn access_change_is_counted_after_caller_disconnects() {
    for_each_engine(async |home| {
        let (pages, workspace) = (home.store.pages(), home.workspace);
        let page = a_page(home, 1).await;
        let (before, mut changes) = (home.store.access_version(page.id), home.store.page_changes());
        changes.mark_unchanged();
        let hide = pages.set_published(workspace, page.id, false, at(1));
        tokio::select! {
            biased;
            _ = hide => unreachable!("the database takes time"),
            () = std::future::ready(()) => {}
        }
        changes.changed().await.unwrap();
        assert!(home.store.access_version(page.id) != before);
        assert!(!pages.get(workspace, page.id).await.unwrap().published);
    })
    .await;
}

#[tokio::test]
async fn access_version_changes_only_with_access() {
    for_each_engine(async |home| {
        let (pages, workspace, theirs) = (home.store.pages(), home.workspace, workspace_id(2));
        let page = a_page(home, 1).await;
        let (before, changes) =
            (home.store.access_version(page.id), home.store.page_change_count());
        let is_counted = || {
            let now = (home.store.access_version(page.id), home.store.page_change_count());
            now != (before, changes)
        };
        for published in [false, true] {
            let answer = pages.set_published(theirs, page.id, published, at(1)).await;
            assert!(matches!(answer, Err(StoreError::NotFound { .. })));
        }
        let answer = pages.delete(theirs, page.id, at(1)).await;
        assert!(matches!(answer, Err(StoreError::NotFound { .. })));
        assert!(!is_counted(), "another workspace cannot change the page");
        let closed = page_settings(&page.settings.slug, |draft| {
            draft.access_type = Some("password".to_owned());
            draft.password = Some(Secret::new("hunter2".to_owned()));
        });
        let past = StatusPage { updated_at: instant(-1), ..page.clone() };
        let answer = pages.update(past, closed.clone(), at(1)).await;
        assert!(matches!(answer, Err(StoreError::Conflict { .. })));
        assert!(!is_counted(), "a rejected edit keeps the access");
        pages.set_published(workspace, page.id, true, at(2)).await.unwrap();
        assert!(!is_counted(), "the page was published already");
        pages.update(page.clone(), closed, at(3)).await.unwrap();
        assert!(is_counted());
    })
    .await;
}

#[tokio::test]
async fn update_keeps_theme_publication_and_indexing() {
    // design: §4: theme, published
    for_each_engine(async |home| {
        let (pages, workspace) = (home.store.pages(), home.workspace);
        let page = a_page(home, 1).await;
        let hidden = pages.set_published(workspace, page.id, false, at(10)).await.unwrap();
        assert_eq!((hidden.published, hidden.updated_at), (false, instant(10)));
        let again = pages.set_published(workspace, page.id, false, at(11)).await.unwrap();
        assert_eq!(again, hidden, "hiding a hidden page changes nothing");
        let dark = pages.set_theme(workspace, page.id, Theme::Dark, at(12)).await.unwrap();
        assert!(dark.allow_indexing);
        let unlisted = pages.set_indexing(workspace, page.id, false, at(13)).await.unwrap();
        assert!(!unlisted.allow_indexing);
        let edited = pages.update(unlisted, page_settings("other", |_| {}), at(14)).await.unwrap();
        assert_eq!((edited.published, edited.theme), (false, Theme::Dark));
        assert!(!edited.allow_indexing);
        assert_eq!(pages.get(workspace, page.id).await.unwrap(), edited);
        let audit = home.store.audit().newest(workspace, 5).await.unwrap();
        let actions: Vec<_> = audit.iter().map(|entry| entry.action.as_str()).collect();
        let due = ["page.update", "page.indexing", "page.theme", "page.unpublish", "page.create"];
        assert_eq!(actions, due);
    })
    .await;
}

#[tokio::test]
async fn other_workspace_cannot_access_pages() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let (pages, other) = (home.store.pages(), workspace_id(2));
        let page = a_page(home, 1).await;
        let foreign = StatusPage { workspace: other, ..page.clone() };
        let refusals = [
            pages.get(other, page.id).await.map(drop),
            pages.update(foreign, page_settings("x", |_| {}), at(2)).await.map(drop),
            pages.set_published(other, page.id, false, at(2)).await.map(drop),
            pages.set_theme(other, page.id, Theme::Dark, at(2)).await.map(drop),
            pages.delete(other, page.id, at(2)).await,
        ];
        for refusal in refusals {
            assert!(matches!(refusal, Err(StoreError::NotFound { what: "status page", .. })));
        }
        assert_eq!(pages.list(other, FIRST_PART).await.unwrap().total, 0);
        assert_eq!(pages.get(home.workspace, page.id).await.unwrap(), page);
    })
    .await;
}

#[tokio::test]
async fn list_of_pages_is_newest_first() {
    for_each_engine(async |home| {
        for number in [3, 1, 2] {
            a_page(home, number).await;
        }
        let cases = [
            (FIRST_PART, vec![3, 2, 1]),
            (Page { limit: 1, offset: 1, ..FIRST_PART }, vec![2]),
            (Page { after: Some(page_id(2)), ..FIRST_PART }, vec![1]),
        ];
        for (part, expected) in cases {
            let found = home.store.pages().list(home.workspace, part).await.unwrap();
            let ids: Vec<u64> = found.rows.iter().map(|page| page.id.bits()).collect();
            assert_eq!((ids, found.total), (expected, 3), "{part:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn idempotency_key_creates_a_page_once() {
    for_each_engine(async |home| {
        let create = async |number: u64, key: &str| {
            let settings = page_settings(&format!("page-{number}"), |_| {});
            let call =
                Idempotency { method: "CreateStatusPage", key: key.to_owned(), request: [7; 32] };
            let (id, workspace) = (page_id(number), home.workspace);
            let new = NewPage { id, workspace, settings, idempotency: Some(call) };
            home.store.pages().create(new, at(0)).await
        };
        let Created::Now(first) = create(1, "a").await.unwrap() else {
            panic!("the create is not repeated")
        };
        assert_eq!(create(2, "a").await.unwrap(), Created::Before(first.clone()));
        assert!(matches!(create(3, "b").await.unwrap(), Created::Now(_)));
        home.store.pages().delete(home.workspace, first.id, at(1)).await.unwrap();
        let gone = create(4, "a").await;
        assert!(matches!(gone, Err(StoreError::Gone { what: "status page", .. })), "{gone:?}");
    })
    .await;
}

#[tokio::test]
async fn page_password_is_encrypted_on_disk() {
    // design: §6
    let home = Home::new(Engine::Sqlite).await;
    let secret = "correct-horse-battery";
    let settings = page_settings("p", |draft| {
        draft.password = Some(Secret::new(secret.to_owned()));
        draft.description = Some("what visitors read".to_owned());
    });
    create(&home, home.workspace, 1, settings).await.unwrap();
    assert!(!is_on_disk(home.folder.path(), secret), "in the write-ahead log");
    home.store.clone().close().await.unwrap();
    assert!(!is_on_disk(home.folder.path(), secret), "in the database");
    assert!(is_on_disk(home.folder.path(), "what visitors read"), "the search finds plain text");
}

#[tokio::test]
async fn sealed_password_opens_only_on_its_page() {
    for_each_engine(async |home| {
        create(home, home.workspace, 1, page_settings("", everything)).await.unwrap();
        a_page(home, 2).await;
        home.execute(
            "UPDATE pages SET password_sealed = \
             (SELECT password_sealed FROM pages WHERE slug = 'acme-status') WHERE slug = 'page-2'",
        )
        .await;
        let refusal = home.store.pages().get(home.workspace, page_id(2)).await;
        assert!(matches!(refusal, Err(StoreError::Corrupt { .. })), "{refusal:?}");
    })
    .await;
}
