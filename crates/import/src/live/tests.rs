//! Each service is read to its end, and the token goes only to its address.

use serde_json::json;

use super::*;

fn live(peer: Peer) -> Live {
    let service = LiveService::of(peer).unwrap();
    Live::new(service, Some("https://api.example/"), Secret::new("t0k".to_owned()))
}

/// Reads everything with these answers, and returns the requests as method, URL and body.
fn read(peer: Peer, answer: impl Fn(&ApiRequest) -> Value) -> Vec<String> {
    let mut live = live(peer);
    let mut requests = Vec::new();
    while let Some(request) = live.next_request().unwrap() {
        requests.push(format!("{request:?} {}", request.body.expose()).trim_end().to_owned());
        live.take(answer(&request));
    }
    requests
}

#[test]
fn lists_of_openstatus_lead_to_details() {
    let requests = read(Peer::OpenStatus, |request| {
        if request.url.ends_with("/ListMonitors") {
            json!({ "totalSize": 150 })
        } else if request.url.ends_with("/ListNotifications") {
            json!({ "notifications": [{ "id": "7" }, { "id": "../8" }], "totalSize": 2 })
        } else {
            json!({})
        }
    });
    let rpc = "POST https://api.example/rpc/openstatus";
    let expected = [
        format!("{rpc}.monitor.v1.MonitorService/ListMonitors {{\"limit\":100,\"offset\":0}}"),
        format!(
            "{rpc}.notification.v1.NotificationService/ListNotifications {{\"limit\":100,\"offset\":0}}"
        ),
        format!(
            "{rpc}.status_page.v1.StatusPageService/ListStatusPages {{\"limit\":100,\"offset\":0}}"
        ),
        format!("{rpc}.monitor.v1.MonitorService/ListMonitors {{\"limit\":100,\"offset\":100}}"),
        format!("{rpc}.notification.v1.NotificationService/GetNotification {{\"id\":\"7\"}}"),
    ];
    assert_eq!(requests, expected);
}

#[test]
fn next_page_at_another_address_is_ignored() {
    let requests = read(Peer::BetterStack, |request| {
        let next = match request.url.as_str() {
            "https://api.example/api/v2/monitors" => "https://api.example/api/v2/monitors?page=2",
            "https://api.example/api/v2/heartbeats" => {
                "https://evil.example/api/v2/heartbeats?page=2"
            }
            "https://api.example/api/v3/incidents" => "https://api.example.evil/",
            _ => "",
        };
        let data =
            if request.url.ends_with("/status-pages") { json!([{ "id": "1" }]) } else { json!([]) };
        json!({ "data": data, "pagination": { "next": next } })
    });
    let expected = [
        "monitors",
        "monitor-groups",
        "heartbeats",
        "status-pages",
        "../v3/incidents",
        "monitors?page=2",
        "status-pages/1/sections",
        "status-pages/1/resources",
        "status-pages/1/status-reports",
    ];
    let expected = expected.map(|path| match path.strip_prefix("../") {
        Some(path) => format!("GET https://api.example/api/{path}"),
        None => format!("GET https://api.example/api/v2/{path}"),
    });
    assert_eq!(requests, expected);
}

#[test]
fn uptimerobot_is_read_by_offset() {
    let requests = read(Peer::UptimeRobot, |request| {
        let is_first = request.body.expose().contains("offset=0");
        json!({ "stat": "ok", "pagination": { "total": if is_first { 51 } else { 0 } } })
    });
    assert_eq!(requests.len(), 8);
    let first = "POST https://api.example/v2/getMonitors api_key=t0k&format=json&limit=50&offset=0\
        &alert_contacts=1&mwindows=1&custom_http_headers=1&custom_http_statuses=1\
        &http_request_details=1&auth_type=1&ssl=1";
    assert_eq!(requests[0], first);
    assert_eq!(requests[4].split_once("offset=").unwrap().1.split('&').next(), Some("50"));
}

#[test]
fn statuspage_is_read_until_a_list_is_short() {
    let requests = read(Peer::Statuspage, |request| {
        if request.url.ends_with("/v1/pages") {
            json!([{ "id": "p1" }])
        } else if request.url.contains("/components?page=1&") {
            json!(vec![json!({}); 100])
        } else {
            json!([])
        }
    });
    let of_page = |path: &str, page: u32| {
        format!("GET https://api.example/v1/pages/p1/{path}?page={page}&per_page=100&limit=100")
    };
    let expected = [
        "GET https://api.example/v1/pages".to_owned(),
        of_page("component-groups", 1),
        of_page("components", 1),
        of_page("incidents", 1),
        of_page("subscribers", 1),
        of_page("components", 2),
    ];
    assert_eq!(requests, expected);
}

#[test]
fn endless_list_is_stopped() {
    let mut live = live(Peer::UptimeRobot);
    let error = loop {
        match live.next_request() {
            Ok(Some(_)) => live.take(json!({ "total": u64::MAX / 2 })),
            Ok(None) => panic!("the list never ends"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.starts_with("`https://api.example` needs more than 5000 requests"), "{error}");
}

#[test]
fn request_does_not_print_its_token() {
    for peer in [Peer::OpenStatus, Peer::BetterStack, Peer::UptimeRobot, Peer::Statuspage] {
        let request = live(peer).next_request().unwrap().unwrap();
        assert!(!format!("{request:?}").contains("t0k"));
    }
    assert_eq!(LiveService::of(Peer::Gatus), None);
}
