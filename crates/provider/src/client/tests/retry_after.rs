//! Pauses that responses ask for, and responses of proxies that are final.

use super::*;

#[tokio::test]
async fn restart_without_a_pause_keeps_the_backoff() {
    let gone = || answer("503 Service Unavailable", "retry-after: 0\r\n", b"");
    let fake = Fake::start([gone(), ok_response()]).await;
    let policy = Policy { first_pause: Duration::from_millis(20), ..Policy::new(1) };
    let client = Client { policy, ..fake.client() };
    read(&client).await.unwrap();
    let quiet = client.pause.lock().unwrap().expect("the response asked for a pause");
    assert!(quiet.length >= policy.first_pause / 2, "{:?}", quiet.length);
}

#[tokio::test]
async fn plain_400_of_a_proxy_is_final() {
    let bad = answer("400 Bad Request", "content-type: text/html\r\n", b"<html>");
    let fake = Fake::start([bad]).await;
    let failure = read(&fake.client()).await.unwrap_err();
    assert_eq!(fake.requests().len(), 1);
    insta::assert_snapshot!(describe(&failure, &fake), @"http://HOST/rpc does not respond like the service: HTTP error 400. Check `base_url` of the provider (or SERVICE_API_URL); it usually ends in /rpc.");
}

#[test]
fn wait_of_a_moment_too_long_is_explained() {
    let client = client("http://127.0.0.1:1", 0);
    let limited = rpc::resource_exhausted("too many calls", Duration::from_secs(1));
    let requested_wait = Some(retry::RETRY_AFTER_MAX + Duration::from_millis(1));
    let repeat = RetrySafety::Safe;
    let (settings, time, unclear) = (client.settings(), rpc::CALL_TIMEOUT, false);
    let context = CallContext { settings, attempts: 1, requested_wait, repeat, time, unclear };
    let text = explain(&limited, &context).to_string();
    assert!(text.contains("Retry after 301 s, which is longer than the 300 s"), "{text}");
}
