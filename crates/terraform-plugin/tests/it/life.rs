//! Notes from creation to deletion: an applied configuration plans empty, and a change affects only
//! what it names.

use terraform_plugin::harness::{PlannedAction, RenderedDiagnostic};

use crate::notebook::{NOTE, note, terraform, whole};

/// A note that uses every feature.
const FULL: &str = r#"
  title   = "groceries"
  pinned  = true
  columns = 40
  ratio   = 0.1
  tags    = ["b", "a"]
  shelf   = "kitchen"
  secret  = "hush"
  pass_wo = "weak"
  extra   = { any = ["thing", 1, true] }
  style   = { font = "serif" }
  line {
    key = "milk"
  }
  line {
    key    = "bread"
    weight = 2
  }
  mark {
    key = "x"
  }
  mark {
    key    = "y"
    weight = 3
  }
  cover {
    key = "blue"
  }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn applied_note_plans_empty_and_is_destroyed() {
    for (name, lines) in [("least", "title = \"a\""), ("full", FULL)] {
        let terraform = terraform();
        terraform.configure(&note(lines)).unwrap();
        let applied = terraform.apply().await.unwrap_or_else(|why| panic!("{name}: {why}"));
        let weak: Vec<&str> = applied.diagnostics.iter().map(|it| it.summary.as_str()).collect();
        assert_eq!(weak, if name == "full" { vec!["Weak pass"] } else { vec![] });
        let plan = terraform.plan().await.unwrap();
        assert!(plan.is_empty(), "{name}: {}", plan.summary());
        let imported = terraform.state().await.unwrap().value(NOTE, "id").clone();
        terraform.remove_state().unwrap();
        terraform.import(NOTE, imported.as_str().unwrap()).await.unwrap();
        let plan = terraform.plan().await.unwrap();
        assert!(plan.is_empty(), "{name} imported: {}", plan.summary());
        assert!(terraform.destroy().await.unwrap().state.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn creation_plans_defaults_and_leaves_others_unknown() {
    let terraform = terraform();
    terraform.configure(&note("title = \"a\"\nline {\n key = \"k\"\n}")).unwrap();
    let plan = terraform.plan().await.unwrap();
    let change = plan.change(NOTE);
    assert_eq!(change.action, PlannedAction::Create);
    assert_eq!((&change.after["columns"], &change.after["lines"]), (&80.into(), &160.into()));
    assert_eq!(change.after["line"][0]["weight"], 1);
    assert_eq!(change.after_unknown["revision"], true);
    assert_eq!(change.after_unknown["line"][0]["label"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_change_updates_or_replaces_then_plans_empty() {
    let terraform = terraform();
    terraform.configure(&note(FULL)).unwrap();
    terraform.apply().await.unwrap();
    let changes = [
        ("pinned  = true", "", PlannedAction::Update),
        ("columns = 40", "columns = 0", PlannedAction::Update),
        ("ratio   = 0.1", "ratio = 123456789012345678901234567890.5", PlannedAction::Update),
        ("[\"b\", \"a\"]", "[\"a\", \"b\"]", PlannedAction::Nothing),
        ("tags    = [\"b\", \"a\"]", "tags = []", PlannedAction::Update),
        ("tags    = [\"b\", \"a\"]", "", PlannedAction::Update),
        ("{ font = \"serif\" }", "{ font = \"sans\", size = 3 }", PlannedAction::Update),
        ("style   = { font = \"serif\" }", "", PlannedAction::Update),
        ("\"thing\", 1", "\"thing\", 2", PlannedAction::Update),
        ("key = \"milk\"", "key = \"tea\"", PlannedAction::Update),
        ("key = \"x\"", "key = \"z\"", PlannedAction::Update),
        ("cover {\n    key = \"blue\"\n  }", "", PlannedAction::Update),
        ("shelf   = \"kitchen\"", "shelf = \"attic\"", PlannedAction::Replace),
        ("shelf   = \"kitchen\"", "", PlannedAction::Replace),
    ];
    for (from, to, action) in changes {
        terraform.configure(&note(FULL)).unwrap();
        terraform.apply().await.unwrap_or_else(|why| panic!("back from {to:?}: {why}"));
        assert!(FULL.contains(from), "{from}");
        terraform.configure(&note(&FULL.replacen(from, to, 1))).unwrap();
        let plan = terraform.plan().await.unwrap();
        let planned = plan.change(NOTE).action;
        assert_eq!(planned, action, "{from:?} to {to:?}: {}", plan.summary());
        terraform.apply().await.unwrap_or_else(|why| panic!("{from:?} to {to:?}: {why}"));
        let plan = terraform.plan().await.unwrap();
        assert!(plan.is_empty(), "{from:?} to {to:?}: {}", plan.summary());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_is_found_and_fixed() {
    let terraform = terraform();
    terraform.configure(&note("title = \"a\"")).unwrap();
    terraform.apply().await.unwrap();
    let file = terraform.folder().join("notes.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace(r#"lines\":160"#, r#"lines\":7"#)).unwrap();
    let plan = terraform.plan().await.unwrap();
    assert_eq!(plan.change(NOTE).after["lines"], 160, "{}", plan.summary());
    terraform.apply().await.unwrap();
    assert!(terraform.plan().await.unwrap().is_empty());
    std::fs::write(&file, "{}").unwrap();
    assert_eq!(terraform.plan().await.unwrap().change(NOTE).action, PlannedAction::Create);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_name_their_attributes() {
    let terraform = terraform();
    terraform.configure(&note("title = \"\"\ntext = \"t\"\nline {\n key = \"k\"\n}")).unwrap();
    let shown = terraform.validate().await.unwrap();
    let shown: Vec<String> = shown.iter().map(RenderedDiagnostic::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    error: Invalid value
      on main.tf line 11: title = ""
      must have 1 to 64 characters, but has 0
    error: Conflicting arguments
      on main.tf line 10: resource "notebook_note" "main" {
      set at most one of `text`, `line`
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_values_pass_every_rule() {
    let rest = r#"
resource "terraform_data" "seed" {
  input = "seed"
}
resource "notebook_note" "main" {
  title   = terraform_data.seed.output
  columns = length(terraform_data.seed.output)
  tags    = [terraform_data.seed.output, "known"]
  style   = { font = terraform_data.seed.output }
  dynamic "line" {
    for_each = toset([terraform_data.seed.output])
    content {
      key = line.value
    }
  }
  dynamic "mark" {
    for_each = [terraform_data.seed.output, "other"]
    content {
      key = mark.value
    }
  }
}
data "notebook_count" "all" {
  depends_on = [notebook_note.main]
}
"#;
    let terraform = terraform();
    terraform.configure(&whole(rest)).unwrap();
    let applied = terraform.apply().await.unwrap();
    assert_eq!(applied.state.value(NOTE, "lines"), &8);
    assert_eq!(applied.state.value("data.notebook_count.all", "count_of_notes"), &1);
    let plan = terraform.plan().await.unwrap();
    assert!(plan.is_empty(), "{}", plan.summary());
}
