//! `monitor.v1`: three kinds of monitor, which are created and changed each in their own call, and
//! read, listed and deleted in one.

use contract::monitor::wire::{
    CreateDnsMonitorRequest, CreateHttpMonitorRequest, CreateTcpMonitorRequest,
    DeleteMonitorRequest, DnsMonitor, FieldMask, GetMonitorRequest, HttpMonitor, Kind,
    ListMonitorsRequest, ListMonitorsResponse, TcpMonitor, UpdateDnsMonitorRequest,
    UpdateHttpMonitorRequest, UpdateTcpMonitorRequest,
};
use contract::rpc::{self, CallOptions};
use rules::limits::LIST_LIMIT_MAX;
use rules::monitor::MonitorDraft;
use rules::{MonitorKind, Violations};
use serde_json::Value as Json;

use super::{Answer, Asked, Called, Id, Page, Service, json, judged, message, present};
use crate::client::{Client, Failure};

/// What is created and changed by the calls of one kind.
macro_rules! monitors {
    ($name:ident, $kind:ident, $noun:literal, $Message:ident, $list:ident,
     $create:ident($Create:ident), $update:ident($Update:ident)) => {
        #[doc = concat!("The calls for each ", $noun, ".")]
        pub static $name: Service = Service {
            noun: $noun,
            refused: refused::<$Message>,
            create: |client, resource| {
                Box::pin(client.create(move |services, options| {
                    let resource = resource.clone();
                    async move {
                        let monitor = message::<$Message>(resource)?;
                        let request = $Create { monitor: monitor.into() };
                        let answer = services.monitors.$create(request, options).await?;
                        answered(answer.into_owned().monitor.as_option())
                    }
                }))
            },
            get: |client, id| Box::pin(get(client, id, MonitorKind::$kind)),
            update: |client, resource, paths| {
                Box::pin(client.call(move |services, options| {
                    let (resource, paths) = (resource.clone(), paths.clone());
                    async move {
                        let request = $Update {
                            monitor: message::<$Message>(resource)?.into(),
                            update_mask: FieldMask { paths, ..Default::default() }.into(),
                        };
                        let answer = services.monitors.$update(request, options).await?;
                        answered(answer.into_owned().monitor.as_option())
                    }
                }))
            },
            delete,
            list: |client, asked| {
                Box::pin(async move {
                    list(client, asked, |page| page.$list.iter().map(json).collect()).await
                })
            },
        };
    };
}

monitors!(
    HTTP_MONITORS,
    Http,
    "HTTP monitor",
    HttpMonitor,
    http_monitors,
    create_http_monitor_with_options(CreateHttpMonitorRequest),
    update_http_monitor_with_options(UpdateHttpMonitorRequest)
);
monitors!(
    TCP_MONITORS,
    Tcp,
    "TCP monitor",
    TcpMonitor,
    tcp_monitors,
    create_tcp_monitor_with_options(CreateTcpMonitorRequest),
    update_tcp_monitor_with_options(UpdateTcpMonitorRequest)
);
monitors!(
    DNS_MONITORS,
    Dns,
    "DNS monitor",
    DnsMonitor,
    dns_monitors,
    create_dns_monitor_with_options(CreateDnsMonitorRequest),
    update_dns_monitor_with_options(UpdateDnsMonitorRequest)
);

/// Reads a monitor of whatever kind.
pub async fn any(client: &Client, id: String) -> Result<(MonitorKind, Json), Failure> {
    let call = move |services: rpc::Client, options: CallOptions| {
        let request = GetMonitorRequest { id: id.clone() };
        async move {
            let answer = services.monitors.get_monitor_with_options(request, options).await?;
            let monitor = answer.into_owned().monitor.into_option();
            match monitor.and_then(|monitor| monitor.kind) {
                Some(Kind::Http(http)) => Ok((MonitorKind::Http, json(&*http)?)),
                Some(Kind::Tcp(tcp)) => Ok((MonitorKind::Tcp, json(&*tcp)?)),
                Some(Kind::Dns(dns)) => Ok((MonitorKind::Dns, json(&*dns)?)),
                None => Err(rpc::Error::internal("it has no monitor")),
            }
        }
    };
    client.call(call).await
}

/// A page of monitors of every kind, of which `of_kind` takes those of one.
async fn list(
    client: &Client,
    asked: Asked,
    of_kind: impl Fn(&ListMonitorsResponse) -> Result<Vec<Json>, rpc::Error> + Send + Sync,
) -> Result<Page, Failure> {
    let of_kind = &of_kind;
    let call = move |services: rpc::Client, options: CallOptions| {
        let request = ListMonitorsRequest {
            limit: Some(LIST_LIMIT_MAX as i32),
            page_token: asked.token(),
            ..Default::default()
        };
        async move {
            let answer = services.monitors.list_monitors_with_options(request, options).await?;
            let answer = answer.into_owned();
            Ok(Page { resources: of_kind(&answer)?, next: answer.next_page_token })
        }
    };
    client.call(call).await
}

/// A monitor of the kind that is asked for; one of another kind is named with its own resource.
async fn get(client: &Client, Id { id, .. }: Id, kind: MonitorKind) -> Result<Answer, Failure> {
    let (found, resource) = any(client, id.clone()).await?;
    if found == kind {
        return Ok(Answer { resource, warnings: Vec::new() });
    }
    let resource = rules::tables::monitor(found).name;
    Err(Failure::Failed(format!(
        "`{id}` is a {} monitor, which is a `{resource}` and no `{}`. Import it as a `{resource}`.",
        found.as_str().to_uppercase(),
        rules::tables::monitor(kind).name
    )))
}

fn delete(client: &Client, id: String) -> Called<'_, ()> {
    Box::pin(
        client.call(move |services, options| {
            let request = DeleteMonitorRequest { id: id.clone() };
            async move {
                services.monitors.delete_monitor_with_options(request, options).await.map(drop)
            }
        }),
    )
}

fn refused<M: Into<MonitorDraft> + serde::de::DeserializeOwned>(resource: Json) -> Violations {
    judged::<M, MonitorDraft>(resource, |draft| draft.parse().err())
}

fn answered<M: serde::Serialize>(monitor: Option<&M>) -> Result<Answer, rpc::Error> {
    Ok(Answer { resource: present("monitor", monitor)?, warnings: Vec::new() })
}
