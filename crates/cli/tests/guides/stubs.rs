//! Stubs for programs of a reader's machine that a test must not run or rebuild: small scripts with
//! their names, first on the `PATH`, that act on the test's folder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build;

/// The scripts by name.
const STAND_INS: [(&str, &str); 5] = [
    ("aloft", include_str!("stubs/aloft")),
    ("cargo", include_str!("stubs/cargo")),
    ("npm", include_str!("stubs/npm")),
    ("sudo", include_str!("stubs/sudo")),
    ("systemctl", include_str!("stubs/systemctl")),
];
/// File name of the Terraform provider's program.
const PROVIDER: &str = "terraform-provider-service";

/// Writes the scripts to a folder. One of them skips the build of the client, which is already
/// built.
pub(crate) fn write(folder: &Path) {
    build::assert_new();
    for (name, text) in STAND_INS {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Returns the path of the program that a script replaces.
pub(crate) fn real(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|it| it.exists());
    found.unwrap_or_else(|| panic!("the pages run `{name}`, which is not on the `PATH`"))
}

/// Returns the path of the provider next to this binary. Cargo gives a test only the programs of
/// its own package. Tests of the whole workspace build it first, and otherwise it is built here.
pub(crate) fn provider() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_aloft")).parent().unwrap();
    if folder.join(PROVIDER).exists() {
        return folder.join(PROVIDER);
    }
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--package", "aloft-provider", "--bin", PROVIDER, "--target-dir"]);
    build.arg(folder.parent().unwrap());
    if folder.ends_with("release") {
        build.arg("--release");
    }
    let built = build.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    folder.join(PROVIDER)
}

/// Returns the folder below the plugin folder in which `terraform init` looks for the provider, and
/// the file name.
pub(crate) fn provider_place() -> (String, String) {
    let version = env!("CARGO_PKG_VERSION");
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let folder = format!("registry.terraform.io/aloft/service/{version}/{os}_{arch}");
    (folder, format!("{PROVIDER}_v{version}"))
}
