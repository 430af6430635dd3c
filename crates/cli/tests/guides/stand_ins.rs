//! What a reader's machine has and a test may not touch or build anew: small scripts of the same names,
//! first on the path, that do the same in the test's folder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build;

/// The scripts by their names.
const STAND_INS: [(&str, &str); 5] = [
    ("aloft", include_str!("stand-ins/aloft")),
    ("cargo", include_str!("stand-ins/cargo")),
    ("npm", include_str!("stand-ins/npm")),
    ("sudo", include_str!("stand-ins/sudo")),
    ("systemctl", include_str!("stand-ins/systemctl")),
];
/// The Terraform provider's program.
const PROVIDER: &str = "terraform-provider-service";

/// Puts the scripts into a folder. One of them builds no client, because it is built.
pub(crate) fn write(folder: &Path) {
    build::assert_new();
    for (name, text) in STAND_INS {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// The program that the scripts stand before.
pub(crate) fn real(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|it| it.exists());
    found.unwrap_or_else(|| panic!("the pages run `{name}`, which is not on the PATH"))
}

/// The provider beside our own program. Cargo gives a test only the programs of its own package; tests of
/// the whole workspace build it before, and where it was never built it is built here.
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

/// Where `terraform init` looks for it below its folder of plugins, and as which file.
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
