//! Runs the plugins of protobuf-go and connect-go by the protocol of protoc: a request on the input,
//! the generated files on the output.

use std::io::Write as _;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use buffa::Message as _;
use buffa_descriptor::generated::compiler::{CodeGeneratorRequest, CodeGeneratorResponse};
use buffa_descriptor::generated::descriptor::FileDescriptorSet;

use super::{PACKAGES, PROTO, package_name};
use crate::codegen::{Files, header};
use crate::{setup, shell};

/// The plugins, each with its own parameter. Simple clients have messages as arguments and results,
/// without a wrapper.
const PLUGINS: [(&str, &str); 2] = [("protoc-gen-go", ""), ("protoc-gen-connect-go", ",simple")];

/// Generates the messages and clients of these files.
pub(super) fn generate(set: &FileDescriptorSet, sources: &[String]) -> Result<Files> {
    setup::for_go_code()?;
    let mut files = Files::new();
    for (plugin, own) in PLUGINS {
        let request = CodeGeneratorRequest {
            file_to_generate: sources.to_vec(),
            parameter: Some(parameter(sources) + own),
            proto_file: set.file.clone(),
            ..CodeGeneratorRequest::default()
        };
        let response = run(plugin, &request.encode_to_vec())
            .with_context(|| format!("failed to run `{plugin}`"))?;
        if let Some(why) = response.error {
            bail!("`{plugin}` failed: {why}");
        }
        for file in response.file {
            let code = format!("{}\n{}", header(PROTO), file.content.unwrap_or_default());
            files.insert(file.name.unwrap_or_default(), code.into_bytes());
        }
    }
    Ok(files)
}

/// Returns the parameter that places each file in its own package, instead of the option
/// `go_package` of the file.
fn parameter(sources: &[String]) -> String {
    let place = |source: &String| {
        let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
        format!(",M{source}={PACKAGES}/{folder};{}", package_name(&folder.replace('/', ".")))
    };
    format!("module={PACKAGES}") + &sources.iter().map(place).collect::<String>()
}

fn run(plugin: &str, request: &[u8]) -> Result<CodeGeneratorResponse> {
    let mut command = shell::command(plugin)?;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // Dropping the input ends it. The plugin reads all of it before it writes.
    child.stdin.take().expect("the input is piped").write_all(request)?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("it ended with {}", output.status);
    }
    CodeGeneratorResponse::decode_from_slice(&output.stdout).context("its output is not a response")
}

#[cfg(test)]
mod tests {
    use super::parameter;

    #[test]
    fn each_file_gets_its_own_package() {
        let sources = ["api_key/v1/api_key.proto".to_owned()];
        let expected = "module=aloft.dev/client/gen,\
                        Mapi_key/v1/api_key.proto=aloft.dev/client/gen/api_key/v1;apikeyv1";
        assert_eq!(parameter(&sources), expected);
    }
}
