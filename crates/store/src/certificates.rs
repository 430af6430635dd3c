//! Certificates of the domains that the server serves, with their sealed keys, the outcome of the
//! last order, and the ACME accounts. The caller decides when to order, and for which domains.
//! Certificates belong to the server, not to a workspace.

use rules::{DomainName, Secret, Timestamp};

use crate::db::{Row, query};
use crate::row::{domain, optional_instant};
use crate::vault::{EncryptionContext, Vault};
use crate::writer::Session;
use crate::{Store, StoreError};

/// Handle of the certificates.
#[derive(Clone, Copy, Debug)]
pub struct Certificates<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the certificates of the domains that the server serves.
    pub const fn certificates(&self) -> Certificates<'_> {
        Certificates { store: self }
    }
}

/// Certificate of a domain, with the state of its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainCertificate {
    pub domain: DomainName,
    /// Certificate. `None` until the first one is issued.
    pub issued: Option<IssuedCertificate>,
    /// Number of attempts since the last certificate was issued.
    pub attempts: u32,
    /// Error of the last attempt. `None` if it succeeded or was interrupted.
    pub last_error: Option<String>,
    /// Earliest time of the next attempt. `None` if there was no attempt since the last
    /// certificate.
    pub next_attempt_at: Option<Timestamp>,
}

/// Certificate with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedCertificate {
    /// Certificate and its issuers, in PEM.
    pub chain: String,
    /// Private key, in PEM.
    pub key: Secret<String>,
    /// Time of issue.
    pub issued_at: Timestamp,
    /// Time of expiry.
    pub expires_at: Timestamp,
    /// Time at which to order the next one.
    pub renew_at: Timestamp,
}

const SELECT: &str = "SELECT domain, chain, key_sealed, issued_at, expires_at, renew_at, attempts, \
    last_error, next_attempt_at FROM certificates";

impl Certificates<'_> {
    /// Returns all certificates, ordered by domain.
    pub async fn all(&self) -> Result<Vec<DomainCertificate>, StoreError> {
        let mut db = self.store.read().await?;
        let rows = query(sqlx::AssertSqlSafe(format!("{SELECT} ORDER BY domain")));
        let rows = rows.fetch_all(&mut db).await?;
        drop(db);
        let vault = self.store.vault();
        self.store.quarantine().readable_rows("certificates", &rows, |row| read(vault, row))
    }

    /// Returns the certificate of one domain, or `None` if none was ever ordered.
    pub async fn get(&self, domain: &DomainName) -> Result<Option<DomainCertificate>, StoreError> {
        let mut db = self.store.read().await?;
        let row = query(sqlx::AssertSqlSafe(format!("{SELECT} WHERE domain = $1")))
            .bind(domain.as_str())
            .fetch_optional(&mut db)
            .await?;
        drop(db);
        row.map(|row| read(self.store.vault(), &row)).transpose()
    }

    /// Records the start of an attempt with its number, and the earliest time of the next one. A
    /// server that is killed during an attempt therefore does not repeat it immediately.
    pub async fn begin(
        &self,
        domain: DomainName,
        tries: u32,
        next_try_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                query(
                    "INSERT INTO certificates (domain, attempts, next_attempt_at) \
                     VALUES ($1, $2, $3) \
                     ON CONFLICT (domain) DO UPDATE SET attempts = $2, next_attempt_at = $3",
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

    /// Records why an attempt failed, and the earliest time of the next one.
    pub async fn failed(
        &self,
        domain: DomainName,
        why: String,
        next_try_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                query(
                    "UPDATE certificates SET last_error = $2, next_attempt_at = $3 \
                     WHERE domain = $1",
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

    /// Stores an issued certificate, and clears the failures before it.
    pub async fn store_issued(
        &self,
        domain: DomainName,
        certificate: IssuedCertificate,
    ) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                let sealed =
                    session.vault.seal(key_context(domain.as_str()), &certificate.key.expose())?;
                query(
                    "INSERT INTO certificates (domain, chain, key_sealed, issued_at, expires_at, \
                     renew_at, attempts) VALUES ($1, $2, $3, $4, $5, $6, 0) \
                     ON CONFLICT (domain) DO UPDATE SET chain = $2, key_sealed = $3, \
                     issued_at = $4, expires_at = $5, renew_at = $6, attempts = 0, \
                     last_error = NULL, next_attempt_at = NULL",
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

    /// Sets the time to order the next certificate, as its issuer suggests.
    pub async fn set_renewal_time(
        &self,
        domain: DomainName,
        renew_at: Timestamp,
    ) -> Result<(), StoreError> {
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

    /// Deletes the certificate and key of a domain that the server no longer serves.
    pub async fn remove(&self, domain: DomainName) -> Result<(), StoreError> {
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

    /// Returns the saved account at the ACME server with this directory.
    pub async fn account(&self, directory: &str) -> Result<Option<Secret<String>>, StoreError> {
        let mut db = self.store.read().await?;
        let sealed: Option<Vec<u8>> =
            query("SELECT sealed FROM acme_accounts WHERE directory = $1")
                .bind(directory)
                .scalar(&mut db)
                .await?;
        drop(db);
        let open = |sealed: Vec<u8>| self.store.vault().open(account_context(directory), &sealed);
        Ok(sealed.map(open).transpose()?.map(Secret::new))
    }

    /// Saves the account at the ACME server with this directory, and replaces an earlier one.
    pub async fn save_account(
        &self,
        directory: String,
        account: Secret<String>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                let sealed = session.vault.seal(account_context(&directory), account.expose())?;
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

    /// Writes without changing any data that callers may have cached.
    async fn write<F>(&self, work: F) -> Result<(), StoreError>
    where
        F: for<'s> FnOnce(&'s mut Session) -> crate::writer::Work<'s, ()> + Send + 'static,
    {
        self.store
            .write(move |session| {
                session.declare_no_change();
                work(session)
            })
            .await
    }
}

fn read(vault: &Vault, row: &Row) -> Result<DomainCertificate, StoreError> {
    let domain = domain(row, "domain")?;
    let (chain, sealed): (Option<String>, Option<Vec<u8>>) =
        (row.try_get("chain")?, row.try_get("key_sealed")?);
    let (issued_at, expires_at, renew_at) = (
        optional_instant(row, "issued_at")?,
        optional_instant(row, "expires_at")?,
        optional_instant(row, "renew_at")?,
    );
    let issued = match (chain, sealed, issued_at, expires_at, renew_at) {
        (Some(chain), Some(sealed), Some(issued_at), Some(expires_at), Some(renew_at)) => {
            let key = Secret::new(vault.open(key_context(domain.as_str()), &sealed)?);
            Some(IssuedCertificate { chain, key, issued_at, expires_at, renew_at })
        }
        _ => None,
    };
    let tries: i64 = row.try_get("attempts")?;
    Ok(DomainCertificate {
        domain,
        issued,
        attempts: u32::try_from(tries).unwrap_or(u32::MAX),
        last_error: row.try_get("last_error")?,
        next_attempt_at: optional_instant(row, "next_attempt_at")?,
    })
}

const fn key_context(domain: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "certificates.key_sealed", row: domain }
}

const fn account_context(directory: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "acme_accounts.sealed", row: directory }
}
