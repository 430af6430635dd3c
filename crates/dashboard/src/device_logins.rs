//! Logins of programs, such as `aloft login`: the program shows a code, a person compares and approves it
//! in a browser, and the program gets a key. Open logins are in memory, because each is valid for ten
//! minutes. Format: <https://www.rfc-editor.org/rfc/rfc8628>

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rules::{Scope, Secret, Timestamp};
use sha2::{Digest as _, Sha256};
use web::context::Context;

use crate::backend::{CallingMember, NewKey};
use crate::user_code::UserCode;

/// Time for the approval.
pub(crate) const LIFETIME: Duration = Duration::from_mins(10);
/// Time between two questions of a program.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Time before which a program asks too often. Networks delay questions.
const POLL_INTERVAL_MIN: Duration = Duration::from_secs(1);
/// Time for which a program may fetch its key again.
const HANDED_OUT_FOR: Duration = Duration::from_mins(1);
/// Open logins, of some hundred bytes each.
const OPEN_MAX: usize = 4_096;
/// Maximum length of a machine's name, in characters.
const MACHINE_CHARS_MAX: usize = 64;

/// Letters without a shape.
const INVISIBLE: [char; 4] = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];

/// A program that wants to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// Name of its machine, as the program says.
    pub(crate) machine: String,
    pub(crate) address: IpAddr,
    pub(crate) asked_at: Timestamp,
}

/// Codes of a new login.
#[derive(Clone, Debug)]
pub(crate) struct NewLogin {
    /// Secret of the program.
    pub(crate) device_code: Secret<String>,
    pub(crate) user_code: UserCode,
}

/// Key that a person allows a program.
#[derive(Clone, Debug)]
pub(crate) struct Approval {
    pub(crate) member: CallingMember,
    pub(crate) key: NewKey,
}

/// Decision of a person.
#[derive(Clone, Debug)]
pub(crate) enum Decision {
    Approved(Approval),
    Refused,
}

/// Key of a program.
#[derive(Clone, Debug)]
pub(crate) struct IssuedKey {
    pub(crate) key: Secret<String>,
    pub(crate) scope: Scope,
}

/// Answer to the question of a program.
#[derive(Debug)]
pub(crate) enum Progress {
    /// Nobody has decided, or the key is being created.
    Pending,
    /// It asked a moment ago.
    TooOften,
    Refused,
    /// The code is expired, used or invented.
    Unknown,
    /// The caller creates the key, and reports the outcome with [`DeviceLogins::finish`]. Further questions
    /// are pending meanwhile.
    Approved(Box<Approval>),
    /// The key exists.
    Issued(IssuedKey),
}

/// Outcome of creating a key.
#[derive(Clone, Debug)]
pub(crate) enum KeyOutcome {
    Issued(IssuedKey),
    /// The person may not create keys any more.
    Refused,
    /// The server could not create it now.
    Failed(Approval),
}

/// State of a login.
#[derive(Clone, Debug)]
enum LoginState {
    Waiting,
    Approved(Approval),
    /// Its key is being created.
    Issuing,
    /// Its key is handed out for a while, because an answer may be lost.
    Issued(IssuedKey),
    Refused,
}

/// Login that is not over.
#[derive(Debug)]
struct OpenLogin {
    user_code: UserCode,
    program: Program,
    /// Monotonic time, as of `polled_at`.
    expires_at: Duration,
    polled_at: Option<Duration>,
    state: LoginState,
}

/// SHA-256 of a program's secret.
type DeviceHash = [u8; 32];

/// The open logins of this server.
#[derive(Debug, Default)]
pub(crate) struct DeviceLogins {
    open: Mutex<HashMap<DeviceHash, OpenLogin>>,
}

impl Program {
    /// Creates a program with the name that it gives its machine. Characters that could disguise the
    /// rest of the page are left out.
    pub(crate) fn new(machine: &str, address: IpAddr, asked_at: Timestamp) -> Self {
        let is_shown = |it: &char| {
            (it.is_alphanumeric() && !INVISIBLE.contains(it)) || " .-_'()".contains(*it)
        };
        let machine: String = machine.chars().filter(is_shown).take(MACHINE_CHARS_MAX).collect();
        Self { machine: machine.trim().to_owned(), address, asked_at }
    }
}

impl DeviceLogins {
    /// Opens a login. `None` if too many are open.
    pub(crate) fn begin(&self, ctx: &Context, program: Program) -> Option<NewLogin> {
        let now = ctx.monotonic();
        let mut open = self.lock();
        open.retain(|_, login| login.expires_at > now);
        if open.len() >= OPEN_MAX {
            return None;
        }
        let user_code = loop {
            let code = UserCode::random(ctx);
            if open.values().all(|login| login.user_code != code) {
                break code;
            }
        };
        let device_code = Secret::new(URL_SAFE_NO_PAD.encode(ctx.secret_bytes()));
        let login = OpenLogin {
            user_code: user_code.clone(),
            program,
            expires_at: now + LIFETIME,
            polled_at: None,
            state: LoginState::Waiting,
        };
        open.insert(hash(device_code.expose()), login);
        Some(NewLogin { device_code, user_code })
    }

    /// Returns the program that shows this code and waits for a decision.
    pub(crate) fn find(&self, ctx: &Context, code: &UserCode) -> Option<Program> {
        let now = ctx.monotonic();
        let open = self.lock();
        let found = open.values().find(|login| login.is_waiting(code, now))?;
        Some(found.program.clone())
    }

    /// Decides about the program that shows this code, once. Returns it, or `None` if none waits.
    pub(crate) fn decide(
        &self,
        ctx: &Context,
        code: &UserCode,
        decision: Decision,
    ) -> Option<Program> {
        let now = ctx.monotonic();
        let mut open = self.lock();
        let found = open.values_mut().find(|login| login.is_waiting(code, now))?;
        found.state = match decision {
            Decision::Approved(approval) => LoginState::Approved(approval),
            Decision::Refused => LoginState::Refused,
        };
        Some(found.program.clone())
    }

    /// Answers the question of a program. A refusal ends the login.
    pub(crate) fn poll(&self, ctx: &Context, device_code: &str) -> Progress {
        let (now, hash) = (ctx.monotonic(), hash(device_code));
        let mut open = self.lock();
        let Some(login) = open.get_mut(&hash).filter(|it| it.expires_at > now) else {
            return Progress::Unknown;
        };
        let before = login.polled_at.replace(now);
        match login.state.clone() {
            LoginState::Waiting if before.is_some_and(|it| now < it + POLL_INTERVAL_MIN) => {
                Progress::TooOften
            }
            LoginState::Waiting | LoginState::Issuing => Progress::Pending,
            LoginState::Refused => {
                open.remove(&hash);
                Progress::Refused
            }
            LoginState::Approved(approval) => {
                login.state = LoginState::Issuing;
                Progress::Approved(Box::new(approval))
            }
            LoginState::Issued(key) => Progress::Issued(key),
        }
    }

    /// Records the outcome of creating a key: the key, a refusal, or an approval that is tried again.
    pub(crate) fn finish(&self, ctx: &Context, device_code: &str, outcome: KeyOutcome) {
        let mut open = self.lock();
        let Some(login) = open.get_mut(&hash(device_code)) else { return };
        login.state = match outcome {
            KeyOutcome::Issued(key) => {
                login.expires_at = ctx.monotonic() + HANDED_OUT_FOR;
                LoginState::Issued(key)
            }
            KeyOutcome::Refused => LoginState::Refused,
            KeyOutcome::Failed(approval) => LoginState::Approved(approval),
        };
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<DeviceHash, OpenLogin>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenLogin {
    fn is_waiting(&self, code: &UserCode, now: Duration) -> bool {
        let is_waiting = matches!(self.state, LoginState::Waiting);
        self.user_code == *code && is_waiting && self.expires_at > now
    }
}

fn hash(device_code: &str) -> DeviceHash {
    Sha256::digest(device_code).into()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use rules::{Role, UserId, WorkspaceId};
    use web::context::{FreshId as _, ManualClock};

    use super::*;

    fn context() -> (Context, ManualClock) {
        Context::manual(Timestamp::from_millis(0))
    }

    fn approval() -> Approval {
        let at = Timestamp::from_millis(0);
        let member = CallingMember {
            workspace: WorkspaceId::fresh(at, 1),
            user: UserId::fresh(at, 1),
            role: Role::Admin,
            address: laptop().address,
        };
        let key = NewKey { name: "laptop".to_owned(), scope: Scope::Read, days: Some(1) };
        Approval { member, key }
    }

    fn laptop() -> Program {
        Program::new("laptop", IpAddr::V4(Ipv4Addr::LOCALHOST), Timestamp::from_millis(0))
    }

    #[test]
    fn refused_login_ends_at_once() {
        let (ctx, _clock) = context();
        let logins = DeviceLogins::default();
        let NewLogin { device_code, user_code } = logins.begin(&ctx, laptop()).unwrap();
        assert!(matches!(logins.poll(&ctx, device_code.expose()), Progress::Pending));
        assert_eq!(logins.decide(&ctx, &user_code, Decision::Refused), Some(laptop()));
        assert_eq!(logins.find(&ctx, &user_code), None, "a second decision is impossible");
        assert!(matches!(logins.poll(&ctx, device_code.expose()), Progress::Refused));
        assert!(matches!(logins.poll(&ctx, device_code.expose()), Progress::Unknown));
    }

    #[test]
    fn key_is_created_once_and_fetched_again() {
        let (ctx, clock) = context();
        let logins = DeviceLogins::default();
        let NewLogin { device_code, user_code } = logins.begin(&ctx, laptop()).unwrap();
        let code = device_code.expose();
        logins.decide(&ctx, &user_code, Decision::Approved(approval())).unwrap();
        assert!(matches!(logins.poll(&ctx, code), Progress::Approved(_)));
        assert!(matches!(logins.poll(&ctx, code), Progress::Pending), "one task creates the key");
        logins.finish(&ctx, code, KeyOutcome::Failed(approval()));
        assert!(matches!(logins.poll(&ctx, code), Progress::Approved(_)));
        let key = IssuedKey { key: Secret::new("aloft_key".to_owned()), scope: Scope::Read };
        logins.finish(&ctx, code, KeyOutcome::Issued(key));
        assert!(matches!(logins.poll(&ctx, code), Progress::Issued(_)));
        assert!(matches!(logins.poll(&ctx, code), Progress::Issued(_)), "the answer was lost");
        clock.advance(HANDED_OUT_FOR);
        assert!(matches!(logins.poll(&ctx, code), Progress::Unknown));
    }

    #[test]
    fn login_expires_after_ten_minutes() {
        let (ctx, clock) = context();
        let logins = DeviceLogins::default();
        let NewLogin { device_code, user_code } = logins.begin(&ctx, laptop()).unwrap();
        clock.advance(LIFETIME);
        assert_eq!(logins.find(&ctx, &user_code), None);
        assert_eq!(logins.decide(&ctx, &user_code, Decision::Refused), None);
        assert!(matches!(logins.poll(&ctx, device_code.expose()), Progress::Unknown));
    }

    #[test]
    fn program_may_not_ask_all_the_time() {
        let (ctx, clock) = context();
        let logins = DeviceLogins::default();
        let login = logins.begin(&ctx, laptop()).unwrap();
        let ask = || logins.poll(&ctx, login.device_code.expose());
        assert!(matches!(ask(), Progress::Pending));
        assert!(matches!(ask(), Progress::TooOften));
        clock.advance(POLL_INTERVAL);
        assert!(matches!(ask(), Progress::Pending));
    }

    #[test]
    fn open_logins_are_bounded() {
        let (ctx, clock) = context();
        let logins = DeviceLogins::default();
        let opened = (0..OPEN_MAX + 10).filter(|_| logins.begin(&ctx, laptop()).is_some()).count();
        assert_eq!(opened, OPEN_MAX);
        clock.advance(LIFETIME);
        assert!(logins.begin(&ctx, laptop()).is_some());
    }

    #[test]
    fn name_of_a_machine_cannot_disguise_the_page() {
        let name = "laptop\u{202e}\n<b>\u{0}, approved by your admin! (1)";
        let program = Program::new(name, laptop().address, laptop().asked_at);
        assert_eq!(program.machine, "laptopb approved by your admin (1)");
        assert_eq!(
            Program::new(&"a".repeat(100), laptop().address, laptop().asked_at).machine.len(),
            64
        );
    }
}
