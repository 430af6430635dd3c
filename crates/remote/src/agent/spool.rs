//! Results that the server has not accepted yet, on the probe's disk. Each file has the results of one
//! report, encrypted, because evidence shows what targets answered. If the disk is full or fails, results
//! stay in memory, within a smaller limit. The oldest go first in either case.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use buffa::Message as _;
use chacha20poly1305::aead::{Aead as _, Generate as _, KeyInit as _};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use rules::Timestamp;
use tracing::warn;

use super::AgentError;
use crate::{RESULT_AGE_MAX, wire};

/// Ending of complete files.
const ENDING: &str = ".results";
/// Ending of a file that is being written.
const UNFINISHED: &str = ".new";
const NONCE_BYTES: usize = 24;

/// Limits of undelivered results.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpoolLimits {
    /// On disk, in bytes.
    pub(super) disk_bytes: u64,
    /// In memory while the disk takes none, in bytes.
    pub(super) memory_bytes: u64,
    pub(super) age: Duration,
}

/// Undelivered results, in files of a folder.
#[derive(Debug)]
pub(super) struct Spool {
    folder: PathBuf,
    limits: SpoolLimits,
    /// On disk, oldest first.
    files: VecDeque<Entry>,
    /// In memory, because the disk took none, oldest first.
    kept: VecDeque<(Entry, Vec<wire::JobResult>)>,
    /// Makes names unique.
    sequence: u64,
    /// Whether the last write failed, which is logged once.
    is_failing: bool,
    /// Keeps other processes out of the folder.
    _lock: File,
}

/// Results that were stored together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    at: Timestamp,
    sequence: u64,
    bytes: u64,
    count: usize,
}

impl Default for SpoolLimits {
    fn default() -> Self {
        Self { disk_bytes: 256 * 1024 * 1024, memory_bytes: 16 * 1024 * 1024, age: RESULT_AGE_MAX }
    }
}

impl Spool {
    /// Opens the folder, creates it if it is missing, and finds the results of earlier runs.
    pub(super) fn open(data: &Path, limits: SpoolLimits) -> Result<Self, AgentError> {
        let unusable = |why| AgentError::Folder { folder: data.display().to_string(), why };
        let folder = data.join("results");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(unusable)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(data.join("probe.lock"))
            .map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(AgentError::FolderInUse(data.display().to_string()));
            }
            Err(TryLockError::Error(why)) => return Err(unusable(why)),
        }
        let mut files: Vec<Entry> = Vec::new();
        for file in fs::read_dir(&folder).map_err(unusable)? {
            let file = file.map_err(unusable)?;
            let name = file.file_name();
            let name = name.to_string_lossy();
            if name.ends_with(UNFINISHED) {
                fs::remove_file(file.path()).map_err(unusable)?;
            } else if let Some(entry) = Entry::from_name(&name) {
                let bytes = file.metadata().map_err(unusable)?.len();
                files.push(Entry { bytes, ..entry });
            }
        }
        files.sort_by_key(|it| (it.at, it.sequence));
        let sequence = files.iter().map(|it| it.sequence + 1).max().unwrap_or(0);
        Ok(Self {
            folder,
            limits,
            files: files.into(),
            kept: VecDeque::new(),
            sequence,
            is_failing: false,
            _lock: lock,
        })
    }

    /// Returns whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.kept.is_empty()
    }

    /// Stores results. Returns their entry for [`Self::remove`], and the number of results, of these or
    /// older ones, that were dropped because of the limits.
    pub(super) fn store(
        &mut self,
        key: &[u8; 32],
        results: Vec<wire::JobResult>,
        now: Timestamp,
    ) -> (Entry, usize) {
        let count = results.len();
        let batch = wire::ReportRequest { results, ..wire::ReportRequest::default() };
        let mut entry = Entry { at: now, sequence: self.sequence, bytes: 0, count };
        self.sequence += 1;
        match self.write(&entry, key, &batch) {
            Ok(bytes) => {
                self.is_failing = false;
                entry.bytes = bytes;
                self.files.push_back(entry.clone());
            }
            Err(why) => {
                if !std::mem::replace(&mut self.is_failing, true) {
                    let folder = self.folder.display();
                    warn!("results cannot be written to `{folder}`: {why}; they stay in memory");
                }
                entry.bytes = contract::rpc::encoded_bytes(&batch) as u64;
                self.kept.push_back((entry.clone(), batch.results));
            }
        }
        (entry, self.apply_limits(now))
    }

    /// Returns the oldest results, or why they cannot be read, with their entry for [`Self::remove`].
    pub(super) fn oldest(
        &self,
        key: &[u8; 32],
    ) -> Option<(Entry, Result<Vec<wire::JobResult>, io::Error>)> {
        if let Some(entry) = self.files.front() {
            return Some((entry.clone(), self.read(entry, key)));
        }
        self.kept.front().map(|(entry, results)| (entry.clone(), Ok(results.clone())))
    }

    /// Removes results that were delivered or dropped.
    pub(super) fn remove(&mut self, entry: &Entry) {
        if let Some(index) = self.files.iter().position(|file| file == entry) {
            self.files.remove(index);
            // A file that stays is delivered again, and dropped by the server.
            let _ = fs::remove_file(self.folder.join(entry.name()));
        } else {
            self.kept.retain(|(kept, _)| kept != entry);
        }
    }

    /// Drops what is too old or too much, oldest first. Returns the number of dropped results.
    pub(super) fn apply_limits(&mut self, now: Timestamp) -> usize {
        let mut dropped = 0;
        let mut on_disk: u64 = self.files.iter().map(|it| it.bytes).sum();
        while let Some(entry) = self.files.front().cloned()
            && (on_disk > self.limits.disk_bytes || now.since(entry.at) > self.limits.age)
        {
            on_disk -= entry.bytes;
            dropped += entry.count;
            self.remove(&entry);
        }
        let mut in_memory: u64 = self.kept.iter().map(|(it, _)| it.bytes).sum();
        while let Some((entry, _)) = self.kept.front()
            && (in_memory > self.limits.memory_bytes || now.since(entry.at) > self.limits.age)
        {
            in_memory -= entry.bytes;
            dropped += entry.count;
            self.kept.pop_front();
        }
        dropped
    }

    fn write(&self, entry: &Entry, key: &[u8; 32], batch: &wire::ReportRequest) -> io::Result<u64> {
        let nonce = XNonce::generate();
        let sealed = XChaCha20Poly1305::new(key.into())
            .encrypt(&nonce, &*batch.encode_to_vec())
            .map_err(|_| io::Error::other("encryption failed"))?;
        let path = self.folder.join(entry.name());
        let unfinished = self.folder.join(format!("{}{UNFINISHED}", entry.name()));
        let written = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&unfinished)
            .and_then(|mut file| {
                file.write_all(&nonce)?;
                file.write_all(&sealed)?;
                file.sync_data()
            })
            .and_then(|()| fs::rename(&unfinished, &path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written.map(|()| (NONCE_BYTES + sealed.len()) as u64)
    }

    fn read(&self, entry: &Entry, key: &[u8; 32]) -> io::Result<Vec<wire::JobResult>> {
        let content = fs::read(self.folder.join(entry.name()))?;
        let damaged =
            || io::Error::new(io::ErrorKind::InvalidData, "it is damaged or for another server");
        let (nonce, sealed) = content.split_at_checked(NONCE_BYTES).ok_or_else(damaged)?;
        let nonce = XNonce::try_from(nonce).map_err(|_| damaged())?;
        let plain =
            XChaCha20Poly1305::new(key.into()).decrypt(&nonce, sealed).map_err(|_| damaged())?;
        let batch = wire::ReportRequest::decode_from_slice(&plain).map_err(|_| damaged())?;
        Ok(batch.results)
    }
}

impl Entry {
    /// Returns the number of results.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    fn name(&self) -> String {
        format!("{:015}-{:06}-{}{ENDING}", self.at.as_millis(), self.sequence, self.count)
    }

    /// Parses the name of a file. Its size is unknown.
    fn from_name(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(ENDING)?.split('-');
        let at = Timestamp::from_millis(parts.next()?.parse().ok()?);
        let (sequence, count) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Self { at, sequence, bytes: 0, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [5; 32];

    fn results(from: u8, count: u8) -> Vec<wire::JobResult> {
        let one = |at: u8| wire::JobResult { ticket: vec![at; 100], ..wire::JobResult::default() };
        (from..from + count).map(one).collect()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + seconds * 1_000)
    }

    fn take(spool: &mut Spool) -> Vec<u8> {
        let mut found = Vec::new();
        while let Some((entry, results)) = spool.oldest(&KEY) {
            found.extend(results.unwrap().iter().map(|it| it.ticket[0]));
            spool.remove(&entry);
        }
        found
    }

    #[test]
    fn results_survive_a_restart_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(folder.path(), SpoolLimits::default()).unwrap();
        assert_eq!(spool.store(&KEY, results(1, 2), at(0)).1, 0);
        assert_eq!(spool.store(&KEY, results(3, 1), at(1)).1, 0);
        let (delivered, _) = spool.store(&KEY, results(9, 1), at(1));
        spool.remove(&delivered);
        assert!(matches!(
            Spool::open(folder.path(), SpoolLimits::default()),
            Err(AgentError::FolderInUse(_))
        ));
        drop(spool);
        let mut spool = Spool::open(folder.path(), SpoolLimits::default()).unwrap();
        spool.store(&KEY, results(4, 1), at(1));
        assert_eq!(take(&mut spool), [1, 2, 3, 4]);
        drop(spool);
        assert!(Spool::open(folder.path(), SpoolLimits::default()).unwrap().is_empty());
    }

    #[test]
    fn oldest_results_are_dropped_beyond_the_limits() {
        let folder = tempfile::tempdir().unwrap();
        let limits = SpoolLimits { disk_bytes: 1_000, ..SpoolLimits::default() };
        let mut spool = Spool::open(folder.path(), limits).unwrap();
        let dropped: usize =
            (0..5).map(|second| spool.store(&KEY, results(second as u8, 3), at(second)).1).sum();
        assert_eq!(dropped, 9, "two files of about 400 bytes fit");
        let aged = spool.apply_limits(at(4) + RESULT_AGE_MAX);
        assert_eq!(aged, 3, "the older file is too old");
        assert_eq!(take(&mut spool), [4, 5, 6]);
    }

    #[test]
    fn results_stay_in_memory_while_the_disk_fails() {
        let folder = tempfile::tempdir().unwrap();
        let limits = SpoolLimits { memory_bytes: 700, ..SpoolLimits::default() };
        let mut spool = Spool::open(folder.path(), limits).unwrap();
        fs::remove_dir_all(folder.path().join("results")).unwrap();
        assert_eq!(spool.store(&KEY, results(1, 3), at(0)).1, 0);
        assert_eq!(spool.store(&KEY, results(4, 3), at(1)).1, 0);
        assert_eq!(spool.store(&KEY, results(7, 3), at(2)).1, 3);
        fs::create_dir_all(folder.path().join("results")).unwrap();
        spool.store(&KEY, results(10, 1), at(3));
        assert_eq!(take(&mut spool), [10, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn files_are_unreadable_without_their_key() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(folder.path(), SpoolLimits::default()).unwrap();
        spool.store(&KEY, results(7, 1), at(0));
        let (entry, read) = spool.oldest(&[6; 32]).unwrap();
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::InvalidData);
        let content = fs::read(folder.path().join("results").join(entry.name())).unwrap();
        assert!(!content.windows(8).any(|it| it == [7; 8]), "the content is not in plain text");
    }
}
