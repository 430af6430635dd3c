//! Regions are listed with their probes and health.

use rules::Region;
use testkit::person::Person;
use testkit::server::TestServer;
use tokio::net::TcpListener;

use super::settings::between;
use crate::pipeline::{PERIOD, Watched};
use crate::probes::{register, wait_for_health};

/// Returns the row of a region.
async fn row(person: &Person, region: Region) -> String {
    let page = person.get("/w/acme/regions").await.text();
    between(&page, &format!("<td data-label=\"ID\"><code>{region}</code></td>"), "</tr>").to_owned()
}

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

// issue 18, point 5: "regions and probes with health"
#[tokio::test]
async fn stalled_and_disconnected_regions_say_why() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let watched = Watched::start().await;
    let ada = Person::set_up(&watched.server).await;
    register(&watched.server, 1, &[Region::FlySin]).await;
    watched.monitor(&format!("http://{}/", silent.local_addr().unwrap())).await;
    let _running = silent.accept().await.unwrap();
    // An attempt may take 120 s.
    watched.server.advance(8 * PERIOD);
    wait_for_health(&watched.server, "fly-ams", "stalled").await;
    wait_for_health(&watched.server, "fly-sin", "disconnected").await;
    for (region, health, why) in [
        (Region::FlyAms, "Stalled", "Checks are due here, but none ends."),
        (Region::FlySin, "Disconnected", "Its probe is not connected, so nothing is checked here."),
        (Region::FlyIad, "Healthy", ""),
    ] {
        let row = row(&ada, region).await;
        assert!(row.contains(&format!("<span>{health}")) && row.contains(why), "{region}: {row}");
    }
    let page = ada.get("/w/acme/regions").await.text();
    assert!(page.contains("<dt>In trouble</dt><dd>2</dd>"), "{page}");
}
