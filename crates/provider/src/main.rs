//! The program that Terraform starts. Only this file reads the environment.

use std::process::ExitCode;

use aloft_provider::ServiceProvider;
use aloft_provider::settings::Environment;

/// The provider's source in configurations.
const ADDRESS: &str = "registry.terraform.io/aloft/service";

fn main() -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "a program reads its environment at its start")]
    let environment = Environment::from_variables(|name| std::env::var(name).ok());
    terraform_plugin::serve(ADDRESS, ServiceProvider { environment })
}
