//! The time of all attack tests. A server that hangs under an attack fails the test instead of
//! blocking the others.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time of all attack tests of this program, added up: five minutes on two idle cores (issue 16), and
/// three times that on a slower machine.
pub(crate) const ATTACKS_WITHIN: Duration = Duration::from_mins(15);
/// Part of it that a running attack takes at a time.
const STEP: Duration = Duration::from_millis(100);

static USED_STEPS: AtomicU64 = AtomicU64::new(0);

/// Runs an attack, and fails if all attacks together have used up their time.
pub(crate) fn attack(test: impl FnOnce() + Send + 'static) {
    let (ending, ended) = channel::<()>();
    let running = thread::spawn(move || {
        let _ending = ending;
        test();
    });
    let most = ATTACKS_WITHIN.as_millis() / STEP.as_millis();
    while ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
        let used = USED_STEPS.fetch_add(1, Ordering::Relaxed);
        assert!(
            u128::from(used) < most,
            "the attack tests have used up {ATTACKS_WITHIN:?}, and this one has not ended"
        );
    }
    if let Err(panicked) = running.join() {
        resume_unwind(panicked);
    }
}

#[test]
fn failure_of_an_attack_fails_its_test() {
    let failed = thread::spawn(|| attack(|| panic!("the server hangs"))).join();
    assert_eq!(failed.unwrap_err().downcast_ref::<&str>(), Some(&"the server hangs"));
}
