//! Passwords: their rules, and their hashes (Argon2id, RFC 9106). Hashing takes a processor some tens
//! of milliseconds and 19 MiB, so only a few run at once.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::time::Duration;

use argon2::password_hash::phc::{PasswordHash, Salt};
use argon2::{Argon2, PasswordHasher as _, PasswordVerifier as _};
use rules::Secret;
use serde::{Deserialize as _, Deserializer};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// Minimum length of a password, in characters.
pub(crate) const CHARS_MIN: usize = 10;
/// Maximum length of a password, in characters. Longer texts only cost time.
const CHARS_MAX: usize = 256;
/// Hashes that are computed at once.
const AT_ONCE: usize = 2;
/// Requests that wait for a hash. More are rejected, so that they do not fill memory.
const WAITING_MAX: usize = 64;
/// Time to wait for a hash. It ends before that of the whole answer, so that a slow processor is not
/// reported as a slow database.
const WITHIN: Duration = Duration::from_secs(2);

/// Common passwords of at least [`CHARS_MIN`] characters, in lower case, one in each line.
static COMMON: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("../assets/common-passwords.txt").lines().collect());

/// Reason that a password is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WeakPassword {
    #[error("must have at least {CHARS_MIN} characters")]
    Short,
    #[error("must have at most {CHARS_MAX} characters")]
    Long,
    #[error("is one of the most common passwords; choose another one")]
    Common,
    #[error("must not be your email address")]
    Address,
}

/// The server computes too many hashes already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many people are signing in; try again in a moment")]
pub(crate) struct TooBusy;

/// Work of a thread.
type Work = Box<dyn FnOnce() + Send>;

/// Computes and verifies hashes of passwords, in a few threads of its own: allocators keep the memory
/// of a hash for each thread that computed one.
#[derive(Debug)]
pub(crate) struct Passwords {
    /// Work for the threads. They end with it.
    queue: mpsc::Sender<Work>,
    waiting: Arc<Semaphore>,
    within: Duration,
    /// Hash that is verified if there is no account, so that its absence takes the same time.
    absent: Secret<String>,
}

/// Checks a new password of the account with this address.
pub(crate) fn check_new(password: &Secret<String>, email: &str) -> Result<(), WeakPassword> {
    let text = password.expose();
    let length = text.chars().count();
    if length < CHARS_MIN {
        return Err(WeakPassword::Short);
    }
    if length > CHARS_MAX {
        return Err(WeakPassword::Long);
    }
    let lower = text.to_lowercase();
    if COMMON.contains(lower.as_str()) {
        return Err(WeakPassword::Common);
    }
    if lower == email.to_lowercase() {
        return Err(WeakPassword::Address);
    }
    Ok(())
}

/// Returns the password of a form without one: the empty one, which no account has.
pub(crate) fn missing() -> Secret<String> {
    Secret::new(String::new())
}

/// Reads a password of a form.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Secret<String>, D::Error> {
    String::deserialize(from).map(Secret::new)
}

impl Passwords {
    pub(crate) fn new() -> Self {
        let (queue, work) = mpsc::channel::<Work>();
        let work = Arc::new(Mutex::new(work));
        for _ in 0..AT_ONCE {
            let work = Arc::clone(&work);
            std::thread::spawn(move || {
                while let Some(work) = next(&work) {
                    work();
                }
            });
        }
        Self {
            queue,
            waiting: Arc::new(Semaphore::new(WAITING_MAX)),
            within: WITHIN,
            absent: hash(&Secret::new("no account has this".to_owned()), &[0; 32]),
        }
    }

    /// Returns the hash of a password in the PHC format, with this random salt.
    pub(crate) async fn hash(
        &self,
        password: Secret<String>,
        salt: [u8; 32],
    ) -> Result<Secret<String>, TooBusy> {
        self.run(move || hash(&password, &salt)).await
    }

    /// Returns whether the password belongs to this hash. Without a hash, takes the same time and
    /// returns false.
    pub(crate) async fn verify(
        &self,
        password: Secret<String>,
        stored: Option<Secret<String>>,
    ) -> Result<bool, TooBusy> {
        let exists = stored.is_some();
        let stored = stored.unwrap_or_else(|| self.absent.clone());
        self.run(move || verify(&password, &stored) && exists).await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, TooBusy> {
        let turn = Arc::clone(&self.waiting).try_acquire_owned().map_err(|_| TooBusy)?;
        let (sender, result) = oneshot::channel();
        let work = move || {
            // Nobody waits for the work of a request that ended early.
            if !sender.is_closed() {
                drop(sender.send(work()));
            }
            drop(turn);
        };
        self.queue.send(Box::new(work)).map_err(|_| TooBusy)?;
        timeout(self.within, result).await.map_err(|_| TooBusy)?.map_err(|_| TooBusy)
    }
}

/// Waits for work. Returns `None` once no more can come.
fn next(work: &Mutex<mpsc::Receiver<Work>>) -> Option<Work> {
    work.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Returns the hash of a password in the PHC format, with this random salt.
pub fn hash(password: &Secret<String>, salt: &[u8; 32]) -> Secret<String> {
    let salt = Salt::new(salt).expect("32 bytes are a salt");
    let hash = Argon2::default().hash_password_with_salt(password.expose().as_bytes(), &salt);
    Secret::new(hash.expect("the default parameters are valid").to_string())
}

fn verify(password: &Secret<String>, stored: &Secret<String>) -> bool {
    let Ok(stored) = PasswordHash::new(stored.expose()) else { return false };
    Argon2::default().verify_password(password.expose().as_bytes(), &stored).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[test]
    fn weak_passwords_are_rejected() {
        let email = "ada@example.com";
        for (text, expected) in [
            ("short", Err(WeakPassword::Short)),
            ("PassWord123", Err(WeakPassword::Common)),
            ("Ada@example.com", Err(WeakPassword::Address)),
            ("correct horse battery", Ok(())),
            ("äöüäöüäöüä", Ok(())),
        ] {
            assert_eq!(check_new(&secret(text), email), expected, "{text}");
        }
        assert_eq!(check_new(&secret(&"x".repeat(257)), email), Err(WeakPassword::Long));
    }

    #[test]
    fn common_passwords_are_comparable() {
        assert!(COMMON.len() > 1_000);
        for word in COMMON.iter() {
            assert!(word.chars().count() >= CHARS_MIN && *word == word.to_lowercase(), "{word}");
        }
    }

    #[tokio::test]
    async fn abandoned_work_keeps_its_place() {
        let passwords = Passwords::new();
        let (release, blocked) = mpsc::channel::<()>();
        let mut abandoned = Box::pin(passwords.run(move || blocked.recv()));
        assert!(futures_util::poll!(&mut abandoned).is_pending());
        assert_eq!(passwords.waiting.available_permits(), WAITING_MAX - 1);
        // Wait for a later piece of work, so that the first one has begun.
        passwords.run(|| ()).await.unwrap();
        drop(abandoned);
        assert_eq!(passwords.waiting.available_permits(), WAITING_MAX - 1);
        drop(release);
        let all = u32::try_from(WAITING_MAX).unwrap();
        drop(passwords.waiting.acquire_many(all).await.unwrap());
    }

    #[tokio::test]
    async fn slow_hash_is_reported_as_busy() {
        let passwords = Passwords { within: Duration::ZERO, ..Passwords::new() };
        let (release, blocked) = mpsc::channel::<()>();
        assert_eq!(passwords.run(move || drop(blocked.recv())).await, Err(TooBusy));
        drop(release);
    }

    #[tokio::test]
    async fn only_the_right_password_is_verified() {
        let passwords = Passwords::new();
        let hash = passwords.hash(secret("correct horse battery"), [7; 32]).await.unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        let is = async |text: &str, hash| passwords.verify(secret(text), hash).await.unwrap();
        assert!(is("correct horse battery", Some(hash.clone())).await);
        assert!(!is("correct horse batterx", Some(hash)).await);
        assert!(!is("no account has this", None).await);
    }
}
