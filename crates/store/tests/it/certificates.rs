//! Certificates with sealed keys, failed orders, and ACME accounts.

use rules::{DomainName, Secret};
use store::IssuedCertificate;

use crate::data_dir::is_on_disk;
use crate::harness::{Engine, Home, for_each_engine, instant};

const DIRECTORY: &str = "https://acme.example/directory";

fn domain() -> DomainName {
    DomainName::parse("status.bücher.example").unwrap()
}

fn a_certificate(number: i64) -> IssuedCertificate {
    IssuedCertificate {
        chain: format!("-----BEGIN CERTIFICATE-----\n{number}\n"),
        key: Secret::new("-----BEGIN PRIVATE KEY-----\nhunter2\n".to_owned()),
        issued_at: instant(number),
        expires_at: instant(number + 90),
        renew_at: instant(number + 60),
    }
}

/// Stores a certificate and its ACME account.
pub(crate) async fn a_full_one(home: &Home) {
    let certificates = home.store.certificates();
    certificates.store_issued(domain(), a_certificate(1)).await.unwrap();
    let account = Secret::new("account".to_owned());
    certificates.save_account(DIRECTORY.to_owned(), account, instant(1)).await.unwrap();
}

// issue 7: "with stored, renewed certificates"
#[tokio::test]
async fn new_certificate_reads_back_and_clears_failures() {
    for_each_engine(async |home| {
        let certificates = home.store.certificates();
        assert_eq!(certificates.get(&domain()).await.unwrap(), None);
        certificates.begin(domain(), 1, instant(5)).await.unwrap();
        certificates.failed(domain(), "no way".to_owned(), instant(7)).await.unwrap();
        let failed = certificates.get(&domain()).await.unwrap().unwrap();
        assert_eq!(failed.last_error.as_deref(), Some("no way"));
        assert_eq!(
            (failed.attempts, failed.next_attempt_at, failed.issued),
            (1, Some(instant(7)), None)
        );
        for number in [10, 20] {
            certificates.begin(domain(), 2, instant(9)).await.unwrap();
            certificates.store_issued(domain(), a_certificate(number)).await.unwrap();
            let kept = certificates.all().await.unwrap();
            assert_eq!(kept.len(), 1);
            assert_eq!(kept[0].issued, Some(a_certificate(number)));
            assert_eq!(
                (kept[0].attempts, &kept[0].last_error, kept[0].next_attempt_at),
                (0, &None, None)
            );
        }
        certificates.remove(domain()).await.unwrap();
        assert!(certificates.all().await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn certificate_stays_while_the_next_is_ordered() {
    for_each_engine(async |home| {
        let certificates = home.store.certificates();
        certificates.store_issued(domain(), a_certificate(1)).await.unwrap();
        certificates.begin(domain(), 1, instant(62)).await.unwrap();
        certificates.failed(domain(), "later".to_owned(), instant(63)).await.unwrap();
        let kept = certificates.get(&domain()).await.unwrap().unwrap();
        assert_eq!(kept.issued, Some(a_certificate(1)));
        assert_eq!(kept.last_error.as_deref(), Some("later"));
    })
    .await;
}

// design: §6: secrets are encrypted at rest
#[tokio::test]
async fn keys_and_accounts_are_encrypted_on_disk() {
    for_each_engine(async |home| {
        let certificates = home.store.certificates();
        certificates.store_issued(domain(), a_certificate(1)).await.unwrap();
        assert!(certificates.account(DIRECTORY).await.unwrap().is_none());
        for account in ["first", "hunter2"] {
            let account = Secret::new(account.to_owned());
            certificates.save_account(DIRECTORY.to_owned(), account, instant(1)).await.unwrap();
        }
        let account = certificates.account(DIRECTORY).await.unwrap().unwrap();
        assert_eq!(account.expose(), "hunter2");
        if let Engine::Sqlite = home.engine {
            assert!(!is_on_disk(home.folder.path(), "hunter2"));
            assert!(is_on_disk(home.folder.path(), "BEGIN CERTIFICATE"));
        }
        let key = home.count("certificates WHERE key_sealed IS NOT NULL").await;
        assert_eq!(key, 1);
    })
    .await;
}

// issue 7: a page's deletion ends its domain
#[tokio::test]
async fn page_changes_are_observed_by_receivers() {
    for_each_engine(async |home| {
        let mut changes = home.store.page_changes();
        let page = crate::pages::a_page(home, 1).await;
        changes.changed().await.unwrap();
        assert!(home.store.pages().domains().await.unwrap().is_empty());
        let settings = crate::pages::page_settings("page-1", |draft| {
            draft.custom_domain = Some("Status.Bücher.example".to_owned());
        });
        let page = home.store.pages().update(page, settings, crate::harness::at(9)).await.unwrap();
        changes.changed().await.unwrap();
        let domains = home.store.pages().domains().await.unwrap();
        assert_eq!((&domains[0].domain, domains[0].page), (&domain(), page.id));
        home.store.pages().delete(page.workspace, page.id, crate::harness::at(10)).await.unwrap();
        changes.changed().await.unwrap();
        assert!(home.store.pages().domains().await.unwrap().is_empty());
    })
    .await;
}
