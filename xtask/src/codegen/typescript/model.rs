//! The contract as the other parts ask about it: its services and messages with their comments, which
//! of them are asked and which answered, and the tables of `rules` that a message stands for.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Result, bail};
use protox::prost_reflect::{
    DescriptorPool, FieldDescriptor, FileDescriptor, Kind, MessageDescriptor, MethodDescriptor,
    ServiceDescriptor,
};
use rules::field::{Block, Field, Resource, Rule};
use rules::tables;

/// Messages that are called otherwise in TypeScript, where all names stand side by side.
const RENAMED: [(&str, &str); 5] = [
    ("region.v1.Region", "RegionInfo"),
    ("notification.v1.Header", "WebhookHeader"),
    ("maintenance.v1.Window", "MaintenanceWindow"),
    ("monitor.v1.Warning", "MonitorWarning"),
    ("status_page.v1.Warning", "StatusPageWarning"),
];

/// Messages and the tables whose fields they have.
pub(super) const TABLES: [(&str, &[&Resource]); 12] = [
    ("monitor.v1.HttpMonitor", &[&tables::HTTP_MONITOR]),
    ("monitor.v1.TcpMonitor", &[&tables::TCP_MONITOR]),
    ("monitor.v1.DnsMonitor", &[&tables::DNS_MONITOR]),
    ("notification.v1.Notification", &[&tables::NOTIFICATION, &tables::NOTIFICATION_WISHES]),
    ("status_page.v1.StatusPage", &[&tables::STATUS_PAGE]),
    ("status_page.v1.Component", &[&tables::STATUS_PAGE_COMPONENT]),
    ("status_page.v1.ComponentGroup", &[&tables::STATUS_PAGE_COMPONENT_GROUP]),
    ("status_page.v1.Subscriber", &[&tables::SUBSCRIBER]),
    ("maintenance.v1.Maintenance", &[&tables::MAINTENANCE]),
    ("status_report.v1.StatusReport", &[&tables::STATUS_REPORT]),
    ("status_report.v1.StatusReportUpdate", &[&tables::REPORT_UPDATE]),
    ("status_report.v1.ReportTemplate", &[&tables::REPORT_TEMPLATE]),
];

/// Which way a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// From the caller.
    Asked,
    /// To the caller.
    Answered,
}

/// The contract.
pub(super) struct Contract {
    pool: DescriptorPool,
    /// By file and path of what is commented.
    comments: HashMap<(String, Vec<i32>), String>,
    asked: BTreeSet<String>,
    answered: BTreeSet<String>,
    /// Fields of `rules` by the message that has them.
    fields: BTreeMap<String, Vec<&'static Field>>,
    /// The field of a message that says which of its blocks is given, by the message.
    chosen_by: BTreeMap<String, &'static str>,
}

impl Contract {
    pub(super) fn new(pool: DescriptorPool) -> Result<Self> {
        let comments = pool.files().flat_map(|file| comments(&file)).collect();
        let mut contract = Self {
            pool,
            comments,
            asked: BTreeSet::new(),
            answered: BTreeSet::new(),
            fields: BTreeMap::new(),
            chosen_by: BTreeMap::new(),
        };
        let methods: Vec<_> = contract.services().flat_map(|it| methods(&it)).collect();
        for method in methods {
            reach(&method.input(), &mut contract.asked);
            reach(&method.output(), &mut contract.answered);
        }
        for (message, tables) in TABLES {
            contract.stand_for(message, tables)?;
        }
        contract.refuse_twins()?;
        Ok(contract)
    }

    /// The files that have services of ours, by name.
    pub(super) fn files(&self) -> Vec<FileDescriptor> {
        self.pool.files().filter(|file| file.services().len() > 0).collect()
    }

    /// The same with the files that they import, each before those that import it.
    pub(super) fn files_with_imports(&self) -> Vec<FileDescriptor> {
        self.pool.files().collect()
    }

    /// The services, in the order of the files.
    pub(super) fn services(&self) -> impl Iterator<Item = ServiceDescriptor> {
        self.files().into_iter().flat_map(|file| file.services().collect::<Vec<_>>())
    }

    /// The message of this name.
    pub(super) fn message(&self, name: &str) -> Option<MessageDescriptor> {
        self.pool.get_message_by_name(name)
    }

    /// Whether a message travels this way.
    pub(super) fn travels(&self, message: &MessageDescriptor, way: Way) -> bool {
        let names = match way {
            Way::Asked => &self.asked,
            Way::Answered => &self.answered,
        };
        names.contains(message.full_name())
    }

    /// The field of `rules` that a field of the contract stands for.
    pub(super) fn rule(&self, field: &FieldDescriptor) -> Option<&'static Field> {
        let fields = self.fields.get(field.parent_message().full_name())?;
        fields.iter().find(|rule| rule.name == field.name()).copied()
    }

    /// The field that says which block of the message is given, with that field's words.
    pub(super) fn chosen_by(&self, message: &MessageDescriptor) -> Option<&'static str> {
        self.chosen_by.get(message.full_name()).copied()
    }

    /// The comment of a field.
    pub(super) fn of_field(&self, field: &FieldDescriptor) -> &str {
        self.comment(&field.parent_file(), field.path())
    }

    /// The comment of a message.
    pub(super) fn of_message(&self, message: &MessageDescriptor) -> &str {
        self.comment(&message.parent_file(), message.path())
    }

    /// The comment of a method.
    pub(super) fn of_method(&self, method: &MethodDescriptor) -> &str {
        self.comment(&method.parent_file(), method.path())
    }

    /// The comment of a service.
    pub(super) fn of_service(&self, service: &ServiceDescriptor) -> &str {
        self.comment(&service.parent_file(), service.path())
    }

    /// Names of all fields and of all methods, for comments that speak of them.
    pub(super) fn spoken_of(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let messages = self.pool.all_messages();
        let fields = messages.flat_map(|message| {
            message.fields().map(|field| field.name().to_owned()).collect::<Vec<_>>()
        });
        let methods = self.services().flat_map(|service| methods(&service));
        (fields.collect(), methods.map(|method| method.name().to_owned()).collect())
    }

    fn comment(&self, file: &FileDescriptor, path: &[i32]) -> &str {
        let place = (file.name().to_owned(), path.to_vec());
        self.comments.get(&place).map_or("", String::as_str)
    }

    /// Notes which tables a message stands for, and which of their blocks the messages in it do.
    fn stand_for(&mut self, name: &str, tables: &[&'static Resource]) -> Result<()> {
        let Some(message) = self.message(name) else { bail!("the contract has no message {name}") };
        for table in tables {
            let fields = table.fields.iter().chain(table.beyond);
            self.fields.entry(name.to_owned()).or_default().extend(fields);
            self.stand_for_blocks(&message, table.blocks);
            for rule in table.rules {
                if let Rule::ExactlyOneBlock { named_by } = rule {
                    self.chosen_by.insert(name.to_owned(), named_by);
                }
            }
        }
        Ok(())
    }

    fn stand_for_blocks(&mut self, message: &MessageDescriptor, blocks: &'static [Block]) {
        for block in blocks {
            let field = message.get_field_by_name(block.name);
            let Some(Kind::Message(inner)) = field.map(|field| field.kind()) else { continue };
            self.fields.insert(inner.full_name().to_owned(), block.fields.iter().collect());
            self.stand_for_blocks(&inner, block.blocks);
        }
    }

    /// All names stand side by side in TypeScript: two messages of one name are a mistake.
    fn refuse_twins(&self) -> Result<()> {
        let mut seen = BTreeMap::new();
        for name in self.asked.union(&self.answered) {
            let message = self.message(name).expect("it was reached");
            if let Some(other) = seen.insert(type_name(&message), name) {
                bail!(
                    "{name} and {other} have one name in TypeScript: give one another in RENAMED"
                );
            }
        }
        Ok(())
    }
}

/// The methods of a service, in its order.
pub(super) fn methods(service: &ServiceDescriptor) -> Vec<MethodDescriptor> {
    service.methods().collect()
}

/// The module that a file becomes: the first part of its package.
pub(super) fn module(file: &FileDescriptor) -> &str {
    let package = file.package_name();
    let end = package.find('.').unwrap_or(package.len());
    // The name lives as long as the file: it is a part of its description.
    &file.name()[..end]
}

/// What a message is called in TypeScript.
pub(super) fn type_name(message: &MessageDescriptor) -> String {
    let renamed = RENAMED.iter().find(|(name, _)| *name == message.full_name());
    renamed.map_or_else(|| message.name().to_owned(), |(_, name)| (*name).to_owned())
}

/// Whether JSON writes the message as a text.
pub(super) fn is_text(message: &MessageDescriptor) -> bool {
    message.full_name().starts_with("google.protobuf.")
}

/// The message that a field holds, once or several times; none for texts and numbers.
pub(super) fn held(field: &FieldDescriptor) -> Option<MessageDescriptor> {
    field.kind().as_message().filter(|message| !is_text(message)).cloned()
}

fn reach(message: &MessageDescriptor, reached: &mut BTreeSet<String>) {
    if reached.insert(message.full_name().to_owned()) {
        for inner in message.fields().filter_map(|field| held(&field)) {
            reach(&inner, reached);
        }
    }
}

fn comments(file: &FileDescriptor) -> Vec<((String, Vec<i32>), String)> {
    let info = file.file_descriptor_proto().source_code_info.iter();
    let locations = info.flat_map(|info| &info.location);
    let commented = locations.filter_map(|it| {
        let comment = it.leading_comments.as_ref()?;
        Some(((file.name().to_owned(), it.path.clone()), comment.clone()))
    });
    commented.collect()
}
