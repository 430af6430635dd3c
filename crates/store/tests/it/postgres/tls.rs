//! TLS to PostgreSQL, with a real server and its certificate: which settings of an address accept
//! it, and which connect in plain text.

use std::fs;

use rules::Secret;
use sqlx::{Connection as _, PgConnection};
use store::{Database, Store};
use tempfile::TempDir;

use crate::authority::{Authority, Validity};
use crate::harness::{PATIENCE, a_workspace, at, settings_of};
use crate::server::PostgresServer;

const WITH_TLS: &str =
    "-c ssl=on -c ssl_cert_file=$folder/server.crt -c ssl_key_file=$folder/server.key";

/// Counts the sessions of the store that are encrypted, and those that are not.
const ENCRYPTED: &str = "SELECT COUNT(*) FILTER (WHERE s.ssl), COUNT(*) FILTER (WHERE NOT s.ssl) \
    FROM pg_stat_activity a JOIN pg_stat_ssl s ON s.pid = a.pid \
    WHERE a.application_name LIKE 'aloft %'";

/// A database server with a certificate for `localhost`, the certificate of its authority, and
/// that of another one.
struct TlsHome {
    folder: TempDir,
    server: PostgresServer,
    port: u16,
}

impl TlsHome {
    fn start() -> Self {
        let authority = Authority::new("Test Root");
        let identity = authority.issue(&["localhost"], Validity::Valid);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("root.crt"), authority.pem()).unwrap();
        fs::write(folder.path().join("other.crt"), Authority::new("Other Root").pem()).unwrap();
        let files = [("server.crt", identity.chain_pem()), ("server.key", identity.key_pem())];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        let port = free_port();
        let server = PostgresServer::start(Some(port), WITH_TLS, &files);
        Self { folder, server, port }
    }

    /// Returns an address of a database with these settings, where `root.crt` and `other.crt` are
    /// names of files.
    fn address(&self, host: &str, settings: &str) -> String {
        let folder = self.folder.path().display();
        let settings = settings.replace("sslrootcert=", &format!("sslrootcert={folder}/"));
        format!("postgres://aloft@{host}:{}/aloft?{settings}", self.port)
    }

    /// Opens a store, writes and reads.
    async fn open(&self, host: &str, settings: &str) -> Result<Store, String> {
        let address = Secret::new(self.address(host, settings));
        let settings = settings_of(&self.folder, &Database::Postgres(address));
        let store = Store::open(settings).await.map_err(|error| error.to_string())?;
        if store.workspaces().list().await.unwrap().is_empty() {
            store.workspaces().create(a_workspace(1), at(0)).await.unwrap();
        }
        Ok(store)
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Returns the numbers of encrypted sessions and of others.
async fn sessions(direct: &mut PgConnection) -> (i64, i64) {
    sqlx::query_as(ENCRYPTED).fetch_one(direct).await.unwrap()
}

async fn until_no_session(direct: &mut PgConnection) {
    let ended = async {
        while sessions(direct).await != (0, 0) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.expect("all sessions end");
}

// issue 19, point 6: "TLS tested"
#[tokio::test]
async fn address_decides_which_certificates_are_accepted() {
    let home = TlsHome::start();
    let socket = home.server.create("aloft");
    let mut direct = PgConnection::connect(&socket).await.unwrap();
    for (host, settings, is_encrypted) in [
        ("localhost", "sslmode=verify-full&sslrootcert=root.crt", true),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=root.crt", true),
        ("127.0.0.1", "sslmode=require", true),
        ("127.0.0.1", "", true),
        ("127.0.0.1", "sslmode=disable", false),
    ] {
        let store = home.open(host, settings).await.unwrap();
        let (encrypted, plain) = sessions(&mut direct).await;
        assert_eq!((encrypted > 0, plain > 0), (is_encrypted, !is_encrypted), "{settings}");
        store.close().await.unwrap();
        // The server ends a session some time after its connection.
        until_no_session(&mut direct).await;
    }
    for (host, settings, why) in [
        ("localhost", "sslmode=verify-full&sslrootcert=other.crt", "UnknownIssuer"),
        ("localhost", "sslmode=verify-ca&sslrootcert=other.crt", "UnknownIssuer"),
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=root.crt", "not valid for name"),
        ("localhost", "sslmode=verify-full&sslrootcert=missing.crt", "No such file"),
    ] {
        let refusal = home.open(host, settings).await.unwrap_err();
        assert!(refusal.contains(why), "{settings}: {refusal}");
    }
    // No refused connection stays open or falls back to plain text.
    until_no_session(&mut direct).await;
}

#[tokio::test]
async fn required_encryption_is_refused_without_tls() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let server = PostgresServer::start(Some(port), "-c ssl=off", &[]);
    server.create("aloft");
    let open = async |settings: &str| {
        let address = format!("postgres://aloft@127.0.0.1:{port}/aloft?{settings}");
        Store::open(settings_of(&folder, &Database::Postgres(Secret::new(address)))).await
    };
    let refusal = open("sslmode=require").await.unwrap_err().to_string();
    assert!(refusal.contains("server does not support TLS"), "{refusal}");
    open("sslmode=prefer").await.unwrap().close().await.unwrap();
}
