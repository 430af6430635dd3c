//! Memory of a server: lets go of the program's own code and constants that only its start or a moment
//! needed. What is needed again comes back from the file, some pages at a time. What is allocated belongs
//! to the allocator (docs/decisions/0009-allocator.md).

use std::fs;

/// Lets go of the pages of the program's code and constants that are in memory, and says how many bytes of
/// them there are in all. A system that cannot say where they are keeps them.
pub(crate) fn let_go_of_code() -> usize {
    let program = fs::read_link("/proc/self/exe").unwrap_or_default();
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut bytes = 0;
    for (begin, length) in maps.lines().filter_map(|line| code(line, &program.to_string_lossy())) {
        let begin = std::ptr::with_exposed_provenance_mut(begin);
        #[expect(unsafe_code, reason = "there is no safe way to say which memory is meant")]
        // SAFETY: the pages are the program's code and constants, mapped from its file, readable and
        // never writable, not even while the program was loaded. The kernel reads them from there again
        // when they are used, so no memory that anybody sees changes.
        let done = unsafe { rustix::mm::madvise(begin, length, rustix::mm::Advice::LinuxDontNeed) };
        // Where the kernel does not want to, the code stays, and nothing else is different.
        bytes += done.map_or(0, |()| length);
    }
    bytes
}

/// Where a line of `/proc/self/maps` says that code of `program` is, or its constants, which stand at the
/// beginning of its file: beginning and length. What may be written, or is shared by others, is not meant;
/// nor is what the loader wrote before nobody might, which stands further back in the file.
fn code(line: &str, program: &str) -> Option<(usize, usize)> {
    // Range, access, offset, device and inode are words; the rest is the path, which may have spaces.
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
    fn only_code_of_the_program_that_nobody_writes_is_let_go() {
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
        assert_eq!(code(&line("r-xp", "00001000", ""), ""), None, "a program of no name");
        assert_eq!(code("55d0-55f0 r-xp 00001000 fe:00 1234", "/bin/aloft"), None);
    }

    #[test]
    fn the_program_goes_on_without_the_code_of_its_start() {
        assert!(let_go_of_code() > 0);
        assert!(let_go_of_code() > 0, "and again");
    }
}
