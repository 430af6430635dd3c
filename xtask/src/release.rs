//! Parts that the releases of the provider (`provider`) and of the program (`dist`) share: a build for systems
//! with an old glibc, the check of the glibc and the libraries that a program needs, checksums, and the crates that the
//! program links.

mod architecture;
mod build;
mod checksums;
mod glibc;
mod licences;
mod linked;

pub(crate) use self::architecture::Architecture;
pub(crate) use self::build::BuildPlan;
pub(crate) use self::checksums::{sha256, sums_of};
pub(crate) use self::glibc::{GlibcVersion, check_glibc, needed_libraries};
pub(crate) use self::licences::third_party_licences;
pub(crate) use self::linked::{LinkedCrates, linked_crates, metadata};
