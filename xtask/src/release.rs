//! Parts that the releases of the provider (`provider`) and of the program (`dist`) share: a build for systems
//! with an old glibc, the check of the glibc and the libraries that a program needs, and checksums.

mod architecture;
mod build;
mod checksums;
mod glibc;

pub(crate) use self::architecture::Architecture;
pub(crate) use self::build::BuildPlan;
pub(crate) use self::checksums::sums_of;
pub(crate) use self::glibc::{GlibcVersion, check_glibc, needed_libraries};
