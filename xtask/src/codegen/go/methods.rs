//! Generates the properties of methods that the client needs and their descriptors lack, because
//! they follow from comments and from `rules`.

use std::collections::BTreeSet;

use protox::prost_reflect::MethodDescriptor;
use rules::limits;

use super::{PACKAGES, PROTO, header, package_name};
use crate::codegen::typescript::methods::{CREATES, ENDS, REPETITION, WAITS, traits};
use crate::codegen::typescript::model::{ContractModel, methods};

/// Code between the imports and the cases.
const TYPES: &str = "
// Method is the run-time description of a method.
type Method struct {
	// TakesKey: it creates something, once per idempotency key.
	TakesKey bool
	// Timeout is its own default time limit; 0 for the usual one.
	Timeout time.Duration
	// Deleted returns its empty response if it deletes something, so that not_found shows that it is done.
	Deleted func() connect.AnyResponse
}

// Of returns the description of the method with this path, which begins with a slash.
func Of(path string) Method {
	switch path {
";
/// Code after the cases.
const END: &str = "	default:
		return Method{}
	}
}

func deleted[Response any]() connect.AnyResponse {
	return connect.NewResponse(new(Response))
}
";

/// Generates the package.
pub(super) fn package(contract: &ContractModel) -> String {
    let (mut cases, mut imports) = (String::new(), BTreeSet::new());
    for service in contract.services() {
        for method in methods(&service) {
            let Some(value) = described(contract, &method) else { continue };
            if value.contains("Deleted") {
                imports.insert(method.output().package_name().to_owned());
            }
            cases.extend([format!(
                "\tcase \"/{}/{}\":\n\t\treturn Method{{{value}}}\n",
                service.full_name(),
                method.name()
            )]);
        }
    }
    let import = |package: &String| {
        format!("\t{} \"{PACKAGES}/{}\"\n", package_name(package), package.replace('.', "/"))
    };
    let imports: String = imports.iter().map(import).collect();
    format!(
        "{}// Package methods has the properties of methods that their descriptors lack.\npackage methods\n\nimport (\n\t\"time\"\n\n\t\"connectrpc.com/connect\"\n\n{imports})\n{TYPES}{cases}{END}",
        header(PROTO)
    )
}

/// Returns the fields of a method's description. `None` if it has only the defaults.
fn described(contract: &ContractModel, method: &MethodDescriptor) -> Option<String> {
    let traits = traits(contract, method);
    let mut fields = Vec::new();
    if traits & REPETITION == CREATES {
        fields.push("TakesKey: true".to_owned());
    }
    if traits & WAITS != 0 {
        let waiting = limits::TRIGGER_ANSWERED_WITHIN.as_millis();
        fields.push(format!("Timeout: {waiting} * time.Millisecond"));
    }
    if traits & ENDS != 0 {
        let answer = method.output();
        let package = package_name(answer.package_name());
        fields.push(format!("Deleted: deleted[{package}.{}]", answer.name()));
    }
    (!fields.is_empty()).then(|| fields.join(", "))
}
