//! Regions are listed with their probes and health.

use testkit::person::Person;
use testkit::server::TestServer;

#[tokio::test]
async fn every_region_is_listed_with_its_probe() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = ada.get("/w/acme/regions").await.text();
    for region in rules::Region::PUBLIC {
        assert!(page.contains(&format!("<code>{region}</code>")), "{region}");
    }
    assert!(page.contains("this server") && page.contains("Amsterdam, NL"), "{page}");
}
