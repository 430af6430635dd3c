//! Packages a release of the provider with the file names that registries require: a zip per
//! platform, checksums, and a manifest with the protocol version.
//! Rules: <https://developer.hashicorp.com/terraform/registry/providers/publishing>

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::{PROGRAM, Platform, VERSION, reading};
use crate::release::sums_of;
use crate::shell;

/// Licences to include, with their paths.
const LICENCES: [(&str, &str); 2] =
    [("LICENSE", "LICENSE"), ("LICENSE-MPL-2.0", "crates/terraform-plugin/proto/LICENSE-MPL-2.0")];
/// Content of the manifest.
const MANIFEST: &str =
    "{\n  \"version\": 1,\n  \"metadata\": {\n    \"protocol_versions\": [\"6.0\"]\n  }\n}\n";

/// Writes the files of one platform to `folder`, and the checksums of all files there.
pub(super) fn package(program: &Path, folder: &Path, platform: &Platform) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))?;
    let release = format!("{PROGRAM}_{VERSION}");
    let archive = folder.join(format!("{release}_{platform}.zip"));
    fs::write(&archive, zipped(program, platform)?)?;
    fs::write(folder.join(format!("{release}_manifest.json")), MANIFEST)?;
    let sums = folder.join(format!("{release}_SHA256SUMS"));
    let is_part = |name: &str| name.starts_with(&release) && !name.contains("_SHA256SUMS");
    fs::write(&sums, sums_of(folder, is_part)?)?;
    println!("wrote {}", archive.display());
    println!("wrote {}", sums.display());
    println!("Registries require signed checksums: gpg --detach-sign {}", sums.display());
    Ok(())
}

/// Creates the archive. Equal files give equal bytes.
fn zipped(program: &Path, platform: &Platform) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (name, path) in LICENCES {
        archive.start_file(name, options.unix_permissions(0o644))?;
        archive.write_all(&fs::read(shell::workspace().join(path))?)?;
    }
    archive.start_file(platform.released(), options.unix_permissions(0o755))?;
    archive.write_all(&fs::read(program).with_context(|| reading(program))?)?;
    Ok(archive.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn release_has_the_files_that_registries_require() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, "\x7fELF").unwrap();
        let out = folder.path().join("out");
        let both = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"];
        for triple in both {
            package(&program, &out, &Platform::from_target(triple).unwrap()).unwrap();
        }
        let release = format!("{PROGRAM}_{VERSION}");
        let sums = fs::read_to_string(out.join(format!("{release}_SHA256SUMS"))).unwrap();
        let names: Vec<&str> = sums.lines().map(|line| line.split_once("  ").unwrap().1).collect();
        let expected = ["darwin_arm64.zip", "linux_amd64.zip", "manifest.json"];
        assert_eq!(names, expected.map(|name| format!("{release}_{name}")));
        // Verify the checksums with the system's own tool.
        let mut check = shell::command("sha256sum").unwrap();
        check.args(["--check", "--strict", &format!("{release}_SHA256SUMS")]).current_dir(&out);
        shell::finish(&mut check).unwrap();

        let file = fs::File::open(out.join(names[1])).unwrap();
        let mut archive = zip::ZipArchive::new(file).unwrap();
        let released = archive.by_name(&format!("{PROGRAM}_v{VERSION}")).unwrap();
        assert_eq!(released.unix_mode().unwrap() & 0o777, 0o755);
        assert!(serde_json::from_str::<serde_json::Value>(MANIFEST).is_ok());
    }

    #[test]
    fn equal_programs_give_equal_archives() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, "x").unwrap();
        let platform = Platform::from_target("x86_64-unknown-linux-gnu").unwrap();
        assert_eq!(zipped(&program, &platform).unwrap(), zipped(&program, &platform).unwrap());
    }
}
