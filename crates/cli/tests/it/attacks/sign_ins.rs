//! Storms of sign-ins: hashing a password takes memory, so only a few run at once.

use std::net::SocketAddr;

use crate::attacks::{OpenConnection, attack, resident_kib};
use crate::process::{Home, Server};

/// Sign-ins at once.
const STORM: usize = 600;
/// Memory that each later storm may add, in KiB. If abandoned hashes went on beside new ones, a storm
/// would add hundreds of MiB.
const STORM_KIB_MAX: u64 = 64 * 1_024;
pub(super) const FORM: &str =
    "content-type: application/x-www-form-urlencoded\r\nsec-fetch-site: same-origin\r\n";

/// Creates the first account through the set-up link. Returns the header with its session.
pub(super) fn set_up(server: &Server) -> String {
    let link = server.out.iter().find(|line| line.contains("/setup/")).unwrap();
    let path = &link[link.find("/setup/").unwrap()..];
    let fields = "name=Ada&email=ada%40example.com&password=correct+horse+battery&workspace=Acme";
    let mut connection = OpenConnection::open(server.address);
    let (status, head) = connection.send("POST", path, FORM, fields.as_bytes());
    assert_eq!(status, 303, "{head}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    format!("cookie: {}\r\n", cookie.split(';').next().unwrap())
}

/// Signs in from a network of its own, and returns the status.
fn sign_in(address: SocketAddr, number: usize) -> u16 {
    let network = format!("x-forwarded-for: 10.{}.{}.1\r\n", number / 250, number % 250);
    let fields = format!("email=user{number}%40example.com&password=a+wrong+password");
    let headers = format!("{FORM}{network}");
    OpenConnection::open(address).send("POST", "/login", &headers, fields.as_bytes()).0
}

/// Signs in many times at once. Returns the peak of the server's memory.
fn storm(server: &Server) -> u64 {
    let address = server.address;
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..STORM).map(|number| scope.spawn(move || sign_in(address, number))).collect();
        all.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| matches!(status, 401 | 503)), "{statuses:?}");
    assert!(statuses.contains(&503), "hashes wait in a bounded queue");
    resident_kib(server)
}

// issue 18: an attacker has many networks, so the limits of each do not help
#[test]
fn storm_of_sign_ins_keeps_memory_bounded() {
    attack(|| {
        let home = Home::new();
        let server = home.serve_with(&["--trusted-proxies", "127.0.0.0/8"]);
        set_up(&server);
        let first = storm(&server);
        for _ in 0..2 {
            let later = storm(&server);
            assert!(later.saturating_sub(first) < STORM_KIB_MAX, "{first} KiB, then {later} KiB");
        }
        let fields = b"email=ada%40example.com&password=correct+horse+battery";
        let mut connection = OpenConnection::open(server.address);
        assert_eq!(connection.send("POST", "/login", FORM, fields).0, 303);
    });
}
