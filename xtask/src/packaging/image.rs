//! Builds an image of the program by the OCI image specification, without a daemon: one layer with the
//! program, the libraries that it loads, the certificates of public authorities, and a user without rights.
//! The same input gives the same bytes.
//! Format: <https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md>

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::libraries::libraries;
use super::tar::{Archive, Rights};
use crate::release::Architecture;
use crate::shell;

/// User of the program in the image.
const USER: u32 = 10_001;
/// Folder of the data, and the only one that the program writes to.
const DATA: Rights = Rights { owner: USER, mode: 0o700 };
/// Path of the program in the image.
const PROGRAM: &str = "usr/local/bin/aloft";
/// Certificates of public authorities, in Debian's package `ca-certificates`.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
/// Files of the system that the program and its libraries read.
const SYSTEM: [(&str, &str); 3] = [
    ("etc/group", "root:x:0:\naloft:x:10001:\n"),
    ("etc/nsswitch.conf", "hosts: files dns\n"),
    ("etc/passwd", "root:x:0:0::/:/sbin/nologin\naloft:x:10001:10001::/data:/sbin/nologin\n"),
];
/// Tag of the image in its file.
const TAG: &str = env!("CARGO_PKG_VERSION");

/// Files of a layout by their paths.
type Layout = BTreeMap<String, Vec<u8>>;

/// Runs `cargo xtask image`.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let (mut binary, mut into) = (None, shell::workspace().join("target/aloft-image.tar"));
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("`{word}` needs a value"))?;
        match *word {
            "--binary" => binary = Some(PathBuf::from(value)),
            "--into" => into = PathBuf::from(value),
            unknown => bail!("unknown option `{unknown}`; use --binary FILE and --into FILE"),
        }
    }
    let binary = binary.context(
        "name the program with --binary, such as target/dist/aloft of \
         `cargo build --profile dist --locked`",
    )?;
    // Programs run in the folder of the workspace.
    let binary = std::path::absolute(binary).context("the program has no absolute path")?;
    let size = write_image(&binary, &into)?;
    println!("{}: {size} bytes, tag {TAG}", into.display());
    Ok(())
}

/// Writes the image of a program to a file, and returns its size in bytes.
pub(crate) fn write_image(binary: &Path, into: &Path) -> Result<usize> {
    let image = archive(&layout(binary)?)?;
    fs::write(into, &image).with_context(|| format!("failed to write {}", into.display()))?;
    Ok(image.len())
}

/// Checks with another implementation that an image of this program is valid and contains it.
pub(super) fn check() -> Result<()> {
    let program = std::env::current_exe().context("this program has no path")?;
    let files = layout(&program)?;
    if archive(&files)? != archive(&layout(&program)?)? {
        bail!("two images of the same program differ");
    }
    let folder = tempfile::tempdir()?;
    for (path, bytes) in &files {
        let path = folder.path().join("image").join(path);
        fs::create_dir_all(path.parent().expect("the path has a folder"))?;
        fs::write(path, bytes)?;
    }
    let path = |name: &str| folder.path().join(name).display().to_string();
    let image = format!("{}:{TAG}", path("image"));
    shell::run("umoci", &["unpack", "--rootless", "--image", &image, &path("bundle")])?;
    let unpacked = folder.path().join("bundle/rootfs").join(PROGRAM);
    if fs::read(&unpacked).context("the image has no program")? != fs::read(&program)? {
        bail!("the program in the image differs");
    }
    Ok(())
}

/// Returns the files of an image layout with this program.
fn layout(binary: &Path) -> Result<Layout> {
    let mut files = Layout::new();
    let architecture = Architecture::of_program(binary)?;
    let layer = layer(binary, architecture)?;
    let config = json!({
        "architecture": architecture.debian(),
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": [
                "PATH=/usr/local/bin",
                "ALOFT_DATA=/data",
                "ALOFT_LISTEN=0.0.0.0:8080",
            ],
            "Entrypoint": ["/usr/local/bin/aloft"],
            "Cmd": ["serve"],
            "WorkingDir": "/data",
            "Volumes": { "/data": {} },
            "ExposedPorts": { "8080/tcp": {} },
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "aloft",
                "org.opencontainers.image.version": TAG,
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [digest(&layer)] },
        "history": [{ "created_by": "cargo xtask image" }],
    });
    let config = blob(&mut files, "application/vnd.oci.image.config.v1+json", &text(&config));
    // Not compressed: registries and engines do that, and the bytes depend on no library.
    let layer = blob(&mut files, "application/vnd.oci.image.layer.v1.tar", &layer);
    let manifest_type = "application/vnd.oci.image.manifest.v1+json";
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": manifest_type,
        "config": config,
        "layers": [layer],
    });
    let mut manifest = blob(&mut files, manifest_type, &text(&manifest));
    manifest["platform"] = json!({ "architecture": architecture.debian(), "os": "linux" });
    manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": TAG });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [manifest],
    });
    files.insert("index.json".into(), text(&index));
    files.insert("oci-layout".into(), text(&json!({ "imageLayoutVersion": "1.0.0" })));
    Ok(files)
}

/// Adds a file to the layout under its digest, and returns its descriptor.
fn blob(files: &mut Layout, media_type: &str, bytes: &[u8]) -> Value {
    let digest = digest(bytes);
    files.insert(format!("blobs/{}", digest.replace(':', "/")), bytes.to_vec());
    json!({ "mediaType": media_type, "digest": digest, "size": bytes.len() })
}

/// Returns the archive of the only layer.
fn layer(binary: &Path, architecture: Architecture) -> Result<Vec<u8>> {
    let program =
        fs::read(binary).with_context(|| format!("failed to read {}", binary.display()))?;
    let mut files: BTreeMap<String, (Rights, Vec<u8>)> = BTreeMap::new();
    for (path, text) in SYSTEM {
        files.insert(path.into(), (Rights::READABLE, text.into()));
    }
    let authorities = fs::read(AUTHORITIES).with_context(|| {
        format!("failed to read {AUTHORITIES}; install the package `ca-certificates`")
    })?;
    files.insert(AUTHORITIES[1..].into(), (Rights::READABLE, authorities));
    for library in libraries(binary, architecture)? {
        let bytes = fs::read(&library.file)
            .with_context(|| format!("failed to read {}", library.file.display()))?;
        files.insert(library.path, (Rights::USABLE, bytes));
    }
    files.insert(PROGRAM.into(), (Rights::USABLE, program));
    let mut archive = Archive::default();
    for folder in folders(files.keys()) {
        archive.folder(&folder, Rights::USABLE)?;
    }
    archive.folder("data", DATA)?;
    archive.folder("tmp", Rights { owner: 0, mode: 0o1777 })?;
    for (path, (rights, bytes)) in &files {
        archive.file(path, *rights, bytes)?;
    }
    Ok(archive.finish())
}

/// Returns the folders of these files, each before those in it.
fn folders<'a>(paths: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    let mut folders = BTreeSet::new();
    for path in paths {
        for (at, _) in path.match_indices('/') {
            folders.insert(path[..at].to_owned());
        }
    }
    folders
}

/// Returns the layout as one archive.
fn archive(files: &Layout) -> Result<Vec<u8>> {
    let mut archive = Archive::default();
    for folder in folders(files.keys()) {
        archive.folder(&folder, Rights::USABLE)?;
    }
    for (path, bytes) in files {
        archive.file(path, Rights::READABLE, bytes)?;
    }
    Ok(archive.finish())
}

fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("writing to memory does not fail");
    }
    text
}

fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_no_program() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "#!/bin/sh\n").unwrap();
        assert!(layout(file.path()).unwrap_err().to_string().contains("not a program"));
    }
}
