//! Whether a built program runs on old systems: a program of Linux needs no newer glibc than its release
//! promises, or none at all. Building it belongs to `build`.

use std::path::Path;

use anyhow::{Result, bail};

use crate::shell;

/// Set of symbols that glibc's own libraries share. A program that links them has also those of a version.
const PRIVATE: &str = "PRIVATE";

/// A version of glibc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GlibcVersion(pub(crate) u32, pub(crate) u32);

impl std::fmt::Display for GlibcVersion {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}", self.0, self.1)
    }
}

impl GlibcVersion {
    /// Parses `2.17` and `2.2.5`.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(str::parse);
        Some(Self(parts.next()?.ok()?, parts.next()?.ok()?))
    }
}

/// Checks a program of Linux, and returns the newest glibc that it needs; `None` for a static one.
///
/// # Errors
/// It needs a newer glibc than `oldest`, or a library other than glibc's own.
pub(crate) fn check_glibc(program: &Path, oldest: GlibcVersion) -> Result<Option<GlibcVersion>> {
    let dump = shell::output("objdump", &["-p", &program.to_string_lossy()])?;
    let needs = Needs::from_headers(&dump);
    if let Some(library) = needs.libraries.iter().find(|it| !is_of_glibc(it)) {
        bail!("{} needs the library `{library}`, which systems may not have", program.display());
    }
    if let Some(unknown) = needs.unknown.first() {
        bail!(
            "{} needs the symbols `{unknown}`, which old systems with glibc {oldest} lack: build it with Zig \
             (`cargo xtask setup` installs it)",
            program.display()
        );
    }
    if let Some(newest) = needs.glibc.filter(|newest| *newest > oldest) {
        bail!(
            "{} needs glibc {newest}, and old systems have {oldest}: build it with Zig \
             (`cargo xtask setup` installs it)",
            program.display()
        );
    }
    Ok(needs.glibc)
}

/// Returns the names of the libraries that a program loads at its start, such as `libc.so.6`.
pub(crate) fn needed_libraries(program: &Path) -> Result<Vec<String>> {
    let dump = shell::output("objdump", &["-p", &program.to_string_lossy()])?;
    Ok(Needs::from_headers(&dump).libraries.into_iter().map(str::to_owned).collect())
}

/// Libraries and symbols that a program needs to start.
#[derive(Debug, PartialEq)]
struct Needs<'a> {
    libraries: Vec<&'a str>,
    glibc: Option<GlibcVersion>,
    /// Sets of symbols of glibc without a version. They are newer than what any release promises:
    /// `GLIBC_ABI_DT_RELR` came with 2.36.
    unknown: Vec<&'a str>,
}

impl<'a> Needs<'a> {
    /// Reads the private headers as `objdump -p` prints them.
    fn from_headers(headers: &'a str) -> Self {
        let words = || headers.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let libraries = words().filter_map(|words| match words.as_slice() {
            ["NEEDED", library] => Some(*library),
            _ => None,
        });
        // GlibcVersion references: hash, flags, number, name.
        let symbols = || headers.lines().filter_map(|line| line.split_whitespace().last());
        let versions =
            symbols().filter_map(|name| GlibcVersion::parse(name.strip_prefix("GLIBC_")?));
        let unknown = symbols().filter(|name| {
            let version = name.strip_prefix("GLIBC_");
            version.is_some_and(|it| it != PRIVATE && GlibcVersion::parse(it).is_none())
        });
        Self { libraries: libraries.collect(), glibc: versions.max(), unknown: unknown.collect() }
    }
}

/// Returns whether every system with glibc has a library.
fn is_of_glibc(library: &str) -> bool {
    let names = ["libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux"];
    names.iter().any(|name| library.starts_with(name)) || library.starts_with("libresolv.so")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const GLIBC: GlibcVersion = GlibcVersion(2, 17);

    #[test]
    fn needs_are_read_from_the_headers() {
        let headers = "
Dynamic Section:
  NEEDED               libgcc_s.so.1
  NEEDED               libc.so.6
  INIT                 0x0000000000004000

Version References:
  required from libc.so.6:
    0x09691a75 0x00 02 GLIBC_2.2.5
    0x06969197 0x00 04 GLIBC_2.17
    0x069691b4 0x00 03 GLIBC_2.34
    0x0963cf85 0x00 05 GLIBC_PRIVATE
";
        let needs = Needs::from_headers(headers);
        assert_eq!(needs.libraries, ["libgcc_s.so.1", "libc.so.6"]);
        assert_eq!(needs.glibc, Some(GlibcVersion(2, 34)));
        assert_eq!(needs.unknown, [""; 0]);
        let alone = Needs { libraries: vec![], glibc: None, unknown: vec![] };
        assert_eq!(Needs::from_headers("file format elf64-x86-64"), alone);
        let packed =
            "    0x0963cf85 0x00 05 GLIBC_ABI_DT_RELR\n    0x09691a75 0x00 02 GLIBC_2.2.5\n";
        let packed = Needs::from_headers(packed);
        assert_eq!(
            (packed.unknown, packed.glibc),
            (vec!["GLIBC_ABI_DT_RELR"], Some(GlibcVersion(2, 2)))
        );
        assert!(
            GlibcVersion(2, 4) < GLIBC && GlibcVersion(2, 18) > GLIBC && GlibcVersion(3, 0) > GLIBC
        );
    }

    #[test]
    fn newer_glibc_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let built = |name: &str, text: &str, flags: &[&str]| {
            let (source, program) = (folder.path().join("source.c"), folder.path().join(name));
            fs::write(&source, text).unwrap();
            let mut command = shell::command("cc").unwrap();
            shell::finish(command.args(flags).arg("-o").arg(&program).arg(&source)).unwrap();
            program
        };
        // The function came with glibc 2.34.
        let newer = "int closefrom(int); int main(void) { closefrom(3); return 0; }";
        let refused = check_glibc(&built("newer", newer, &[]), GLIBC).unwrap_err().to_string();
        assert!(refused.contains("needs glibc 2.34, and old systems have 2.17"), "{refused}");
        let relative = "int main(void) { return 0; }";
        let flags = ["-pie", "-fPIE", "-Wl,-z,pack-relative-relocs"];
        let refused =
            check_glibc(&built("packed", relative, &flags), GLIBC).unwrap_err().to_string();
        assert!(
            refused.contains("`GLIBC_ABI_DT_RELR`, which old systems with glibc 2.17 lack"),
            "{refused}"
        );
        // Alpine and minimal images have no libgcc_s.
        let flags = ["-Wl,--no-as-needed", "-lgcc_s"];
        let refused =
            check_glibc(&built("unwinding", relative, &flags), GLIBC).unwrap_err().to_string();
        assert!(refused.contains("needs the library `libgcc_s.so.1`"), "{refused}");
        let alone = built("alone", "void _start(void) { for (;;) {} }", &["-nostdlib", "-static"]);
        assert_eq!(check_glibc(&alone, GLIBC).unwrap(), None);
    }
}
