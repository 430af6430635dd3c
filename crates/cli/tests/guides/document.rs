//! Parses a Markdown page: its blocks of code with their context, its headings and its links. The
//! tests decide how to use them.

use std::fs;

use crate::repository;

/// Extensions of files that a page may ask readers to save.
const FILES: [&str; 11] = [
    ".mjs",
    ".go",
    ".py",
    ".tf",
    ".toml",
    ".yaml",
    ".json",
    ".service",
    ".timer",
    ".conf",
    "Caddyfile",
];

/// A page.
pub(crate) struct Document {
    /// Path in the repository.
    pub(crate) path: String,
    text: String,
}

/// A fenced block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Page and line of its fence: `docs/guides/alerts.md:12`.
    pub(crate) place: String,
    /// Language, such as `sh`.
    pub(crate) language: String,
    pub(crate) text: String,
    /// Reason from the comment before it why it is not run.
    pub(crate) not_run: Option<String>,
    /// File name from the paragraph before it, if readers should save it.
    pub(crate) file: Option<String>,
}

impl Document {
    pub(crate) fn read(path: &str) -> Self {
        let file = repository().join(path);
        let text = fs::read_to_string(&file).unwrap_or_else(|why| panic!("{path}: {why}"));
        Self { path: path.to_owned(), text }
    }

    #[cfg(test)]
    pub(crate) fn parse(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns all blocks in order.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let (mut paragraph, mut not_run) = (String::new(), None);
        let mut lines = self.text.lines().enumerate();
        while let Some((at, line)) = lines.next() {
            if let Some(language) = line.strip_prefix("```") {
                let inside = lines.by_ref().map(|(_, line)| line);
                let inside: Vec<&str> =
                    inside.take_while(|line| !line.starts_with("```")).collect();
                blocks.push(Block {
                    place: format!("{}:{}", self.path, at + 1),
                    // The words after the language are for the renderer.
                    language: language.split(' ').next().unwrap_or_default().to_owned(),
                    text: inside.join("\n") + "\n",
                    not_run: not_run.take(),
                    file: file_in(&paragraph),
                });
                paragraph.clear();
            } else if let Some(reason) = line.strip_prefix("<!-- not run: ") {
                not_run = Some(reason.trim_end_matches(" -->").to_owned());
            } else if !line.is_empty() {
                if starts_paragraph(self.text.lines().nth(at.wrapping_sub(1))) {
                    paragraph.clear();
                }
                paragraph.push_str(line);
                paragraph.push('\n');
            }
        }
        blocks
    }

    /// Returns the anchors of its headings as in URLs, and explicit anchors.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        let prose = self.prose();
        for heading in prose.lines().filter(|line| line.starts_with('#')) {
            let text = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = text.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
            let anchor: String = kept.map(|it| if it == ' ' { '-' } else { it }).collect();
            let before = anchors.iter().filter(|it| **it == anchor).count();
            anchors.push(if before == 0 { anchor } else { format!("{anchor}-{before}") });
        }
        let given = prose.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        anchors.extend(given.map(str::to_owned));
        anchors
    }

    /// Returns the targets of links and pictures.
    pub(crate) fn links(&self) -> Vec<String> {
        let prose = without_code(&self.prose());
        let in_markdown = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let in_html = ["src=\"", "srcset=\"", "href=\""].into_iter().flat_map(|attribute| {
            prose.split(attribute).skip(1).filter_map(|rest| rest.split('"').next())
        });
        let words = |target: &str| target.split_whitespace().next().unwrap_or_default().to_owned();
        in_markdown.chain(in_html).map(words).collect()
    }

    /// Returns the text without fenced blocks and comments.
    fn prose(&self) -> String {
        let mut fenced = false;
        let mut prose = String::new();
        for line in self.text.lines() {
            let fence = line.trim_start().starts_with("```");
            if !fence && !fenced && !line.starts_with("<!--") {
                prose.push_str(line);
                prose.push('\n');
            }
            fenced ^= fence;
        }
        prose
    }
}

/// Returns whether the previous line ends a paragraph.
fn starts_paragraph(before: Option<&str>) -> bool {
    before.is_none_or(|line| line.is_empty() || line.starts_with("<!--"))
}

/// Returns the last file name in back-ticks.
fn file_in(paragraph: &str) -> Option<String> {
    let spans = paragraph.split('`').skip(1).step_by(2);
    let files = spans.filter(|span| FILES.iter().any(|ending| span.ends_with(ending)));
    files.last().map(str::to_owned)
}

/// Removes code spans, in which links do not count.
fn without_code(prose: &str) -> String {
    prose.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

#[test]
fn blocks_have_language_file_and_skip_reason() {
    let text = "Save `a.mjs`.\n\nSave as\n`b.mjs`:\n\n```ts\n1\n```\n\n<!-- not run: why -->\n```sh\nls\n```\n";
    let blocks = Document::parse("a.md", text).blocks();
    let [program, command] = blocks.try_into().unwrap();
    assert_eq!((program.language.as_str(), program.file.as_deref()), ("ts", Some("b.mjs")));
    assert_eq!((program.text.as_str(), program.place.as_str()), ("1\n", "a.md:6"));
    assert_eq!((command.not_run.as_deref(), command.file), (Some("why"), None));
}

#[test]
fn anchors_and_links_are_found_outside_code() {
    let text = "# A `b`, c-d!\n## A\n## A\n<a id=\"own\"></a>\n[x\ny](z.md#a) `[no](no.md)` <img src=\"p.png\">\n```\n# no\n```\n";
    let document = Document::parse("a.md", text);
    assert_eq!(document.anchors(), ["a-b-c-d", "a", "a-1", "own"]);
    assert_eq!(document.links(), ["z.md#a", "p.png"]);
}
