//! A server and a folder in which `terraform` runs against it.

use rules::Scope;
use serde_json::{Value, json};
use terraform_plugin::harness::{
    PlanOutput, PlannedAction, ProviderUnderTest, StateOutput, Terraform,
};
use testkit::pem;
use testkit::server::{Caller, TestServer};
use testkit::tools::TerraformHost;

/// The beginning of every configuration. Key and address come from the environment.
const PREAMBLE: &str = r#"
terraform {
  required_providers {
    service = { source = "aloft/service" }
  }
}
"#;

/// The file in which the harness stores a plan.
const PLAN: &str = "made.tfplan";

/// A server and a Terraform that uses it.
pub(crate) struct World {
    pub(crate) server: TestServer,
    pub(crate) terraform: Terraform,
}

impl World {
    /// Starts a server whose clock the test controls. Terraform has a write key.
    pub(crate) async fn start() -> Self {
        Self::with_server(TestServer::start().await)
    }

    /// Creates a Terraform for a server.
    pub(crate) fn with_server(server: TestServer) -> Self {
        let program = env!("CARGO_BIN_EXE_terraform-provider-service");
        let provider = ProviderUnderTest::new("registry.terraform.io/aloft/service", program);
        let terraform = Terraform::new(&[provider]).unwrap();
        for (name, text) in [("client.pem", pem::CERTIFICATE), ("client.key", pem::KEY)] {
            terraform.write(name, text).unwrap();
        }
        let mut world = Self { server, terraform };
        world.call_as(Scope::Write);
        world
    }

    /// Starts a server, with a program in place of the `terraform` of the `PATH`.
    pub(crate) async fn start_on(host: &TerraformHost) -> Self {
        let mut world = Self::start().await;
        world.terraform.with_program(&host.program);
        world
    }

    /// Gives Terraform a key of this scope.
    pub(crate) fn call_as(&mut self, scope: Scope) {
        let caller = self.server.caller(scope);
        let url = format!("http://{}/rpc", self.server.address());
        self.terraform.set("SERVICE_API_URL", url).set("SERVICE_API_TOKEN", caller.key().unwrap());
    }

    /// Writes the configuration.
    pub(crate) fn configure(&self, body: &str) {
        self.terraform.configure(&format!("{PREAMBLE}{body}")).unwrap();
    }

    /// Applies a configuration. The next plan must be empty.
    pub(crate) async fn settle(&self, body: &str) -> StateOutput {
        self.configure(body);
        let applied =
            self.terraform.apply().await.unwrap_or_else(|error| panic!("{error}\n{body}"));
        self.must_be_settled().await;
        applied.state
    }

    /// Plans a configuration.
    pub(crate) async fn plan(&self, body: &str) -> PlanOutput {
        self.configure(body);
        self.terraform.plan().await.unwrap_or_else(|error| panic!("{error}\n{body}"))
    }

    /// Asserts that a plan is empty.
    pub(crate) async fn must_be_settled(&self) {
        let asked = ["plan", "-input=false", "-detailed-exitcode", "-lock=false", "-no-color"];
        let output = self.terraform.execute(&asked).await.unwrap();
        if output.code != Some(0) {
            // Again, for a readable message.
            let plan = self.terraform.plan().await.unwrap_or_else(|error| panic!("{error}"));
            panic!("{}\n{}", plan.summary(), output.stdout);
        }
    }

    /// Applies the latest plan.
    pub(crate) async fn apply_planned(&self) {
        let applied = self.terraform.run(&["apply", "-input=false", "-no-color", PLAN]).await;
        applied.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Returns the errors of `validate`, one per line, with their locations.
    pub(crate) async fn validation_errors(&self, body: &str) -> Vec<String> {
        self.configure(body);
        let shown = self.terraform.validate().await.unwrap();
        let errors = shown.into_iter().filter(|shown| shown.severity == "error");
        let mut lines: Vec<_> = errors.map(|shown| format!("{shown}")).collect();
        lines.sort();
        lines
    }

    /// Imports all resources of a state into an empty one by import blocks. Asserts that nothing else is
    /// planned, except one update of the addresses in `but`.
    pub(crate) async fn import_all(
        &self,
        body: &str,
        state: &StateOutput,
        but: &[impl AsRef<str>],
    ) {
        let managed = state.addresses().into_iter().filter(|address| !address.starts_with("data."));
        let blocks = managed.map(|address| {
            let id = import_id(address, state.values(address));
            format!("import {{\n  to = {address}\n  id = \"{id}\"\n}}\n")
        });
        let blocks: String = blocks.collect();
        self.terraform.remove_state().unwrap();
        let plan = self.plan(&format!("{body}\n{blocks}")).await;
        for change in &plan.changes {
            let spared = but.iter().any(|address| change.address == address.as_ref());
            let fine = change.action == PlannedAction::Nothing
                || change.action == PlannedAction::Read
                || (spared && change.action == PlannedAction::Update);
            assert!(fine, "{}", plan.summary());
            assert!(change.importing.is_some() || change.address.starts_with("data."));
        }
        self.apply_planned().await;
        self.configure(body);
        self.must_be_settled().await;
    }

    /// Destroys everything. The server must be empty.
    pub(crate) async fn destroy(&self) {
        let applied = self.terraform.destroy().await.unwrap_or_else(|error| panic!("{error}"));
        assert!(applied.state.is_empty());
        for (service, method) in [
            ("monitor.v1.MonitorService", "ListMonitors"),
            ("notification.v1.NotificationService", "ListNotifications"),
            ("status_page.v1.StatusPageService", "ListStatusPages"),
        ] {
            assert_eq!(self.rpc(service, method, json!({})).await["totalSize"], 0, "{method}");
        }
    }

    /// Calls the server outside Terraform.
    pub(crate) async fn rpc(&self, service: &str, method: &str, request: Value) -> Value {
        let reply = self.writer().call(service, method, request).await;
        assert_eq!(reply.status, 200, "{reply}");
        reply.json()
    }

    pub(crate) fn writer(&self) -> Caller {
        self.server.caller(Scope::Write)
    }
}

/// Returns the ID for the import of a resource.
pub(crate) fn import_id(address: &str, values: &Value) -> String {
    let id = values["id"].as_str().unwrap();
    if address.starts_with("service_status_page_component") {
        return format!("{}/{id}", values["page_id"].as_str().unwrap());
    }
    id.to_owned()
}
