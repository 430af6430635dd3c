//! Log lines of a request. A separate test binary, because a log belongs to a whole process and
//! other tests would lose lines while they register their call sites.

use std::sync::{Arc, Mutex};

use http::Request;
use testkit::server::TestServer;

#[tokio::test]
async fn log_line_contains_the_request_id() {
    // design: §4: the ID in an error lets the operator find its log lines
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
        String::from_utf8(self.0.lock().expect("no thread panics while it holds the lock").clone())
            .expect("a log is text")
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no thread panics while it holds the lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
