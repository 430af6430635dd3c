//! Releases memory (docs/decisions/0009-allocator.md): the program's own code and constants that only
//! the start or a rare operation needed, and allocations that other threads freed. The kernel reads
//! pages of the program from the file again when they are used.

use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of times that all threads were asked to return what was freed.
static RETURNS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Value of [`RETURNS`] when this thread returned what was freed.
    static RETURNED: Cell<u32> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "the allocator's crate does not offer this function")]
// SAFETY: the declaration is that of mimalloc, which is linked as the global allocator. The function
// may be called by any thread at any time.
unsafe extern "C" {
    safe fn mi_collect(force: bool);
}

/// Asks each thread that runs [`return_freed`] to return what was freed.
pub(crate) fn request_return() {
    RETURNS.fetch_add(1, Ordering::Relaxed);
}

/// Returns the freed allocations of this thread to the system if this was requested. mimalloc leaves
/// allocations that another thread freed with their thread until it allocates again, so a thread
/// without work would keep those of a burst.
pub(crate) fn return_freed() {
    let requested = RETURNS.load(Ordering::Relaxed);
    if RETURNED.replace(requested) != requested {
        mi_collect(true);
    }
}

/// Releases the resident pages of the program's code and constants. Returns the size of these
/// mappings in bytes. Does nothing if the system cannot report them.
pub(crate) fn release_code() -> usize {
    let program = fs::read_link("/proc/self/exe").unwrap_or_default();
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut bytes = 0;
    for (begin, length) in maps.lines().filter_map(|line| code(line, &program.to_string_lossy())) {
        let begin = std::ptr::with_exposed_provenance_mut(begin);
        #[expect(unsafe_code, reason = "no safe function accepts a range of addresses")]
        // SAFETY: the pages contain the program's code and constants. They are mapped from its
        // file, readable, and never writable, not even while the program was loaded. The kernel
        // reads them from the file again when they are used, so no visible memory changes.
        let done = unsafe { rustix::mm::madvise(begin, length, rustix::mm::Advice::LinuxDontNeed) };
        // If the kernel refuses, the code stays in memory, which has no other effect.
        bytes += done.map_or(0, |()| length);
    }
    bytes
}

/// Parses a line of `/proc/self/maps`. Returns start and length of the mapping if it contains code
/// of `program`, or its constants, which are at the beginning of its file. Ignores mappings that
/// are writable or shared. Also ignores the part further back in the file that the loader wrote
/// before it became read-only.
fn code(line: &str, program: &str) -> Option<(usize, usize)> {
    // Range, access, offset, device and inode contain no spaces. The rest is the path, which may
    // contain some.
    let (range, rest) = line.split_once(' ')?;
    let (access, rest) = rest.split_once(' ')?;
    let (offset, rest) = rest.split_once(' ')?;
    let (_device, rest) = rest.split_once(' ')?;
    let (_inode, path) = rest.split_once(' ')?;
    let offset = usize::from_str_radix(offset, 16).ok()?;
    let is_meant = access == "r-xp" || (access == "r--p" && offset == 0);
    let of_program = !program.is_empty() && path.trim_start_matches(' ') == program;
    let (begin, end) = range.split_once('-')?;
    let begin = usize::from_str_radix(begin, 16).ok()?;
    let length = usize::from_str_radix(end, 16).ok()?.checked_sub(begin)?;
    (is_meant && of_program).then_some((begin, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unwritten_code_of_program_is_released() {
        let line =
            |access, offset, file| format!("55d0-55f0 {access} {offset} fe:00 1234    {file}");
        for (access, offset, file, is_meant) in [
            ("r-xp", "00001000", "/bin/aloft", true),
            ("r--p", "00000000", "/bin/aloft", true),
            ("r--p", "00001000", "/bin/aloft", false),
            ("rwxp", "00001000", "/bin/aloft", false),
            ("r-xp", "00001000", "/lib/libc.so", false),
            ("r-xp", "00001000", "/bin/aloft b", false),
            ("r-xp", "00001000", "/a /bin/aloft", false),
            ("r-xp", "00001000", "", false),
        ] {
            let expected = is_meant.then_some((0x55d0, 0x20));
            let found = code(&line(access, offset, file), "/bin/aloft");
            assert_eq!(found, expected, "{access} {offset} {file}");
        }
        let spaced = line("r-xp", "00001000", "/my tools/aloft (deleted)");
        assert_eq!(code(&spaced, "/my tools/aloft (deleted)"), Some((0x55d0, 0x20)));
        assert_eq!(code(&line("r-xp", "00001000", ""), ""), None, "a program without a name");
        assert_eq!(code("55d0-55f0 r-xp 00001000 fe:00 1234", "/bin/aloft"), None);
    }

    #[test]
    fn program_continues_after_releasing_code() {
        assert!(release_code() > 0);
        assert!(release_code() > 0, "and again");
    }
}
