//! A `terraform` with the example provider, and configurations with one note.

use std::path::PathBuf;

use terraform_plugin::harness::{ProviderUnderTest, Terraform};

/// Address of the resource in the tests.
pub(crate) const NOTE: &str = "notebook_note.main";

/// Creates a folder with an empty notebook.
pub(crate) fn terraform() -> Terraform {
    let provider =
        ProviderUnderTest::new("registry.terraform.io/example/notebook", program("notebook"));
    Terraform::new(&[provider]).expect("`terraform` is on the `PATH`")
}

/// Returns a configuration with the provider and one note with these lines.
pub(crate) fn note(lines: &str) -> String {
    whole(&format!("resource \"notebook_note\" \"main\" {{\n{lines}\n}}\n"))
}

/// Returns a configuration with the provider and `rest`.
pub(crate) fn whole(rest: &str) -> String {
    format!(
        r#"
terraform {{
  required_providers {{
    notebook = {{ source = "example/notebook" }}
  }}
}}
provider "notebook" {{
  file = "${{path.module}}/notes.json"
}}
{rest}"#
    )
}

/// Returns the path of an example's program. Cargo builds examples next to the tests.
pub(crate) fn program(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test has an executable");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("tests are two folders deep");
    let program =
        folder.join("examples").join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "build it: cargo build -p terraform-plugin --example {example}");
    program
}
