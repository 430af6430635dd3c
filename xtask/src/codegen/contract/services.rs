//! Generates the list of the services and their methods. `crates/proto/src/service.rs` has the macro
//! that makes a trait of each.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use buffa_descriptor::generated::descriptor::method_options::IdempotencyLevel;
use buffa_descriptor::generated::descriptor::{
    FileDescriptorSet, MethodDescriptorProto, ServiceDescriptorProto,
};

/// Returns the services of a package.
pub(super) fn generate(set: &FileDescriptorSet, package: &str) -> Result<String> {
    let files = set.file.iter().filter(|file| file.package.as_deref() == Some(package));
    let services = files.flat_map(|file| &file.service).map(|it| service(package, it));
    Ok(services.collect::<Result<Vec<String>>>()?.concat())
}

fn service(package: &str, service: &ServiceDescriptorProto) -> Result<String> {
    let name = service.name.as_deref().context("a service has a name")?;
    let mut code = format!("crate::service::service! {{\n    {name} = \"{package}.{name}\" {{\n");
    for it in &service.method {
        let method = method(package, it)
            .with_context(|| format!("unsupported method of {package}.{name}: {:?}", it.name))?;
        writeln!(code, "        {method}")?;
    }
    code.push_str("    }\n}\n");
    Ok(code)
}

/// Returns the line of a method in the macro.
fn method(package: &str, method: &MethodDescriptorProto) -> Result<String> {
    let name = method.name.as_deref().context("a method has a name")?;
    let message = |name: &Option<String>| {
        let name = name.as_deref().and_then(|name| name.strip_prefix('.'));
        let local = name.and_then(|name| name.strip_prefix(package)?.strip_prefix('.'));
        local.map(ToOwned::to_owned).context("its messages are in another package")
    };
    let (request, response) = (message(&method.input_type)?, message(&method.output_type)?);
    let level = method.options.as_option().and_then(|options| options.idempotency_level);
    let level = match level {
        Some(IdempotencyLevel::NO_SIDE_EFFECTS) => "NoSideEffects",
        Some(IdempotencyLevel::IDEMPOTENT) => "Idempotent",
        _ => "Unknown",
    };
    let (kind, answer) = match (method.client_streaming, method.server_streaming) {
        (Some(true), _) => bail!("its client streams"),
        (_, Some(true)) => ("server_stream", format!("::connectrpc::ServiceStream<{response}>")),
        _ => ("unary", response),
    };
    let function = snake_case(name);
    Ok(format!("{kind} {level} {function} = \"{name}\" ({request}) -> {answer};"))
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_line_has_kind_and_types() {
        let given = MethodDescriptorProto {
            name: Some("ListRegions".to_owned()),
            input_type: Some(".region.v1.ListRegionsRequest".to_owned()),
            output_type: Some(".region.v1.ListRegionsResponse".to_owned()),
            ..MethodDescriptorProto::default()
        };
        assert_eq!(
            method("region.v1", &given).expect("it is supported"),
            "unary Unknown list_regions = \"ListRegions\" (ListRegionsRequest) -> ListRegionsResponse;"
        );
        let streaming = MethodDescriptorProto { client_streaming: Some(true), ..given };
        assert!(method("region.v1", &streaming).is_err());
    }
}
