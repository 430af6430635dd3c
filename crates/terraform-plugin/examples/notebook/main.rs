//! A complete provider whose objects are stored in a JSON file. The tests run the real `terraform`
//! with it.

mod count;
mod list;
mod note;
mod pen;
mod spell;
mod store;

use std::path::PathBuf;
use std::process::ExitCode;

use terraform_plugin::schema::{Attribute, Schema};
use terraform_plugin::{Catalog, Context, Object, Outcome, Provider, Type, serve, validate};

use store::Store;

/// Source address of the provider in configurations.
const ADDRESS: &str = "registry.terraform.io/example/notebook";

fn main() -> ExitCode {
    serve(ADDRESS, Notebook)
}

struct Notebook;

impl Provider for Notebook {
    type Client = Store;

    fn schema(&self) -> Schema {
        let file = Attribute::required(Type::String)
            .describe("The file that holds all notes.")
            .validate(validate::not_empty());
        Schema::new("Stores notes in a file.").attribute("file", file)
    }

    fn catalog(&self) -> Catalog<Store> {
        Catalog::new()
            .resource("notebook_note", note::Note)
            .data_source("notebook_count", count::Count)
            .function("spell", spell::Spell)
            .list("notebook_note", list::Notes)
            .ephemeral("notebook_key", pen::Key)
            .action("notebook_stamp", pen::Stamp)
    }

    async fn configure(&self, _: &Context<Store>, config: Object) -> Outcome<Store> {
        Ok(Store::open(PathBuf::from(config.get::<String>("file")?)))
    }
}
