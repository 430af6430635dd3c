//! Installs the provider in a local mirror: a folder that `terraform init` and `tofu init` search before a
//! registry.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Platform, SOURCE, VERSION, reading};

/// Default registries of Terraform and OpenTofu.
const HOSTS: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// Returns the default mirror of Terraform and OpenTofu.
pub(super) fn home() -> Result<PathBuf> {
    let (variable, below) = if cfg!(windows) {
        ("APPDATA", "terraform.d/plugins")
    } else {
        ("HOME", ".terraform.d/plugins")
    };
    let home = std::env::var_os(variable).filter(|folder| !folder.is_empty());
    let home = home.with_context(|| format!("`{variable}` is not set; use --into FOLDER"))?;
    Ok(Path::new(&home).join(below))
}

/// Installs a program into a mirror, for Terraform and OpenTofu, in place of one of the same version.
/// Prints how to use it.
pub(super) fn install(program: &Path, mirror: &Path, platform: &Platform) -> Result<()> {
    for host in HOSTS {
        let file = install_for(host, program, mirror, platform)?;
        println!("installed {}", file.display());
    }
    let [namespace, name] = SOURCE;
    println!(
        "
  terraform {{
    required_providers {{
      {name} = {{
        source  = \"{namespace}/{name}\"
        version = \"~> 0.1\"
      }}
    }}
  }}

`terraform init` and `tofu init` find it there. In a folder with the lock of another build of this version,
remove `.terraform.lock.hcl` first."
    );
    Ok(())
}

/// Installs a program for one registry, and returns its path.
fn install_for(host: &str, program: &Path, mirror: &Path, platform: &Platform) -> Result<PathBuf> {
    let [namespace, name] = SOURCE;
    let folder = mirror.join(host).join(namespace).join(name);
    let folder = folder.join(VERSION).join(platform.to_string());
    fs::create_dir_all(&folder)
        .with_context(|| format!("failed to create {}", folder.display()))?;
    let file = folder.join(platform.released());
    // A running program cannot be overwritten, but another file can take its name.
    let beside = file.with_extension("new");
    fs::copy(program, &beside).with_context(|| reading(program))?;
    fs::rename(&beside, &file).with_context(|| format!("failed to write {}", file.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use crate::shell;

    use super::*;

    #[test]
    fn terraform_and_tofu_init_find_installed_provider() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, "#!/bin/sh\n").unwrap();
        let triple = shell::output("rustc", &["--print", "host-tuple"]).unwrap();
        let platform = Platform::from_target(triple.trim()).unwrap();
        let mirror = folder.path().join(".terraform.d/plugins");
        // Install twice: the second installation replaces the first.
        for _ in 0..2 {
            install(&program, &mirror, &platform).unwrap();
        }
        for host in ["terraform", "tofu"] {
            let configuration = folder.path().join(host);
            fs::create_dir(&configuration).unwrap();
            fs::write(
                configuration.join("main.tf"),
                "terraform {\n  required_providers {\n    service = {\n      source  = \
                 \"aloft/service\"\n      version = \"~> 0.1\"\n    }\n  }\n}\n",
            )
            .unwrap();
            let mut command = shell::command(host).unwrap();
            command.args(["init", "-input=false"]).current_dir(&configuration);
            // The mirror of this home is the only place in which it looks.
            command.env("HOME", folder.path()).env("CHECKPOINT_DISABLE", "1");
            for name in ["TF_CLI_CONFIG_FILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
                command.env_remove(name);
            }
            let output = command.output().expect("`cargo xtask setup` installs both");
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
            assert!(stdout.contains(&format!("Installed aloft/service v{VERSION}")), "{stdout}");
        }
    }
}
