//! Functions in configurations: their examples, and what they say of arguments that are none.

use serde_json::json;

use crate::examples::examples;
use crate::world::World;

#[tokio::test]
async fn every_example_of_a_function_is_applied_and_planned() {
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
async fn an_argument_that_is_no_word_is_named_with_those_there_are() {
    let world = World::start().await;
    world.configure("output \"o\" {\n  value = provider::service::regions(\"mars\")\n}\n");
    let error = world.terraform.plan().await.unwrap_err().to_string();
    assert!(error.contains("expected one of fly, koyeb, railway"), "{error}");
}
