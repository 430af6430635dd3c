//! The contract as the generators query it: services and messages with their comments, the
//! direction in which each message travels, and the tables of `rules` for a message.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Result, bail};
use protox::prost_reflect::{
    DescriptorPool, FieldDescriptor, FileDescriptor, Kind, MessageDescriptor, MethodDescriptor,
    ServiceDescriptor,
};
use rules::field::{Block, Field, Resource, Rule};
use rules::tables;

/// Messages that have another name in TypeScript, where all names share one namespace.
const RENAMED: [(&str, &str); 5] = [
    ("region.v1.Region", "RegionInfo"),
    ("notification.v1.Header", "WebhookHeader"),
    ("maintenance.v1.Window", "MaintenanceWindow"),
    ("monitor.v1.Warning", "MonitorWarning"),
    ("status_page.v1.Warning", "StatusPageWarning"),
];

/// Messages and the tables with their fields.
pub(in crate::codegen) const TABLES: [(&str, &[&Resource]); 13] = [
    ("monitor.v1.HttpMonitor", &[&tables::HTTP_MONITOR]),
    ("monitor.v1.TcpMonitor", &[&tables::TCP_MONITOR]),
    ("monitor.v1.DnsMonitor", &[&tables::DNS_MONITOR]),
    ("monitor.v1.HeartbeatMonitor", &[&tables::HEARTBEAT_MONITOR]),
    ("notification.v1.Notification", &[&tables::NOTIFICATION, &tables::NOTIFICATION_PREFERENCES]),
    ("status_page.v1.StatusPage", &[&tables::STATUS_PAGE]),
    ("status_page.v1.Component", &[&tables::STATUS_PAGE_COMPONENT]),
    ("status_page.v1.ComponentGroup", &[&tables::STATUS_PAGE_COMPONENT_GROUP]),
    ("status_page.v1.Subscriber", &[&tables::SUBSCRIBER]),
    ("maintenance.v1.Maintenance", &[&tables::MAINTENANCE]),
    ("status_report.v1.StatusReport", &[&tables::STATUS_REPORT]),
    ("status_report.v1.StatusReportUpdate", &[&tables::REPORT_UPDATE]),
    ("status_report.v1.ReportTemplate", &[&tables::REPORT_TEMPLATE]),
];

/// Direction in which a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Direction {
    /// From the client.
    Request,
    /// To the client.
    Response,
}

/// The contract.
pub(in crate::codegen) struct ContractModel {
    pool: DescriptorPool,
    /// Comments by file and path.
    comments: HashMap<(String, Vec<i32>), String>,
    requested: BTreeSet<String>,
    returned: BTreeSet<String>,
    /// Fields of `rules` by message.
    fields: BTreeMap<String, Vec<&'static Field>>,
    /// Field that selects a block of the message, by message.
    chosen_by: BTreeMap<String, &'static str>,
}

impl ContractModel {
    pub(in crate::codegen) fn new(pool: DescriptorPool) -> Result<Self> {
        let comments = pool.files().flat_map(|file| comments(&file)).collect();
        let mut contract = Self {
            pool,
            comments,
            requested: BTreeSet::new(),
            returned: BTreeSet::new(),
            fields: BTreeMap::new(),
            chosen_by: BTreeMap::new(),
        };
        let methods: Vec<_> = contract.services().flat_map(|it| methods(&it)).collect();
        for method in methods {
            reach(&method.input(), &mut contract.requested);
            reach(&method.output(), &mut contract.returned);
        }
        for (message, tables) in TABLES {
            contract.map_tables(message, tables)?;
        }
        contract.reject_duplicates()?;
        Ok(contract)
    }

    /// Returns the files with our services, sorted by name.
    pub(in crate::codegen) fn files(&self) -> Vec<FileDescriptor> {
        self.pool.files().filter(|file| file.services().len() > 0).collect()
    }

    /// Returns these files and their imports, each import before its users.
    pub(in crate::codegen) fn files_with_imports(&self) -> Vec<FileDescriptor> {
        self.pool.files().collect()
    }

    /// Returns the services in the order of the files.
    pub(in crate::codegen) fn services(&self) -> impl Iterator<Item = ServiceDescriptor> {
        self.files().into_iter().flat_map(|file| file.services().collect::<Vec<_>>())
    }

    /// Returns the message with this name.
    pub(in crate::codegen) fn message(&self, name: &str) -> Option<MessageDescriptor> {
        self.pool.get_message_by_name(name)
    }

    /// Returns whether a message travels in this direction.
    pub(in crate::codegen) fn is_used_in(
        &self,
        message: &MessageDescriptor,
        way: Direction,
    ) -> bool {
        let names = match way {
            Direction::Request => &self.requested,
            Direction::Response => &self.returned,
        };
        names.contains(message.full_name())
    }

    /// Returns the field of `rules` for a field of the contract.
    pub(in crate::codegen) fn rule(&self, field: &FieldDescriptor) -> Option<&'static Field> {
        let fields = self.fields.get(field.parent_message().full_name())?;
        fields.iter().find(|rule| rule.name == field.name()).copied()
    }

    /// Returns the field that selects a block of the message.
    pub(in crate::codegen) fn chosen_by(
        &self,
        message: &MessageDescriptor,
    ) -> Option<&'static str> {
        self.chosen_by.get(message.full_name()).copied()
    }

    /// Returns the comment of a field.
    pub(in crate::codegen) fn field_comment(&self, field: &FieldDescriptor) -> &str {
        self.comment(&field.parent_file(), field.path())
    }

    /// Returns the comment of a message.
    pub(in crate::codegen) fn message_comment(&self, message: &MessageDescriptor) -> &str {
        self.comment(&message.parent_file(), message.path())
    }

    /// Returns the comment of a method.
    pub(in crate::codegen) fn method_comment(&self, method: &MethodDescriptor) -> &str {
        self.comment(&method.parent_file(), method.path())
    }

    /// Returns the comment of a service.
    pub(in crate::codegen) fn service_comment(&self, service: &ServiceDescriptor) -> &str {
        self.comment(&service.parent_file(), service.path())
    }

    /// Returns the names of all fields and methods, which comments may mention.
    pub(in crate::codegen) fn mentioned_names(&self) -> (BTreeSet<String>, BTreeSet<String>) {
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

    /// Records the tables of a message, and the blocks of its nested messages.
    fn map_tables(&mut self, name: &str, tables: &[&'static Resource]) -> Result<()> {
        let Some(message) = self.message(name) else {
            bail!("message {name} not found in the contract")
        };
        for table in tables {
            let fields = table.fields.iter().chain(table.beyond);
            self.fields.entry(name.to_owned()).or_default().extend(fields);
            self.map_blocks(&message, table.blocks);
            for rule in table.rules {
                if let Rule::ExactlyOneBlock { named_by } = rule {
                    self.chosen_by.insert(name.to_owned(), named_by);
                }
            }
        }
        Ok(())
    }

    fn map_blocks(&mut self, message: &MessageDescriptor, blocks: &'static [Block]) {
        for block in blocks {
            let field = message.get_field_by_name(block.name);
            let Some(Kind::Message(inner)) = field.map(|field| field.kind()) else { continue };
            self.fields.insert(inner.full_name().to_owned(), block.fields.iter().collect());
            self.map_blocks(&inner, block.blocks);
        }
    }

    /// Rejects two messages with the same name in TypeScript, where all names share one namespace.
    fn reject_duplicates(&self) -> Result<()> {
        let mut seen = BTreeMap::new();
        for name in self.requested.union(&self.returned) {
            let message = self.message(name).expect("reachable messages are in the contract");
            if let Some(other) = seen.insert(type_name(&message), name) {
                bail!("{name} and {other} have the same name in TypeScript; rename one in RENAMED");
            }
        }
        Ok(())
    }
}

/// Returns the methods of a service in order.
pub(in crate::codegen) fn methods(service: &ServiceDescriptor) -> Vec<MethodDescriptor> {
    service.methods().collect()
}

/// Returns the module of a file: the first part of its package.
pub(in crate::codegen) fn module(file: &FileDescriptor) -> &str {
    let package = file.package_name();
    let end = package.find('.').unwrap_or(package.len());
    // A slice of the file's own name, so that it lives as long as the file.
    &file.name()[..end]
}

/// Returns the name of a message in TypeScript.
pub(in crate::codegen) fn type_name(message: &MessageDescriptor) -> String {
    client_name(message.full_name()).unwrap_or(message.name()).to_owned()
}

/// Returns the name of a message in clients, by its full name, if it has another one there.
pub(crate) fn client_name(full: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(name, _)| *name == full).map(|(_, name)| *name)
}

/// Returns whether the message is a string in JSON.
pub(in crate::codegen) fn is_text(message: &MessageDescriptor) -> bool {
    message.full_name().starts_with("google.protobuf.")
}

/// Returns the message that a field contains, once or repeated. `None` for strings and numbers.
pub(in crate::codegen) fn nested_message(field: &FieldDescriptor) -> Option<MessageDescriptor> {
    field.kind().as_message().filter(|message| !is_text(message)).cloned()
}

fn reach(message: &MessageDescriptor, reached: &mut BTreeSet<String>) {
    if reached.insert(message.full_name().to_owned()) {
        for inner in message.fields().filter_map(|field| nested_message(&field)) {
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
