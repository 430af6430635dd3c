//! Certificates of the names that the server answers to, with their keys sealed, what came of asking
//! for them, and the accounts they are asked for with. When to ask, and for which names, is decided by
//! whoever asks; certificates are the server's and belong to no workspace.

use rules::{DomainName, Secret, Timestamp};

use crate::db::{Row, query};
use crate::row::{domain, maybe_instant};
use crate::vault::{Place, Vault};
use crate::writer::Session;
use crate::{Store, StoreError};

/// The handle of the certificates.
#[derive(Clone, Copy, Debug)]
pub struct Certificates<'s> {
    pub(crate) store: &'s Store,
}

/// What is known of the certificate of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainCertificate {
    /// The name.
    pub domain: DomainName,
    /// The certificate; `None` until there is one.
    pub issued: Option<IssuedCertificate>,
    /// Tries since the last certificate came.
    pub tries: u32,
    /// Why the last try failed; `None` where it did not, or was broken off.
    pub last_error: Option<String>,
    /// No try is made before; `None` where none was made since the last certificate came.
    pub next_try_at: Option<Timestamp>,
}

/// A certificate with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedCertificate {
    /// The certificate and those that vouch for it, in PEM.
    pub chain: String,
    /// The key, in PEM.
    pub key: Secret<String>,
    /// When it came.
    pub issued_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When the next one is asked for.
    pub renew_at: Timestamp,
}

const SELECT: &str = "SELECT domain, chain, key_sealed, issued_at, expires_at, renew_at, tries, \
    last_error, next_try_at FROM certificates";

impl Certificates<'_> {
    /// All of them, by name.
    pub async fn all(&self) -> Result<Vec<DomainCertificate>, StoreError> {
        let mut db = self.store.read().await?;
        let rows = query(sqlx::AssertSqlSafe(format!("{SELECT} ORDER BY domain")));
        let rows = rows.fetch_all(&mut db).await?;
        drop(db);
        let vault = self.store.vault();
        self.store.quarantine().sift_all("certificates", &rows, |row| read(vault, row))
    }

    /// That of one name; `None` where none was ever asked for.
    pub async fn get(&self, domain: &DomainName) -> Result<Option<DomainCertificate>, StoreError> {
        let mut db = self.store.read().await?;
        let row = query(sqlx::AssertSqlSafe(format!("{SELECT} WHERE domain = $1")))
            .bind(domain.as_str())
            .fetch_optional(&mut db)
            .await?;
        drop(db);
        row.map(|row| read(self.store.vault(), &row)).transpose()
    }

    /// Writes down that a try begins, the how manieth it is, and that no other is made before then:
    /// a server that is killed in the middle of it does not begin with another one at once for ever.
    pub async fn begin(
        &self,
        domain: DomainName,
        tries: u32,
        next_try_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                query(
                    "INSERT INTO certificates (domain, tries, next_try_at) VALUES ($1, $2, $3) \
                     ON CONFLICT (domain) DO UPDATE SET tries = $2, next_try_at = $3",
                )
                .bind(domain.as_str())
                .bind(i64::from(tries))
                .bind(next_try_at.as_millis())
                .execute(&mut session.db)
                .await?;
                Ok(())
            })
        })
        .await
    }

    /// Writes down why a try failed, and that no other is made before then.
    pub async fn failed(
        &self,
        domain: DomainName,
        why: String,
        next_try_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                query(
                    "UPDATE certificates SET last_error = $2, next_try_at = $3 WHERE domain = $1",
                )
                .bind(domain.as_str())
                .bind(why)
                .bind(next_try_at.as_millis())
                .execute(&mut session.db)
                .await?;
                Ok(())
            })
        })
        .await
    }

    /// Keeps a certificate that came; what went wrong before is over.
    pub async fn issued(
        &self,
        domain: DomainName,
        certificate: IssuedCertificate,
    ) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                let sealed =
                    session.vault.seal(key_of(domain.as_str()), &certificate.key.expose())?;
                query(
                    "INSERT INTO certificates (domain, chain, key_sealed, issued_at, expires_at, \
                     renew_at, tries) VALUES ($1, $2, $3, $4, $5, $6, 0) \
                     ON CONFLICT (domain) DO UPDATE SET chain = $2, key_sealed = $3, \
                     issued_at = $4, expires_at = $5, renew_at = $6, tries = 0, \
                     last_error = NULL, next_try_at = NULL",
                )
                .bind(domain.as_str())
                .bind(certificate.chain)
                .bind(sealed)
                .bind(certificate.issued_at.as_millis())
                .bind(certificate.expires_at.as_millis())
                .bind(certificate.renew_at.as_millis())
                .execute(&mut session.db)
                .await?;
                Ok(())
            })
        })
        .await
    }

    /// Another time at which the next certificate is asked for, as its maker wishes.
    pub async fn renews(&self, domain: DomainName, renew_at: Timestamp) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                query("UPDATE certificates SET renew_at = $2 WHERE domain = $1")
                    .bind(domain.as_str())
                    .bind(renew_at.as_millis())
                    .execute(&mut session.db)
                    .await?;
                Ok(())
            })
        })
        .await
    }

    /// Forgets the certificate of a name that the server answers to no more, with its key.
    pub async fn forget(&self, domain: DomainName) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                query("DELETE FROM certificates WHERE domain = $1")
                    .bind(domain.as_str())
                    .execute(&mut session.db)
                    .await?;
                Ok(())
            })
        })
        .await
    }

    /// The account at the ACME server with this directory, as it was saved.
    pub async fn account(&self, directory: &str) -> Result<Option<Secret<String>>, StoreError> {
        let mut db = self.store.read().await?;
        let sealed: Option<Vec<u8>> =
            query("SELECT sealed FROM acme_accounts WHERE directory = $1")
                .bind(directory)
                .scalar(&mut db)
                .await?;
        drop(db);
        let open = |sealed: Vec<u8>| self.store.vault().open(account_of(directory), &sealed);
        Ok(sealed.map(open).transpose()?.map(Secret::new))
    }

    /// Saves the account at the ACME server with this directory, in the place of any before.
    pub async fn save_account(
        &self,
        directory: String,
        account: Secret<String>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                let sealed = session.vault.seal(account_of(&directory), account.expose())?;
                query(
                    "INSERT INTO acme_accounts (directory, sealed, created_at) VALUES ($1, $2, $3) \
                     ON CONFLICT (directory) DO UPDATE SET sealed = $2, created_at = $3",
                )
                .bind(&directory)
                .bind(sealed)
                .bind(at.as_millis())
                .execute(&mut session.db)
                .await?;
                Ok(())
            })
        })
        .await
    }

    /// Nothing that callers read from memory changes.
    async fn write<F>(&self, work: F) -> Result<(), StoreError>
    where
        F: for<'s> FnOnce(&'s mut Session) -> crate::writer::Work<'s, ()> + Send + 'static,
    {
        self.store
            .write(move |session| {
                session.touches_nothing();
                work(session)
            })
            .await
    }
}

fn read(vault: &Vault, row: &Row) -> Result<DomainCertificate, StoreError> {
    let domain = domain(row, 0)?;
    let (chain, sealed): (Option<String>, Option<Vec<u8>>) = (row.try_get(1)?, row.try_get(2)?);
    let (issued_at, expires_at, renew_at) =
        (maybe_instant(row, 3)?, maybe_instant(row, 4)?, maybe_instant(row, 5)?);
    let issued = match (chain, sealed, issued_at, expires_at, renew_at) {
        (Some(chain), Some(sealed), Some(issued_at), Some(expires_at), Some(renew_at)) => {
            let key = Secret::new(vault.open(key_of(domain.as_str()), &sealed)?);
            Some(IssuedCertificate { chain, key, issued_at, expires_at, renew_at })
        }
        _ => None,
    };
    let tries: i64 = row.try_get(6)?;
    Ok(DomainCertificate {
        domain,
        issued,
        tries: u32::try_from(tries).unwrap_or(u32::MAX),
        last_error: row.try_get(7)?,
        next_try_at: maybe_instant(row, 8)?,
    })
}

const fn key_of(domain: &str) -> Place<'_> {
    Place { column: "certificates.key_sealed", row: domain }
}

const fn account_of(directory: &str) -> Place<'_> {
    Place { column: "acme_accounts.sealed", row: directory }
}
