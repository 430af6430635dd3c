//! The database, and the address at which servers that share it reach each other.

use std::net::SocketAddr;

use rules::Secret;
use store::Database;

use super::parse::{address, optional};
use super::{ConfigError, Value, Values};

/// Parses the database URL. The error omits the value, which may contain a password.
pub(super) fn database(value: &Value) -> Result<Database, ConfigError> {
    let address = value.text.trim();
    if address.is_empty() {
        return Ok(Database::Embedded);
    }
    if ["postgres://", "postgresql://"].iter().any(|scheme| address.starts_with(scheme)) {
        return Ok(Database::Postgres(Secret::new(address.to_owned())));
    }
    Err(ConfigError::Invalid {
        name: value.setting.name,
        why: "must begin with postgres://, or be empty".to_owned(),
        origin: value.origin.clone(),
    })
}

/// Parses the address. Other servers read the address from the database, so it must name this machine.
pub(super) fn replica_address(
    values: &Values,
    database: &Database,
) -> Result<Option<SocketAddr>, ConfigError> {
    let value = values.get("replica_address");
    let allowed = "must be an address that other machines can connect to, such as 10.0.0.5:9080";
    let named = |text: &str| address(text).filter(|it| !it.ip().is_unspecified());
    let Some(named) = optional(value, allowed, named)? else { return Ok(None) };
    match database {
        Database::Postgres(_) => Ok(Some(named)),
        Database::Embedded => Err(ConfigError::Invalid {
            name: value.setting.name,
            why: "requires `database`, a PostgreSQL database that the servers share".to_owned(),
            origin: value.origin.clone(),
        }),
    }
}
