//! The blocks of code on the pages of the reference.

use std::collections::BTreeMap;
use std::fs;

/// Folder of the pages.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference");

/// A fenced block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Page, such as `monitor.v1.md`.
    pub(super) page: String,
    /// Headline of its section.
    section: String,
    /// Language, such as `sh`.
    language: String,
    pub(super) text: String,
}

/// The blocks of all pages.
pub(super) struct Pages(Vec<Block>);

impl Pages {
    pub(super) fn read() -> Self {
        let mut pages = BTreeMap::new();
        for entry in fs::read_dir(FOLDER).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "md") {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                pages.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
        Self(pages.iter().flat_map(|(page, text)| blocks(page, text)).collect())
    }

    /// Returns the block of a method in a language.
    pub(super) fn of_method(&self, path: &str, language: &str) -> Option<&Block> {
        let (service, method) = path.split_once('/')?;
        let page = format!("{}.md", service.rsplit_once('.')?.0);
        let mut own = self.0.iter().filter(|block| block.page == page && block.section == method);
        own.find(|block| block.language == language)
    }

    /// Returns the block of a language at the top of every page of a service, which is the same on each.
    pub(super) fn set_up(&self, language: &str) -> &str {
        let own = self.0.iter().filter(|it| it.page.contains(".v1.") && it.section.is_empty());
        let own = own.filter(|it| it.language == language);
        let mut texts: Vec<&str> = own.map(|block| block.text.as_str()).collect();
        texts.dedup();
        let [text] = *texts else { panic!("pages begin with different blocks: {texts:?}") };
        text
    }

    /// Returns the blocks of a language on pages that belong to no service.
    pub(super) fn beside_methods(&self, language: &str) -> Vec<Block> {
        let of_service = |block: &Block| block.page.contains(".v1.");
        // Settings of an operator's shell. The tests of the guides cover similar blocks.
        let of_operator = |block: &Block| block.text.contains("export ");
        let own = self.0.iter().filter(|block| block.language == language && !of_service(block));
        own.filter(|block| !of_operator(block)).cloned().collect()
    }
}

fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut section = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push(Block {
                page: page.to_owned(),
                section: section.clone(),
                language: language.to_owned(),
                text: inside.join("\n") + "\n",
            });
        } else if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut section);
        }
    }
    found
}
