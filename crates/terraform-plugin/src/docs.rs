//! Generates a provider's documentation in the registry's layout: Markdown pages made of its
//! schemas and examples. Guides are written by hand and not touched.
//! Layout: <https://developer.hashicorp.com/terraform/registry/providers/docs>
//!
//! ```no_run
//! # use terraform_plugin::{Catalog, Context, Object, Outcome, Provider, schema::Schema};
//! # struct Files;
//! # impl Provider for Files {
//! #     type Client = ();
//! #     fn schema(&self) -> Schema { Schema::default() }
//! #     fn catalog(&self) -> Catalog<()> { Catalog::new() }
//! #     async fn configure(&self, _: &Context<()>, _: Object) -> Outcome<()> { Ok(()) }
//! # }
//! use std::path::Path;
//! use terraform_plugin::docs::{Documentation, examples};
//!
//! let examples = examples(Path::new("examples"))?;
//! let documentation = Documentation::generate("files", &Files, &examples);
//! assert_eq!(documentation.missing, [""; 0]);
//! documentation.write(Path::new("docs"))?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod arguments;
mod describe;
mod page;
mod page_set;

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use crate::Provider;
use page_set::PageSet;

/// Path of the page of the provider itself.
const INDEX: &str = "index.md";

/// Texts by path below a folder, with `/` as separator.
pub type Files = BTreeMap<String, String>;

/// The documentation of a provider.
#[derive(Clone, Debug, Default)]
pub struct Documentation {
    /// All pages by path below the documentation's folder, such as `resources/disk.md`.
    pub pages: Files,
    /// Paths of missing examples. The provider and each thing it offers need one. Each resource
    /// with an identity also needs an example of an import by identity.
    pub missing: Vec<String>,
    /// Paths of examples that no page shows.
    pub unused: Vec<String>,
}

/// A kind of thing that a provider offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Resource,
    DataSource,
    Function,
    List,
    Ephemeral,
    Action,
}

impl Documentation {
    /// Generates the pages of a provider. The names of its resources begin with `name`.
    ///
    /// Examples have the paths that the registry's own tool expects: `provider/provider.tf`;
    /// `resources/<name>/resource.tf` with `import.sh`, `import-by-string-id.tf` and
    /// `import-by-identity.tf`; `data-sources/<name>/data-source.tf`;
    /// `functions/<name>/function.tf`; `list-resources/<name>/list-resource.tfquery.hcl`;
    /// `ephemeral-resources/<name>/ephemeral-resource.tf`; `actions/<name>/action.tf`.
    ///
    /// Each attribute shows its description, the rules of its validators, and whether a change
    /// replaces the resource. It also shows its default, unless the description contains "by
    /// default".
    pub fn generate(name: &str, provider: &impl Provider, examples: &Files) -> Self {
        let mut pages = PageSet::new(name, examples);
        pages.provider(&provider.schema());
        let offered = provider.catalog().described();
        for (name, schema) in &offered.resources {
            pages.resource(name, schema, offered.identities.get(name));
        }
        for (kind, schemas) in [
            (Kind::DataSource, &offered.data_sources),
            (Kind::List, &offered.lists),
            (Kind::Ephemeral, &offered.ephemerals),
            (Kind::Action, &offered.actions),
        ] {
            for (name, schema) in schemas {
                pages.other(kind, name, schema);
            }
        }
        for (name, signature) in &offered.functions {
            pages.function(name, signature);
        }
        pages.finish()
    }

    /// Writes changed pages to a folder and removes pages of things that are no longer offered.
    /// Returns the paths of both.
    ///
    /// # Errors
    /// Fails if the folder cannot be read or written.
    pub fn write(&self, folder: &Path) -> io::Result<Vec<String>> {
        let outdated = self.outdated(folder)?;
        for name in &outdated {
            let path = folder.join(name);
            let Some(text) = self.pages.get(name) else {
                fs::remove_file(path)?;
                continue;
            };
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, text)?;
        }
        Ok(outdated)
    }

    /// Returns the paths of pages in a folder that are missing, outdated or superfluous.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    pub fn outdated(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut present = Files::new();
        for kind in Kind::ALL {
            read(&folder.join(kind.folder()), kind.folder(), &mut present)?;
        }
        if let Some(index) = text_of(&folder.join(INDEX))? {
            present.insert(INDEX.to_owned(), index);
        }
        let wanted = self.pages.iter().filter(|(name, text)| present.get(*name) != Some(*text));
        let left_over = present.keys().filter(|name| !self.pages.contains_key(*name));
        Ok(wanted.map(|(name, _)| name).chain(left_over).cloned().collect())
    }
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Resource,
        Self::DataSource,
        Self::Function,
        Self::List,
        Self::Ephemeral,
        Self::Action,
    ];

    /// Returns the folder of its pages and examples.
    const fn folder(self) -> &'static str {
        match self {
            Self::Resource => "resources",
            Self::DataSource => "data-sources",
            Self::Function => "functions",
            Self::List => "list-resources",
            Self::Ephemeral => "ephemeral-resources",
            Self::Action => "actions",
        }
    }

    /// Returns the file name of its example.
    const fn example(self) -> &'static str {
        match self {
            Self::Resource => "resource.tf",
            Self::DataSource => "data-source.tf",
            Self::Function => "function.tf",
            Self::List => "list-resource.tfquery.hcl",
            Self::Ephemeral => "ephemeral-resource.tf",
            Self::Action => "action.tf",
        }
    }

    /// Returns its name in headlines.
    const fn word(self) -> &'static str {
        match self {
            Self::Resource => "Resource",
            Self::DataSource => "Data Source",
            Self::Function => "function",
            Self::List => "List Resource",
            Self::Ephemeral => "Ephemeral Resource",
            Self::Action => "Action",
        }
    }
}

/// Reads all examples below a folder. A missing folder has none.
///
/// # Errors
/// Fails if a file or folder cannot be read.
pub fn examples(folder: &Path) -> io::Result<Files> {
    let mut found = Files::new();
    read(folder, "", &mut found)?;
    Ok(found)
}

/// Reads all texts below a folder. `above` is the prefix of their paths.
fn read(folder: &Path, above: &str, found: &mut Files) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(why) => return Err(why),
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = if above.is_empty() { name } else { format!("{above}/{name}") };
        if entry.file_type()?.is_dir() {
            read(&entry.path(), &name, found)?;
        } else if let Some(text) = text_of(&entry.path())? {
            found.insert(name, text);
        }
    }
    Ok(())
}

/// Returns the text of a file with `\n` line ends, if the file exists.
fn text_of(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.replace("\r\n", "\n"))),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests;
