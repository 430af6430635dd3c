//! What the log says of a request. A binary of its own: a log belongs to a whole process, and beside
//! other tests lines would be lost while they make its places known.

use std::sync::{Arc, Mutex};

use http::Request;
use testkit::server::TestServer;

#[tokio::test]
async fn a_line_of_the_log_says_to_which_request_it_belongs() {
    // design: §4, errors: who reports an id is helped by it
    let log = Log::default();
    let writer = log.clone();
    let logger = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    tracing::subscriber::set_global_default(logger).unwrap();
    let server = TestServer::start().await;
    server.running().app().store.clone().close().await.unwrap();
    let key = server.caller(rules::Scope::Read);
    let request = Request::post("/rpc/monitor.v1.MonitorService/ListMonitors")
        .header("host", "test")
        .header("content-type", "application/json")
        .header("x-request-id", "mine-1");
    let reply = key.request(request.body("{}".into()).unwrap()).await;
    assert_eq!(reply.status, 503);
    let lines = log.text();
    let line = lines
        .lines()
        .find(|line| line.contains("failed to look up an API key"))
        .unwrap_or_default();
    assert!(line.contains("ERROR") && line.contains("mine-1"), "{lines}");
}

/// Where the log goes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no holder panics").clone()).expect("a log is text")
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no holder panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
