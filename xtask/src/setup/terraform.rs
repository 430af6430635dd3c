//! Builds the programs that the provider is tested with, apart from the `terraform` of the `PATH`:
//! the oldest supported Terraform, the newest, and OpenTofu. They are built from their Go modules,
//! because no package registry has the programs. Leaves their use to `testkit`.

use std::fmt::Write as _;
use std::fs;

use anyhow::Result;

use super::module::{self, GoProgram, folder_of};
use super::{Installer, Tool};

const RECENT_GO: Installer = Installer {
    program: "go",
    package: "golang-go",
    by_hand: "install Go 1.21 or newer (https://go.dev/dl/) and put it on the PATH",
};

pub(super) const TOOLS: [Tool; 3] = [
    Tool {
        name: "terraform-1.8",
        version: "1.8.5",
        path: "bin/terraform-1.8",
        needs: RECENT_GO,
        install: install_terraform,
    },
    Tool {
        name: "terraform-1.15",
        version: "1.15.0",
        path: "bin/terraform-1.15",
        needs: RECENT_GO,
        install: install_new_terraform,
    },
    Tool {
        name: "tofu",
        version: "1.12.6",
        path: "bin/tofu",
        needs: RECENT_GO,
        install: install_tofu,
    },
];

/// Validates the provider's documentation by the registry's rules.
pub(super) const TFPLUGINDOCS: Tool = Tool {
    name: "tfplugindocs",
    version: "0.25.0",
    path: "bin/tfplugindocs",
    needs: RECENT_GO,
    install: install_tfplugindocs,
};

const TERRAFORM: &str = "github.com/hashicorp/terraform";
const TOFU: &str = "github.com/opentofu/opentofu";
/// Replacement in OpenTofu's own build. Go only applies the replacements of the main module.
const TOFU_HCL: &str = "github.com/opentofu/hcl/v2 v2.20.2-0.20251021132045-587d123c2828";
/// Modules in Terraform's repository that no module registry has. They store states in clouds,
/// which no test needs.
const BACKENDS: [&str; 9] =
    ["azure", "consul", "cos", "gcs", "kubernetes", "oci", "oss", "pg", "s3"];

fn install_terraform(tool: &Tool) -> Result<()> {
    build(tool, TERRAFORM, TERRAFORM, "")
}

fn install_new_terraform(tool: &Tool) -> Result<()> {
    let folder = folder_of(tool);
    let backends = BACKENDS.map(|name| format!("internal/backend/remote-state/{name}"));
    let mut replaced = String::new();
    for path in backends.iter().map(String::as_str).chain(["internal/legacy"]) {
        let name = path.rsplit('/').next().expect("the path has a last segment");
        let (module, stub) = (format!("{TERRAFORM}/{path}"), folder.join(name));
        fs::create_dir_all(&stub)?;
        fs::write(stub.join("go.mod"), format!("module {module}\n"))?;
        fs::write(stub.join("stub.go"), stub_of(name))?;
        writeln!(replaced, "replace {module} => ./{name}")?;
    }
    build(tool, TERRAFORM, TERRAFORM, &replaced)
}

/// Returns the source of a stub for a backend, which Terraform may name but nobody can use.
fn stub_of(name: &str) -> String {
    format!(
        "package {name}\n\nimport \"{TERRAFORM}/internal/backend\"\n\n\
         func New() backend.Backend {{ panic(\"{name} is left out of this build\") }}\n"
    )
}

fn install_tofu(tool: &Tool) -> Result<()> {
    let replaced = format!("replace github.com/hashicorp/hcl/v2 => {TOFU_HCL}\n");
    build(tool, TOFU, &format!("{TOFU}/cmd/tofu"), &replaced)
}

fn install_tfplugindocs(tool: &Tool) -> Result<()> {
    let module = "github.com/hashicorp/terraform-plugin-docs";
    build(tool, module, &format!("{module}/cmd/tfplugindocs"), "")
}

fn build(tool: &Tool, module: &str, package: &str, replaced: &str) -> Result<()> {
    module::build(tool, &GoProgram { module, package, replaced, flags: &[] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_named_by_its_version() {
        for tool in &TOOLS {
            let version = tool.name.strip_prefix("terraform-");
            assert!(version.is_none_or(|it| tool.version.starts_with(&format!("{it}."))));
            assert_eq!(tool.path, format!("bin/{}", tool.name));
        }
    }

    #[test]
    fn stub_has_the_function_that_terraform_calls() {
        let stub = stub_of("s3");
        assert!(stub.starts_with("package s3\n") && stub.contains("func New() backend.Backend"));
    }
}
