//! The transport: versions, headers, and malformed bodies.

use http::Method;
use rules::Scope;
use serde_json::{Value, json};
use testkit::server::TestServer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{VERSION, ask, send};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

#[tokio::test]
async fn initialize_offers_tools_without_a_session() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    let params = json!({
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let message = ask(&server, &caller, "initialize", params.clone()).await;
    let result = &message["result"];
    assert_eq!(result["protocolVersion"], VERSION);
    assert_eq!(result["capabilities"], json!({ "tools": {} }));
    assert_eq!(result["serverInfo"]["name"], "aloft");
    assert!(result["instructions"].as_str().unwrap().contains("untrusted"));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let reply = send(&server, &caller, body.to_string(), &[]).await;
    assert!(!reply.headers.contains_key("mcp-session-id"), "any replica answers the next request");
    let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let reply = send(&server, &caller, done, &[]).await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (202, 0));
    let ping = ask(&server, &caller, "ping", json!({})).await;
    assert_eq!(ping, json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
}

#[tokio::test]
async fn newest_version_is_served_by_discovery() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let ask = async |method: &str| {
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": meta } });
        let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
        send(&server, &caller, body.to_string(), &headers).await
    };
    let found = ask("server/discover").await;
    assert_eq!(found.status, 200, "{found}");
    let versions = found.json()["result"]["supportedVersions"].clone();
    assert!(versions.as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    let listed = ask("tools/list").await;
    assert!(listed.json()["result"]["tools"].is_array(), "{listed}");
}

#[tokio::test]
async fn invalid_message_names_its_mistake() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    let mut shown = Vec::new();
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    for body in [
        "",
        "{",
        "nonsense",
        "null",
        "7",
        &format!("[{LIST}]"),
        "{}",
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        &deep,
    ] {
        let reply = send(&server, &caller, body.to_owned(), &[]).await;
        let error = &reply.json()["error"];
        shown.push(format!("{} {} {}", reply.status.as_u16(), error["code"], error["message"]));
    }
    insta::assert_snapshot!(shown.join("\n"), @r#"
    400 -32700 "the body is not JSON: EOF while parsing a value at line 1 column 0"
    400 -32700 "the body is not JSON: EOF while parsing an object at line 1 column 1"
    400 -32700 "the body is not JSON: expected ident at line 1 column 2"
    400 -32600 "the body must be a JSON object"
    400 -32600 "the body must be a JSON object"
    400 -32600 "batches are not supported; send one message per request"
    400 -32600 "`jsonrpc` must be \"2.0\""
    400 -32600 "`jsonrpc` must be \"2.0\""
    400 -32600 "`method` must be the name of a method, such as \"tools/list\""
    400 -32600 "`method` must be the name of a method, such as \"tools/list\""
    400 -32600 "`id` must be a text or a number"
    400 -32600 "stateless server does not accept JSON-RPC responses"
    400 -32700 "the body is not JSON: recursion limit exceeded at line 1 column 128"
    "#);
}

#[tokio::test]
async fn unknown_method_and_tool_are_protocol_errors() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    let mut shown = Vec::new();
    for (method, params) in [
        ("resources/list", json!({})),
        ("nonsense/list", json!({})),
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": "list_monitor" })),
        ("tools/call", json!({ "name": "reboot" })),
        ("tools/call", json!({ "name": "whoami", "arguments": [] })),
    ] {
        let message = ask(&server, &caller, method, params).await;
        shown.push(format!("{} {}", message["error"]["code"], message["error"]["message"]));
    }
    insta::assert_snapshot!(shown.join("\n"), @r#"
    -32601 "resources/list"
    -32601 "unknown method `nonsense/list`; this server has tools/list and tools/call"
    -32602 "`params` of tools/call must have `name`, a text, and `arguments`, an object"
    -32602 "unknown tool `list_monitor`; did you mean `list_monitors`?"
    -32602 "unknown tool `reboot`; tools/list has all tools"
    -32602 "`params` of tools/call must have `name`, a text, and `arguments`, an object"
    "#);
}

#[tokio::test]
async fn wrong_header_is_refused() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    for (header, value, status) in [
        ("accept", "application/json", 406),
        ("accept", "text/html", 406),
        ("accept", "application/json;q=0, text/event-stream", 406),
        ("content-type", "text/plain", 415),
        ("mcp-protocol-version", "1999-01-01", 400),
        ("mcp-protocol-version", "2025-03-26", 200),
        ("mcp-session-id", "of-another-server", 200),
    ] {
        let reply = send(&server, &caller, LIST, &[(header, value)]).await;
        assert_eq!(reply.status.as_u16(), status, "{header}: {value}: {reply}");
    }
}

#[tokio::test]
async fn other_methods_than_post_are_refused() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::PATCH] {
        let reply = caller.send(method.clone(), "/mcp", "application/json", "").await;
        assert_eq!(
            (reply.status.as_u16(), &reply.headers["allow"]),
            (405, &"POST".parse().unwrap()),
            "{method}"
        );
    }
}

#[tokio::test]
async fn long_message_is_accepted_up_to_its_limit() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    let of_bytes = |bytes: usize| {
        let params = json!({ "name": "get_monitor", "arguments": { "id": "x".repeat(bytes) } });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
    };
    let reply = send(&server, &caller, of_bytes(1 << 19), &[]).await;
    assert_eq!(reply.json()["result"]["isError"], json!(true), "{}", reply.status);
    assert!(reply.body.len() < 4096, "the ID is shortened");
    let reply = send(&server, &caller, of_bytes(1 << 20), &[]).await;
    assert_eq!(reply.status, 413, "{reply}");
}

#[tokio::test]
async fn unfinished_body_does_not_occupy_others() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    let mut slow = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nx-service-key: {}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: 46\r\n\r\n",
        server.address(),
        caller.key().unwrap(),
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&LIST.as_bytes()[..20]).await.unwrap();
    assert_eq!(send(&server, &caller, LIST, &[]).await.status, 200);
    slow.write_all(&LIST.as_bytes()[20..]).await.unwrap();
    let mut start = [0; 15];
    slow.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200 OK");
}

#[tokio::test]
async fn aborted_body_changes_nothing() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let params = json!({
        "name": "create_tcp_monitor",
        "arguments": { "monitor": { "name": "half", "uri": "localhost:1", "periodicity": "1h" } },
    });
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let mut half = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nx-service-key: {}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        server.address(),
        caller.key().unwrap(),
        body.len() + 1,
    );
    half.write_all(head.as_bytes()).await.unwrap();
    half.write_all(body.as_bytes()).await.unwrap();
    half.shutdown().await.unwrap();
    let mut answer = Vec::new();
    half.read_to_end(&mut answer).await.unwrap();
    assert!(!answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    let monitors: Value = caller.rpc("ListMonitors", json!({})).await.json();
    assert_eq!(monitors["totalSize"], json!(0), "{monitors}");
}
