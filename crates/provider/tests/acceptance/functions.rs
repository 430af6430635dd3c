//! Functions in configurations: their examples, and the errors of invalid arguments.

use serde_json::json;

use crate::examples::examples;
use crate::world::World;

#[tokio::test]
async fn function_examples_apply() {
    let world = World::start().await;
    for (name, example) in examples("functions", "function.tf") {
        let state = world.settle(&example).await;
        match name.as_str() {
            "periodicity_seconds" => assert_eq!(state.output("checks_per_day"), &json!(288)),
            "regions" => {
                let regions = state.value("service_http_monitor.everywhere", "regions");
                assert_eq!(regions.as_array().unwrap().len(), 7);
            }
            other => panic!("nobody holds the example of `{other}`"),
        }
        world.destroy().await;
    }
}

#[tokio::test]
async fn invalid_argument_names_the_allowed_values() {
    let world = World::start().await;
    world.configure("output \"o\" {\n  value = provider::service::regions(\"mars\")\n}\n");
    let error = world.terraform.plan().await.unwrap_err().to_string();
    assert!(error.contains("expected one of fly, koyeb, railway"), "{error}");
}
