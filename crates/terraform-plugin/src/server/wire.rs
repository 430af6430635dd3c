//! Converts values, paths and diagnostics between the protocol's messages and this crate's types.

use crate::codec::{from_json, from_msgpack, to_msgpack};
use crate::proto::tfplugin6 as proto;
use crate::proto::tfplugin6::attribute_path::step::Selector;
use crate::schema::Schema;
use crate::value::{Object, Type, Value};
use crate::{Diagnostic, Outcome, Path, Severity, Step};

/// Decodes an object. Returns `None` if it is null or absent.
pub(super) fn object(
    what: &str,
    given: Option<&proto::DynamicValue>,
    ty: &Type,
) -> Outcome<Option<Object>> {
    let read = value(what, given, ty)?;
    if read.is_null() {
        return Ok(None);
    }
    let Value::Object(object) = read else {
        return Err(unreadable(what, &format!("expected an object, found {}", read.kind())));
    };
    Ok(Some(object))
}

/// Decodes an object. Fails if it is null or absent.
pub(super) fn required(
    what: &str,
    given: Option<&proto::DynamicValue>,
    ty: &Type,
) -> Outcome<Object> {
    object(what, given, ty)?.ok_or_else(|| unreadable(what, "it is missing"))
}

/// Decodes a value. Returns null if it is absent.
pub(super) fn value(what: &str, given: Option<&proto::DynamicValue>, ty: &Type) -> Outcome<Value> {
    let read = match given {
        None => Ok(Value::Null),
        Some(given) if given.json.is_empty() => from_msgpack(&given.msgpack, ty),
        Some(given) => from_json(&given.json, ty),
    };
    read.map_err(|why| unreadable(what, &why.to_string()))
}

/// Encodes an object, or null.
pub(super) fn dynamic(object: Option<&Object>, ty: &Type) -> Outcome<Option<proto::DynamicValue>> {
    let null = Value::Null;
    let value = object.map_or(null, |object| Value::Object(object.clone()));
    dynamic_value(&value, ty).map(Some)
}

/// Encodes a value.
pub(super) fn dynamic_value(value: &Value, ty: &Type) -> Outcome<proto::DynamicValue> {
    let msgpack = to_msgpack(value, ty).map_err(|why| {
        Diagnostic::error("Response does not match the schema", format!("{why}. {FAULT}"))
    })?;
    Ok(proto::DynamicValue { msgpack, json: Vec::new() })
}

/// Fits an object returned by a provider's code to the schema.
pub(super) fn conform(schema: &Schema, object: Object) -> Outcome<Object> {
    crate::schema::conform(&schema.body, object).map_err(|unfit| {
        let path = unfit.path.addressable();
        Diagnostic::error("Response does not match the schema", format!("{unfit}. {FAULT}"))
            .at(path)
            .into()
    })
}

/// Decodes an identity, if the resource has one and the message contains it.
pub(super) fn identity(
    given: Option<&proto::ResourceIdentityData>,
    ty: Option<&Type>,
) -> Outcome<Option<Object>> {
    let Some((given, ty)) = given.zip(ty) else { return Ok(None) };
    object("identity", given.identity_data.as_ref(), ty)
}

/// Encodes an identity, if the resource has one and the object has it.
pub(super) fn identity_data(
    identity: Option<&Object>,
    ty: Option<&Type>,
) -> Outcome<Option<proto::ResourceIdentityData>> {
    let Some((identity, ty)) = identity.zip(ty) else { return Ok(None) };
    let identity_data = dynamic(Some(identity), ty)?;
    Ok(Some(proto::ResourceIdentityData { identity_data }))
}

pub(super) fn diagnostic(found: Diagnostic) -> proto::Diagnostic {
    let severity = match found.severity {
        Severity::Error => proto::diagnostic::Severity::Error,
        Severity::Warning => proto::diagnostic::Severity::Warning,
    };
    let path = found.path.map(|path| path.addressable()).filter(|path| !path.steps().is_empty());
    proto::Diagnostic {
        severity: severity.into(),
        summary: found.summary,
        detail: found.detail,
        attribute: path.as_ref().map(attribute_path),
    }
}

/// Converts diagnostics to a status, for streams that have not begun to send messages.
pub(super) fn status(found: crate::Diagnostics) -> tonic::Status {
    let details: Vec<String> = found.into_iter().map(|it| it.detail).collect();
    tonic::Status::not_found(details.join("; "))
}

pub(super) fn attribute_path(path: &Path) -> proto::AttributePath {
    let selector = |step: &Step| match step {
        Step::Name(name) => Some(Selector::AttributeName(name.clone())),
        Step::Index(index) => Some(Selector::ElementKeyInt(*index as i64)),
        Step::Key(key) => Some(Selector::ElementKeyString(key.clone())),
        Step::Element => None,
    };
    let steps = path.steps().iter().map_while(selector);
    let steps = steps.map(|selector| proto::attribute_path::Step { selector: Some(selector) });
    proto::AttributePath { steps: steps.collect() }
}

/// Ends messages about errors that only the provider's author can fix.
const FAULT: &str = "This is a bug in the provider.";

fn unreadable(what: &str, why: &str) -> crate::Diagnostics {
    Diagnostic::error(format!("Cannot read the {what}"), format!("{why}.")).into()
}
