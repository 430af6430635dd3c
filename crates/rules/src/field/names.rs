//! Names of resources and fields outside of Terraform.

use super::Resource;

/// Beginning of the names of resources in Terraform.
const PREFIX: &str = "service_";

impl Resource {
    /// Returns the name without the prefix of Terraform, such as `http_monitor`.
    pub fn kind(&self) -> &'static str {
        self.name.strip_prefix(PREFIX).unwrap_or(self.name)
    }
}

/// Returns the name of a field in JSON: `retryCount` for `retry_count`.
pub fn json_name(field: &str) -> String {
    let mut words = field.split('_');
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables;

    #[test]
    fn names_have_forms_outside_of_terraform() {
        assert_eq!(tables::HTTP_MONITOR.kind(), "http_monitor");
        assert_eq!(tables::WORKSPACE.kind(), "workspace");
        assert_eq!(json_name("status_code_assertions"), "statusCodeAssertions");
        assert_eq!(json_name("url"), "url");
    }
}
