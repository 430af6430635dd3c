//! Collects the pages with their examples, and finds examples that no page uses.

use std::collections::BTreeSet;

use super::page::{Page, fenced};
use super::{Documentation, Files, INDEX, Kind, arguments};
use crate::function::Signature;
use crate::resource::Identity;
use crate::schema::Schema;

/// Path of the provider's example.
const PROVIDER: &str = "provider/provider.tf";
/// Ways to import by id: file name of the example, its language, and its introduction.
const IMPORTS: [(&str, &str, &str); 2] = [
    (
        "import-by-string-id.tf",
        "terraform",
        "With an [`import` block](https://developer.hashicorp.com/terraform/language/block/import):",
    ),
    ("import.sh", "shell", "On the command line:"),
];
/// Introduction of an import by identity.
const BY_IDENTITY: &str = "With an `import` block and an identity (Terraform 1.12 and newer):";

pub(super) struct PageSet<'a> {
    provider: &'a str,
    examples: &'a Files,
    used: BTreeSet<String>,
    missing: Vec<String>,
    pages: Files,
}

impl<'a> PageSet<'a> {
    pub(super) fn new(provider: &'a str, examples: &'a Files) -> Self {
        let (used, missing, pages) = (BTreeSet::new(), Vec::new(), Files::new());
        Self { provider, examples, used, missing, pages }
    }

    /// Adds the page of the provider itself.
    pub(super) fn provider(&mut self, schema: &Schema) {
        let title = format!("{} Provider", self.provider);
        let mut sections = self.usage(PROVIDER.to_owned());
        sections.push(arguments::schema(&schema.body));
        self.pages.insert(INDEX.to_owned(), schema_page(title.clone(), title, schema, sections));
    }

    /// Adds the page of a resource, with each way to import it that has an example.
    pub(super) fn resource(&mut self, name: &str, schema: &Schema, identity: Option<&Identity>) {
        let mut ways = Vec::new();
        let folder = format!("{}/{name}", Kind::Resource.folder());
        for (file, language, how) in IMPORTS {
            let example = self.take_example(&format!("{folder}/{file}"));
            ways.extend(example.map(|example| format!("{how}\n\n{}", fenced(language, example))));
        }
        if let Some(identity) = identity {
            let example = self.require_example(format!("{folder}/import-by-identity.tf"));
            ways.extend(example.map(|example| {
                let example = fenced("terraform", example);
                format!("{BY_IDENTITY}\n\n{example}\n\n{}", arguments::identity(identity))
            }));
        }
        let import = (!ways.is_empty()).then(|| format!("## Import\n\n{}", ways.join("\n\n")));
        self.add(Kind::Resource, name, schema, import);
    }

    /// Adds the page of any other kind with a schema.
    pub(super) fn other(&mut self, kind: Kind, name: &str, schema: &Schema) {
        self.add(kind, name, schema, None);
    }

    /// Adds the page of a function.
    pub(super) fn function(&mut self, name: &str, signature: &Signature) {
        let mut sections = self.usage(example_path(Kind::Function, name));
        sections.push(arguments::function(name, signature));
        let described = Some(&signature.description).filter(|text| !text.is_empty());
        let page = Page {
            title: format!("{name} function - {}", self.provider),
            headline: format!("function: {name}"),
            summary: &signature.summary,
            description: described.unwrap_or(&signature.summary),
            deprecated: signature.deprecated.as_deref(),
            sections,
        };
        self.pages.insert(format!("{}/{name}.md", Kind::Function.folder()), page.text());
    }

    pub(super) fn finish(self) -> Documentation {
        let unused = self.examples.keys().filter(|path| !self.used.contains(*path));
        let unused = unused.cloned().collect();
        Documentation { pages: self.pages, missing: self.missing, unused }
    }

    fn add(&mut self, kind: Kind, name: &str, schema: &Schema, last: Option<String>) {
        let mut sections = self.usage(example_path(kind, name));
        sections.push(arguments::schema(&schema.body));
        sections.extend(last);
        let title = format!("{name} {} - {}", kind.word(), self.provider);
        let headline = format!("{name} ({})", kind.word());
        let prefix = format!("{}_", self.provider);
        let path = format!("{}/{}.md", kind.folder(), name.strip_prefix(&prefix).unwrap_or(name));
        self.pages.insert(path, schema_page(title, headline, schema, sections));
    }

    /// Returns the section with the example, if the example exists.
    fn usage(&mut self, path: String) -> Vec<String> {
        let example = self.require_example(path);
        let usage = |text| format!("## Example Usage\n\n{}", fenced("terraform", text));
        example.map(usage).into_iter().collect()
    }

    /// Takes an example, and records it as missing if it does not exist.
    fn require_example(&mut self, path: String) -> Option<&'a str> {
        let found = self.take_example(&path);
        if found.is_none() {
            self.missing.push(path);
        }
        found
    }

    /// Takes an optional example.
    fn take_example(&mut self, path: &str) -> Option<&'a str> {
        let found = self.examples.get(path)?;
        self.used.insert(path.to_owned());
        Some(found)
    }
}

fn example_path(kind: Kind, name: &str) -> String {
    format!("{}/{name}/{}", kind.folder(), kind.example())
}

fn schema_page(title: String, headline: String, schema: &Schema, sections: Vec<String>) -> String {
    let (summary, deprecated) = (schema.description.as_str(), schema.deprecated.as_deref());
    Page { title, headline, summary, description: summary, deprecated, sections }.text()
}
