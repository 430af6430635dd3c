//! Limits of configuration files (ours).

use rules::field::Shape;
use rules::tables::CONFIGURATION;

/// Maximum size of a file, in bytes.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum number of files of one configuration.
pub const FILES_MAX: usize = 1_000;
/// Maximum size of a value that a file or a variable has, in bytes: more than the longest text of a
/// field.
pub const VALUE_BYTES_MAX: usize = 1024 * 1024;
/// Maximum number of resources of one configuration.
pub const RESOURCES_MAX: usize = 10_000;
/// Maximum length of a key, in characters.
pub const KEY_CHARS_MAX: usize = 63;
/// Name of a configuration.
pub(crate) const NAME: Shape = CONFIGURATION.shape_of("name");
