//! The formats of packages, and the names in each.

use crate::release::Architecture;

/// Number of the package among those of one version.
pub(super) const RELEASE: &str = "1";
/// Scripts of each format: the name of nfpm, and the file.
const DEB_SCRIPTS: [(&str, &str); 3] =
    [("postinstall", "postinst"), ("preremove", "prerm"), ("postremove", "postrm")];
const RPM_SCRIPTS: [(&str, &str); 4] = [
    ("preinstall", "pre"),
    ("postinstall", "post"),
    ("preremove", "preun"),
    ("postremove", "postun"),
];

/// A format of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Deb,
    Rpm,
}

impl Format {
    pub(super) const ALL: [Self; 2] = [Self::Deb, Self::Rpm];

    /// Returns the name of nfpm.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Deb => "deb",
            Self::Rpm => "rpm",
        }
    }

    /// Returns the folder for completions below that of zsh.
    pub(super) fn zsh_folder(self) -> &'static str {
        match self {
            Self::Deb => "vendor-completions",
            Self::Rpm => "site-functions",
        }
    }

    /// Returns the name of a package's file, as each system calls it.
    pub(super) fn file_name(self, version: &str, architecture: Architecture) -> String {
        match self {
            Self::Deb => format!("aloft_{version}-{RELEASE}_{}.deb", architecture.debian()),
            Self::Rpm => format!("aloft-{version}-{RELEASE}.{}.rpm", architecture.name()),
        }
    }

    pub(super) fn scripts(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Deb => &DEB_SCRIPTS,
            Self::Rpm => &RPM_SCRIPTS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    #[test]
    fn files_have_the_names_of_each_system() {
        let [intel, arm] = Architecture::ALL;
        assert_eq!(Format::Deb.file_name("1.2.3", intel), "aloft_1.2.3-1_amd64.deb");
        assert_eq!(Format::Rpm.file_name("1.2.3", arm), "aloft-1.2.3-1.aarch64.rpm");
    }

    #[test]
    fn scripts_of_each_format_exist() {
        for format in Format::ALL {
            for (_, file) in format.scripts() {
                let path = format!("packaging/linux/{}/{file}", format.name());
                assert!(shell::workspace().join(&path).is_file(), "{path}");
            }
        }
    }
}
