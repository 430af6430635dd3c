//! Installs the provider in a local mirror: a folder that `terraform init` searches before a
//! registry.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Platform, SOURCE, VERSION, reading};

/// Returns Terraform's default mirror.
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

/// Installs a program in a mirror, in place of one with the same version, and prints how to use it.
pub(super) fn install(program: &Path, mirror: &Path, platform: &Platform) -> Result<()> {
    let folder = SOURCE.iter().fold(mirror.to_path_buf(), |folder, part| folder.join(part));
    let folder = folder.join(VERSION).join(platform.to_string());
    fs::create_dir_all(&folder)
        .with_context(|| format!("failed to create {}", folder.display()))?;
    let file = folder.join(platform.released());
    // A running program cannot be overwritten, but another file can take its name.
    let beside = file.with_extension("new");
    fs::copy(program, &beside).with_context(|| reading(program))?;
    fs::rename(&beside, &file).with_context(|| format!("failed to write {}", file.display()))?;
    let [_, namespace, name] = SOURCE;
    println!(
        "installed {}

  terraform {{
    required_providers {{
      {name} = {{
        source  = \"{namespace}/{name}\"
        version = \"~> 0.1\"
      }}
    }}
  }}

`terraform init` finds it there. In a folder with the lock of another build of this version, remove
`.terraform.lock.hcl` first.",
        file.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::shell;

    use super::*;

    #[test]
    fn terraform_init_finds_the_installed_provider() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, "#!/bin/sh\n").unwrap();
        let configuration = folder.path().join("configuration");
        fs::create_dir(&configuration).unwrap();
        fs::write(
            configuration.join("main.tf"),
            "terraform {\n  required_providers {\n    service = {\n      source  = \
             \"aloft/service\"\n      version = \"~> 0.1\"\n    }\n  }\n}\n",
        )
        .unwrap();
        let triple = shell::output("rustc", &["--print", "host-tuple"]).unwrap();
        let platform = Platform::of(triple.trim()).unwrap();
        let mirror = folder.path().join(".terraform.d/plugins");
        // Install twice: the second installation replaces the first.
        for _ in 0..2 {
            install(&program, &mirror, &platform).unwrap();
        }
        let mut command = shell::command("terraform").unwrap();
        command.args(["init", "-input=false"]).current_dir(&configuration);
        // Terraform must only search the mirror of this home.
        command.env("HOME", folder.path()).env("CHECKPOINT_DISABLE", "1");
        command.env_remove("TF_CLI_CONFIG_FILE").env_remove("XDG_DATA_HOME");
        let output = command.output().expect("`terraform` is on the `PATH`");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains(&format!("Installed aloft/service v{VERSION}")), "{said}");
    }
}
