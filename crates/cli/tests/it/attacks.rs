//! Hostile clients against the process: slow and endless bodies, rejections in the middle of a
//! body, and gRPC over a protocol that cannot carry it. No assertion depends on time, but `deadline`
//! bounds the time of all attacks together.

mod deadline;
mod pings;
mod sessions;
mod sign_ins;
mod slow;
mod streams;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};

pub(crate) use self::deadline::attack;
use crate::process::{Home, PATIENCE, Server, get};

/// Limit of open files for a server with 64 connections.
const FEW_FILES: u32 = 512;
/// Paths that no list of the server has: fallbacks, and the services of gRPC itself.
const OTHERS: &[&str] = &[
    "/rpc/monitor.v1.MonitorService/CreateHttpMonitor",
    "/rpc/monitor.v1.MonitorService/Nonsense",
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/nonsense",
];
/// Bytes of each endless body before the client gives up: more than the server discards plus the
/// buffers of both sockets.
const ENDLESS_BYTES: usize = 128 * 1024 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;
/// Number of concurrent endless bodies.
const AT_A_TIME: usize = 40;
/// Allowed growth of the server's memory by endless bodies, in KiB.
const GROWTH_KIB: u64 = 64 * 1024;

/// A persistent connection.
struct OpenConnection(TcpStream);

impl OpenConnection {
    fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self(stream)
    }

    /// Sends a request and reads its response: the status and the head.
    fn send(&mut self, verb: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String) {
        let length = body.len();
        let head = format!(
            "{verb} {path} HTTP/1.1\r\nhost: a\r\n{headers}content-length: {length}\r\n\r\n"
        );
        self.0.write_all(head.as_bytes()).unwrap();
        self.0.write_all(body).unwrap();
        self.read()
    }

    fn read(&mut self) -> (u16, String) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
        let length = value("content-length: ").map_or(0, |it| it.parse().unwrap());
        self.0.read_exact(&mut vec![0; length]).unwrap();
        let mut chunks = Vec::new();
        while head.contains("transfer-encoding: chunked") && !chunks.ends_with(b"0\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            chunks.push(byte[0]);
        }
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head)
    }
}

/// Sends an endless body until the server closes the connection.
fn sends_endlessly(address: SocketAddr, path: &str, chunk: &[u8]) -> std::io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\
         content-type: application/x-www-form-urlencoded\r\n\r\n"
    )?;
    (0..ENDLESS_BYTES / CHUNK_BYTES).try_for_each(|_| stream.write_all(chunk))
}

fn assert_bounded(address: SocketAddr, path: &str, chunk: &[u8]) {
    assert!(sends_endlessly(address, path, chunk).is_err(), "{path} read all of it");
}

/// Replaces the parameters of a path, `{…}`, by a value.
fn with_values(path: &str) -> String {
    let of = |segment: &str| if segment.starts_with('{') { "none" } else { segment }.to_owned();
    path.split('/').map(of).collect::<Vec<_>>().join("/")
}

fn resident_kib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

// issue 16, point 2: forms buffered 2 MiB each before their limit applied
#[test]
fn endless_bodies_use_little_memory() {
    attack(|| {
        let home = Home::with_database();
        let server = home.serve();
        assert_eq!(get(server.address, "/status/none").unwrap().status, 404);
        let before = resident_kib(&server);
        let data = vec![b'x'; CHUNK_BYTES];
        let chunk = [format!("{CHUNK_BYTES:x}\r\n").as_bytes(), &data, b"\r\n"].concat();
        let methods = contract::rpc::methods().iter().map(|method| method.path.clone());
        let others = OTHERS.iter().map(|path| (*path).to_owned());
        let paths = server::paths().map(|path| with_values(&path));
        let routes: Vec<String> = paths.chain(others).chain(methods).collect();
        for some in routes.chunks(AT_A_TIME) {
            std::thread::scope(|scope| {
                for path in some {
                    let (chunk, address) = (&chunk, server.address);
                    scope.spawn(move || assert_bounded(address, path, chunk));
                }
            });
        }
        let grown = resident_kib(&server).saturating_sub(before);
        assert!(grown <= GROWTH_KIB, "grew by {grown} KiB");
        assert_eq!(get(server.address, "/readyz").unwrap().status, 200);
    });
}

// issue 16, point 12: connections broke in the middle of bodies whose requests were rejected
#[test]
fn early_refusals_keep_the_connection() {
    attack(|| {
        let (home, _) = Home::with_key();
        let key = home.new_key(&["--scope", "read"]);
        let key = format!("x-service-key: {}\r\n", key["key"].as_str().unwrap());
        let server = home.serve();
        let mut kept = OpenConnection::open(server.address);
        let create = "/rpc/monitor.v1.MonitorService/CreateHttpMonitor";
        let json = "content-type: application/json\r\n";
        for body in [vec![b' '; 10], vec![b' '; 5_000_000]] {
            for (verb, path, headers, status) in [
                ("POST", create, json.to_owned(), 401),
                ("POST", create, format!("{key}{json}"), 403),
                ("POST", "/rpc/monitor.v1.MonitorService/Nonsense", format!("{key}{json}"), 404),
                ("PUT", "/v1/whoami", key.clone(), 405),
                ("POST", "/status/none/unlock", json.to_owned(), 415),
            ] {
                let (found, head) = kept.send(verb, path, &headers, &body);
                assert_eq!(found, status, "{verb} {path}: {head}");
                assert!(!head.contains("connection: close"), "{verb} {path}: {head}");
            }
        }
        let (status, head) = {
            let head = format!(
                "POST {create} HTTP/1.1\r\nhost: a\r\n{json}content-length: 99999999\r\n\r\n"
            );
            kept.0.write_all(head.as_bytes()).unwrap();
            for _ in 0..20 {
                match kept.0.write_all(&vec![b' '; 1024 * 1024]) {
                    Ok(()) => {}
                    Err(error)
                        if matches!(
                            error.kind(),
                            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
                        ) =>
                    {
                        break;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            kept.read()
        };
        assert_eq!(status, 401, "{head}");
        assert!(head.contains("connection: close"), "{head}");
    });
}

// issue 16, point 16; RFC 9112 §3.2
#[test]
fn request_must_name_exactly_one_host() {
    attack(|| {
        let home = Home::with_database();
        let server = home.serve();
        for hosts in ["", "host: a\r\nhost: b\r\n", "host: a, b\r\n", "host: x@a\r\n"] {
            let mut kept = OpenConnection::open(server.address);
            write!(kept.0, "GET /healthz HTTP/1.1\r\n{hosts}\r\n").unwrap();
            assert_eq!(kept.read().0, 400, "{hosts}");
        }
    });
}

// issue 16, point 16; RFC 9112 §7.1: it was a timeout without an explanation
#[test]
fn broken_chunk_is_a_malformed_body() {
    attack(|| {
        let (home, key) = Home::with_key();
        let server = home.serve();
        let form = "content-type: application/x-www-form-urlencoded\r\n".to_owned();
        let json = format!("content-type: application/json\r\nx-service-key: {key}\r\n");
        for (path, headers) in
            [("/status/none/unlock", form), ("/rpc/monitor.v1.MonitorService/ListMonitors", json)]
        {
            let mut kept = OpenConnection::open(server.address);
            write!(
            kept.0,
            "POST {path} HTTP/1.1\r\nhost: a\r\n{headers}transfer-encoding: chunked\r\n\r\nZZ\r\n{{}}\r\n"
        )
        .unwrap();
            assert_eq!(kept.read().0, 400, "{path}");
        }
    });
}

#[test]
fn expect_continue_client_is_rejected_immediately() {
    attack(|| {
        let home = Home::with_database();
        let server = home.serve();
        let mut kept = OpenConnection::open(server.address);
        kept.0
        .write_all(b"POST /v1/whoami HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n")
        .unwrap();
        let (status, head) = kept.read();
        assert_eq!(status, 405, "{head}");
        assert!(head.contains("connection: close"), "{head}");
        kept.0.shutdown(Shutdown::Write).unwrap();
        assert_eq!(kept.0.read(&mut [0]).unwrap(), 0);
    });
}

// issue 16, point 13: the mutation ran, but its outcome could not be returned
#[test]
fn grpc_over_http1_is_rejected_without_execution() {
    attack(|| {
        let (home, key) = Home::with_key();
        let server = home.serve();
        let mut kept = OpenConnection::open(server.address);
        let create = "/monitor.v1.MonitorService/CreateTcpMonitor";
        let message = b"\x0a\x0e\x12\x01a\x1a\x05b:443\x22\x0230";
        let framed = [&[0, 0, 0, 0, message.len() as u8][..], message].concat();
        for content_type in ["application/grpc", "application/grpc+proto", "Application/gRPC; x=y"]
        {
            let headers =
                format!("x-service-key: {key}\r\ncontent-type: {content_type}\r\nte: trailers\r\n");
            let (status, head) = kept.send("POST", create, &headers, &framed);
            assert_eq!(status, 505, "{head}");
        }
        let listed = server.rpc(&key, "ListMonitors", &serde_json::json!({}));
        assert_eq!(listed["totalSize"], 0);
    });
}
