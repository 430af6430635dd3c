//! Builds the programs that the provider is tested with, apart from the `terraform` of the `PATH`:
//! the oldest supported Terraform, the newest, and OpenTofu. They are built from their Go modules,
//! because no package registry has the programs. Leaves their use to `testkit`.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::{Installer, Tool, minor};
use crate::shell;

/// First version of Go that downloads the Go version a module needs.
const GO_SINCE: u32 = 21;
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

fn folder_of(tool: &Tool) -> PathBuf {
    shell::tools().join("go").join(tool.name)
}

/// Builds a package of a third-party module through a module that only requires it, because
/// `go install` rejects modules with replacements. Go verifies all modules with the public checksum
/// database.
fn build(tool: &Tool, module: &str, package: &str, replaced: &str) -> Result<()> {
    let go = shell::output("go", &["env", "GOVERSION"])?;
    if minor(&go).is_none_or(|minor| minor < GO_SINCE) {
        bail!("{} is too old: {}", go.trim(), tool.needs.by_hand);
    }
    let folder = folder_of(tool);
    fs::create_dir_all(&folder).context("failed to create the folder of a module")?;
    let required = format!("require {module} v{}", tool.version);
    // With a Go version in the manifest, only modules that the build needs are loaded.
    let manifest = format!("module aloft/tool\n\ngo 1.{GO_SINCE}\n\n{required}\n\n{replaced}");
    fs::write(folder.join("go.mod"), manifest)?;
    let mut command = shell::command("go")?;
    command.current_dir(&folder).env("GOTOOLCHAIN", "auto");
    command
        .args(["build", "-mod=mod", "-buildvcs=false", "-o"])
        .arg(shell::tools().join(tool.path));
    // Builds a release and not `1.8.5-dev`.
    command.arg(format!("-ldflags=-s -w -X {module}/version.dev=no")).arg(package);
    shell::finish(&mut command)?;
    // Downloads for the build are in Go's own cache.
    fs::remove_dir_all(&folder).with_context(|| format!("failed to remove {}", folder.display()))
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
