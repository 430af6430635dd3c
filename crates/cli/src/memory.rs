//! Memory of a server: lets go of the program's own code and constants that only its start or a moment
//! needed. What is needed again comes back from the file, some pages at a time. What is allocated belongs
//! to the allocator (docs/decisions/0009-allocator.md).

use std::fs;

/// Lets go of the pages of the program's code and constants that are in memory. A system that cannot say
/// where they are keeps them.
pub(crate) fn let_go_of_code() {
    let program = fs::read_link("/proc/self/exe").unwrap_or_default();
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for (begin, length) in maps.lines().filter_map(|line| code(line, &program.to_string_lossy())) {
        let begin = std::ptr::with_exposed_provenance_mut(begin);
        #[expect(unsafe_code, reason = "there is no safe way to say which memory is meant")]
        // SAFETY: the pages are the program's code and constants, mapped from its file, readable and
        // never writable, not even while the program was loaded. The kernel reads them from there again
        // when they are used, so no memory that anybody sees changes.
        let done = unsafe { rustix::mm::madvise(begin, length, rustix::mm::Advice::LinuxDontNeed) };
        // Where the kernel does not want to, the code stays, and nothing else is different.
        let _ = done;
    }
}

/// Where a line of `/proc/self/maps` says that code of `program` is, or its constants, which stand at the
/// beginning of its file: beginning and length. What may be written, or is shared by others, is not meant;
/// nor is what the loader wrote before nobody might, which stands further back in the file.
fn code(line: &str, program: &str) -> Option<(usize, usize)> {
    let mut words = line.split_ascii_whitespace();
    let (begin, end) = words.next()?.split_once('-')?;
    let access = words.next()?;
    let offset = usize::from_str_radix(words.next()?, 16).ok()?;
    let is_meant = access == "r-xp" || (access == "r--p" && offset == 0);
    let of_program = !program.is_empty() && words.nth(2)? == program;
    let begin = usize::from_str_radix(begin, 16).ok()?;
    let length = usize::from_str_radix(end, 16).ok()?.checked_sub(begin)?;
    (is_meant && of_program).then_some((begin, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_the_program_that_nobody_writes_is_let_go() {
        let line = |access, file| format!("55d0-55f0 {access} 00001000 fe:00 1234    {file}");
        assert_eq!(code(&line("r-xp", "/bin/aloft"), "/bin/aloft"), Some((0x55d0, 0x20)));
        let constants = "55d0-55f0 r--p 00000000 fe:00 1234    /bin/aloft";
        assert_eq!(code(constants, "/bin/aloft"), Some((0x55d0, 0x20)));
        for (access, file) in
            [("r--p", "/bin/aloft"), ("rwxp", "/bin/aloft"), ("r-xp", "/lib/libc.so"), ("r-xp", "")]
        {
            assert_eq!(code(&line(access, file), "/bin/aloft"), None, "{access} {file}");
        }
    }

    #[test]
    fn the_program_goes_on_without_the_code_of_its_start() {
        let_go_of_code();
        assert_eq!(code("7f00-7f10 r-xp 0 0:0 1 /a b", "/a"), Some((0x7f00, 0x10)));
    }
}
