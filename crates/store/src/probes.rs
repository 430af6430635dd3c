//! Probes in other places and the regions that they serve. At most one probe serves a region; the
//! server itself serves the others. Private regions belong to a workspace, as their probes do (`owner`);
//! without a probe, nobody serves them. The store holds only the SHA-256 of a probe's token. `server`'s
//! auth creates tokens, and its pipeline follows [`Probes::changed`].

mod owner;

use std::net::IpAddr;

use rules::{ProbeId, Region, Timestamp, WorkspaceId};
use sqlx::AssertSqlSafe;
use tokio::sync::watch;

pub use self::owner::ProbeOwner;
use crate::db::{Query, Row, query};
use crate::row::{id, instant, optional, optional_instant};
use crate::writer::{Session, Work};
use crate::{KeyHash, OperatorContext, Store, StoreError};

/// Table of the probes. Their regions have a table of their own.
pub(crate) const TABLE: &str = "probes";
const COLUMNS: &str = "p.id, p.workspace_id, p.name, p.created_at, p.token_hash, p.previous_until, \
    p.last_seen_at, p.version, p.address, r.region \
    FROM probes p LEFT JOIN probe_regions r ON r.probe_id = p.id";

/// A new probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProbe {
    pub id: ProbeId,
    pub owner: ProbeOwner,
    pub name: String,
    /// Regions that it serves.
    pub regions: Vec<Region>,
}

/// Probe as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProbe {
    pub id: ProbeId,
    pub owner: ProbeOwner,
    pub name: String,
    /// Regions that it serves, in the order of [`Region::ALL`].
    pub regions: Vec<Region>,
    pub created_at: Timestamp,
    /// Hash of its current token.
    pub token: KeyHash,
    /// End of the previous token. `None` unless the token was rotated and not used since.
    pub previous_until: Option<Timestamp>,
    /// Time at which the server last heard from it.
    pub last_seen_at: Option<Timestamp>,
    /// Version of its program, as of then.
    pub version: Option<String>,
    /// Address that it connected from, as of then.
    pub address: Option<String>,
}

/// New token of a probe. The previous token stays valid for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewProbeToken {
    /// Hash of the new token.
    pub token: KeyHash,
    /// End of the previous token, unless the new one is used before.
    pub previous_until: Timestamp,
}

/// Sign of life of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeSeen {
    pub probe: ProbeId,
    pub at: Timestamp,
    /// Version of its program.
    pub version: String,
    /// Address that it connected from, if it is known.
    pub address: Option<IpAddr>,
}

/// Handle of the probes.
#[derive(Clone, Copy, Debug)]
pub struct Probes<'s> {
    store: &'s Store,
}

impl Store {
    /// Returns the handle of the probes.
    pub const fn probes(&self) -> Probes<'_> {
        Probes { store: self }
    }
}

impl Probes<'_> {
    /// Returns a receiver that sees a new value after each change, or possible change, of probes,
    /// their regions and their tokens. Signs of life are not counted.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.store.probe_changes()
    }

    /// Stores a new probe.
    ///
    /// # Errors
    /// `AlreadyExists` for the name, `RegionServed` for the first region that another probe serves,
    /// `OperatorRequired`, `RoleRequired`.
    pub async fn create(
        &self,
        new: NewProbe,
        token: KeyHash,
        author: OperatorContext,
    ) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                new.owner.require(session, new.id, author).await?;
                insert(session, &new, token, author.change.at).await?;
                let entry = ("probe.create", new.id.to_string(), new.name.as_str());
                new.owner.record(session, author, entry).await
            })
        })
        .await
    }

    /// Returns all probes by name.
    pub async fn list(&self) -> Result<Vec<StoredProbe>, StoreError> {
        self.select(query(AssertSqlSafe(format!("SELECT {COLUMNS}")))).await
    }

    /// Returns the probes of a workspace by name.
    pub async fn list_of(&self, workspace: WorkspaceId) -> Result<Vec<StoredProbe>, StoreError> {
        let statement = format!("SELECT {COLUMNS} WHERE p.workspace_id = $1");
        self.select(query(AssertSqlSafe(statement)).bind(workspace.to_string())).await
    }

    /// Returns the probes of the operator by name.
    pub async fn list_of_operator(&self) -> Result<Vec<StoredProbe>, StoreError> {
        let statement = format!("SELECT {COLUMNS} WHERE p.workspace_id IS NULL");
        self.select(query(AssertSqlSafe(statement))).await
    }

    async fn select(&self, statement: Query) -> Result<Vec<StoredProbe>, StoreError> {
        let rows = statement.fetch_all(&mut self.store.read().await?).await?;
        let read_one = |rows: &[&Row]| read(rows).map(|probe| probe.into_iter().collect());
        let (mut probes, _) = self.store.quarantine().readable_groups(TABLE, &rows, read_one)?;
        probes.sort_unstable_by(|a: &StoredProbe, b| a.name.cmp(&b.name));
        Ok(probes)
    }

    /// Returns the probe with this identifier.
    pub async fn get(&self, probe: ProbeId) -> Result<StoredProbe, StoreError> {
        let rows = query(AssertSqlSafe(format!("SELECT {COLUMNS} WHERE p.id = $1")))
            .bind(probe.to_string())
            .fetch_all(&mut self.store.read().await?)
            .await?;
        read(&rows.iter().collect::<Vec<_>>())?
            .ok_or_else(|| StoreError::not_found("probe", &probe))
    }

    /// Returns the probe with this token: its current one, or the previous one until its end. For
    /// auth. If the token is the current one and a previous one is still stored, the caller ends
    /// that one with [`Self::end_rotation`].
    pub async fn find_for_auth(
        &self,
        token: KeyHash,
        now: Timestamp,
    ) -> Result<Option<StoredProbe>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} WHERE p.token_hash = $1 \
             OR (p.previous_token_hash = $1 AND p.previous_until > $2)"
        );
        let rows = query(AssertSqlSafe(statement))
            .bind(token.bytes())
            .bind(now.as_millis())
            .fetch_all(&mut self.store.read().await?)
            .await?;
        read(&rows.iter().collect::<Vec<_>>())
    }

    /// Gives a probe a new token. The token that the probe uses stays valid until
    /// `previous_until`, or until [`Self::end_rotation`]. If the current token was never used, that
    /// is the one before it, and the current one ends now.
    ///
    /// # Errors
    /// `NotFound`, `OperatorRequired`, `RoleRequired`.
    pub async fn rotate(
        &self,
        probe: ProbeId,
        rotation: NewProbeToken,
        author: OperatorContext,
    ) -> Result<(), StoreError> {
        let NewProbeToken { token, previous_until } = rotation;
        self.write(move |session| {
            Box::pin(async move {
                let owner = ProbeOwner::of(session, probe).await?;
                owner.require(session, probe, author).await?;
                query(
                    "UPDATE probes SET token_hash = $2, previous_until = $3, previous_token_hash = \
                     CASE WHEN previous_until > $4 THEN previous_token_hash ELSE token_hash END \
                     WHERE id = $1",
                )
                .bind(probe.to_string())
                .bind(token.bytes())
                .bind(previous_until.as_millis())
                .bind(author.change.at.as_millis())
                .execute(&mut session.db)
                .await?;
                record(session, author, owner, ("probe.rotate_token", probe)).await
            })
        })
        .await
    }

    /// Ends the previous token of a probe, because the probe used the current one. Has no effect if
    /// `used` is no longer the current token, or if the probe has no previous one.
    pub async fn end_rotation(&self, probe: ProbeId, used: KeyHash) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                query(
                    "UPDATE probes SET previous_token_hash = NULL, previous_until = NULL \
                     WHERE id = $1 AND token_hash = $2",
                )
                .bind(probe.to_string())
                .bind(used.bytes())
                .execute(&mut session.db)
                .await?;
                Ok(())
            })
        })
        .await
    }

    /// Deletes a probe. Its tokens end, and its regions are free.
    ///
    /// # Errors
    /// `NotFound`, `OperatorRequired`, `RoleRequired`.
    pub async fn delete(&self, probe: ProbeId, author: OperatorContext) -> Result<(), StoreError> {
        self.write(move |session| {
            Box::pin(async move {
                let owner = ProbeOwner::of(session, probe).await?;
                owner.require(session, probe, author).await?;
                record(session, author, owner, ("probe.delete", probe)).await?;
                // Another probe may get the name.
                query(
                    "DELETE FROM probe_suspicions WHERE probe IN \
                     (SELECT name FROM probes WHERE id = $1 AND workspace_id IS NULL)",
                )
                .bind(probe.to_string())
                .execute(&mut session.db)
                .await?;
                query("DELETE FROM probes WHERE id = $1")
                    .bind(probe.to_string())
                    .execute(&mut session.db)
                    .await?;
                Ok(())
            })
        })
        .await
    }

    /// Records signs of life. Older ones than those stored, and those of deleted probes, have no
    /// effect. The server calls this every few seconds.
    pub async fn record_seen(&self, seen: &[ProbeSeen]) -> Result<(), StoreError> {
        let seen = seen.to_vec();
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    for ProbeSeen { probe, at, version, address } in seen {
                        query(
                            "UPDATE probes SET last_seen_at = $2, version = $3, address = $4 \
                             WHERE id = $1 AND (last_seen_at IS NULL OR last_seen_at < $2)",
                        )
                        .bind(probe.to_string())
                        .bind(at.as_millis())
                        .bind(&version)
                        .bind(address.map(|it| it.to_string()))
                        .execute(&mut session.db)
                        .await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Does `work` even if the caller is gone, and announces a change, or a possible one, after it.
    /// Otherwise a server would serve regions by probes that are no longer stored.
    async fn write<F>(&self, work: F) -> Result<(), StoreError>
    where
        F: for<'w> FnOnce(&'w mut Session) -> Work<'w, ()> + Send + 'static,
    {
        let store = self.store.clone();
        let whole = async move {
            let done = store
                .write(move |session| {
                    session.declare_no_change();
                    work(session)
                })
                .await;
            if done.as_ref().err().is_none_or(StoreError::may_be_stored) {
                store.record_probe_change();
            }
            done
        };
        tokio::spawn(whole).await.map_err(|_| StoreError::Closed)?
    }
}

/// Records a change of a stored probe, with its name.
async fn record(
    session: &mut Session,
    author: OperatorContext,
    owner: ProbeOwner,
    (action, probe): (&'static str, ProbeId),
) -> Result<(), StoreError> {
    let name: Option<String> = query("SELECT name FROM probes WHERE id = $1")
        .bind(probe.to_string())
        .scalar(&mut session.db)
        .await?;
    let name = name.ok_or_else(|| StoreError::not_found("probe", &probe))?;
    owner.record(session, author, (action, probe.to_string(), &name)).await
}

async fn insert(
    session: &mut Session,
    new: &NewProbe,
    token: KeyHash,
    created_at: Timestamp,
) -> Result<(), StoreError> {
    let taken = StoreError::AlreadyExists { what: "probe", name: new.name.clone() };
    let owner = match new.owner {
        ProbeOwner::Operator => None,
        ProbeOwner::Workspace(workspace) => Some(workspace),
    };
    query(
        "INSERT INTO probes (id, workspace_id, name, token_hash, created_at) \
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(new.id.to_string())
    .bind(new.owner.column())
    .bind(&new.name)
    .bind(token.bytes())
    .bind(created_at.as_millis())
    .execute(&mut session.db)
    .await
    .map_err(|error| StoreError::from_insert(error, taken, owner))?;
    let owner = new.owner.column().unwrap_or_default();
    for region in &new.regions {
        let serving: Option<String> = query(
            "SELECT p.name FROM probe_regions r JOIN probes p ON p.id = r.probe_id \
             WHERE r.workspace_id = $1 AND r.region = $2",
        )
        .bind(&owner)
        .bind(region.as_str())
        .scalar(&mut session.db)
        .await?;
        if let Some(probe) = serving {
            return Err(StoreError::RegionServed { region: *region, probe });
        }
        query("INSERT INTO probe_regions (workspace_id, region, probe_id) VALUES ($1, $2, $3)")
            .bind(&owner)
            .bind(region.as_str())
            .bind(new.id.to_string())
            .execute(&mut session.db)
            .await?;
    }
    Ok(())
}

/// Reads the rows of one probe: one row per region.
fn read(rows: &[&Row]) -> Result<Option<StoredProbe>, StoreError> {
    let Some(row) = rows.first() else { return Ok(None) };
    let mut regions = Vec::with_capacity(rows.len());
    for row in rows {
        regions.extend(optional(row, "region", Region::parse)?);
    }
    regions.sort_unstable();
    Ok(Some(StoredProbe {
        id: id(row, "id", ProbeId::parse)?,
        owner: ProbeOwner::read(row)?,
        name: row.try_get("name")?,
        regions,
        created_at: instant(row, "created_at")?,
        token: KeyHash::read(row, "token_hash")?,
        previous_until: optional_instant(row, "previous_until")?,
        last_seen_at: optional_instant(row, "last_seen_at")?,
        version: row.try_get("version")?,
        address: row.try_get("address")?,
    }))
}
