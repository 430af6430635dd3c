//! Upgrades stored states and identities to the current version. Terraform requests this on each
//! read.

use serde_json::Value as Json;

use super::ResourceEntry;
use crate::codec::from_json;
use crate::proto::tfplugin6 as proto;
use crate::resource::{Prior, Upgrade};
use crate::server::wire;
use crate::value::{Object, Type, Value};
use crate::{Diagnostic, Outcome};

impl<C> ResourceEntry<C> {
    pub(in crate::server) fn upgrade(
        &self,
        request: &proto::upgrade_resource_state::Request,
    ) -> Outcome<proto::upgrade_resource_state::Response> {
        let raw = request.raw_state.as_ref().map_or(&[][..], |raw| &raw.json);
        let current = self.typed.schema.version;
        let state = if request.version == current {
            stored(raw, &self.typed.ty)?
        } else {
            let upgrade = self.upgrades.iter().find(|upgrade| upgrade.from == request.version);
            let upgrade = upgrade.ok_or_else(|| missing_upgrade(request.version, current))?;
            upgraded(upgrade, raw)?
        };
        let state = wire::conform(&self.typed.schema, state)?;
        let upgraded_state = wire::dynamic(Some(&state), &self.typed.ty)?;
        Ok(proto::upgrade_resource_state::Response { upgraded_state, ..Default::default() })
    }

    pub(in crate::server) fn upgrade_identity(
        &self,
        request: &proto::upgrade_resource_identity::Request,
    ) -> Outcome<proto::upgrade_resource_identity::Response> {
        let raw = request.raw_identity.as_ref().map_or(&[][..], |raw| &raw.json);
        let no_identity = || Diagnostic::error("No identity", "This resource has no identity.");
        let identity = self.identity.as_ref().ok_or_else(no_identity)?;
        let ty = identity.ty();
        let values = if request.version == identity.version {
            stored(raw, &ty)?
        } else {
            let upgrade = identity.upgrades.iter().find(|upgrade| upgrade.from == request.version);
            let upgrade =
                upgrade.ok_or_else(|| missing_upgrade(request.version, identity.version))?;
            (upgrade.run)(plain(raw)?)?
        };
        let upgraded_identity = wire::identity_data(Some(&values), Some(&ty))?;
        Ok(proto::upgrade_resource_identity::Response { upgraded_identity, ..Default::default() })
    }
}

fn upgraded(upgrade: &Upgrade, raw: &[u8]) -> Outcome<Object> {
    let prior = match &upgrade.schema {
        Some(schema) => Prior::Values(stored(raw, &schema.ty())?),
        None => Prior::Raw(plain(raw)?),
    };
    (upgrade.run)(prior)
}

fn stored(raw: &[u8], ty: &Type) -> Outcome<Object> {
    match from_json(raw, ty) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(broken(&format!("expected an object, found {}", other.kind())).into()),
        Err(why) => Err(broken(&why.to_string()).into()),
    }
}

fn plain(raw: &[u8]) -> Outcome<Json> {
    serde_json::from_slice(raw).map_err(|why| broken(&why.to_string()).into())
}

fn broken(why: &str) -> Diagnostic {
    Diagnostic::error("Cannot read the stored state", format!("{why}."))
}

fn missing_upgrade(from: i64, to: i64) -> Diagnostic {
    let newer = from > to;
    let detail = if newer {
        format!(
            "It has version {from}, but this provider supports up to {to}. Use a newer provider."
        )
    } else {
        format!("This provider cannot upgrade version {from} to {to}.")
    };
    Diagnostic::error("Unsupported version of the stored state", detail)
}
