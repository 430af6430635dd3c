//! `status_page.v1`: pages, and the components and component groups that belong to one.

use contract::rpc;
use contract::status_page::wire::{
    Component, ComponentGroup, CreateComponentGroupRequest, CreateComponentRequest,
    CreateStatusPageRequest, DeleteComponentGroupRequest, DeleteComponentRequest,
    DeleteStatusPageRequest, FieldMask, GetComponentGroupRequest, GetComponentRequest,
    GetStatusPageRequest, ListComponentGroupsRequest, ListComponentsRequest,
    ListStatusPagesRequest, StatusPage, UpdateComponentGroupRequest, UpdateComponentRequest,
    UpdateStatusPageRequest,
};
use rules::Violations;
use rules::limits::LIST_LIMIT_MAX;
use rules::status_page::{ComponentDraft, GroupDraft, PageDraft};

use super::{Answer, Id, Page, Service, json, judged, message, present};

/// The five calls that pages, components and groups have alike.
macro_rules! things {
    ($name:ident, $noun:literal, $Message:ident => $Draft:ident, $field:ident, $list_field:ident,
     $create:ident($Create:ident), $get:ident($Get:ident { $($by:ident),+ }),
     $update:ident($Update:ident), $delete:ident($Delete:ident), $list:ident($List:ident $({ $within:ident })?)) => {
        #[doc = concat!("The calls for each ", $noun, ".")]
        pub static $name: Service = Service {
            noun: $noun,
            refused: |resource| -> Violations {
                judged::<$Message, $Draft>(resource, |draft| draft.parse().err())
            },
            create: |client, resource| {
                Box::pin(client.create(move |services, options| {
                    let resource = resource.clone();
                    async move {
                        let $field = message::<$Message>(resource)?.into();
                        let request = $Create { $field };
                        let answer = services.status_pages.$create(request, options).await?;
                        answered($noun, answer.into_owned().$field.as_option())
                    }
                }))
            },
            get: |client, id| {
                Box::pin(client.call(move |services, options| {
                    let mut request = $Get::default();
                    $(request.$by = Named::$by(&id);)+
                    async move {
                        let answer = services.status_pages.$get(request, options).await?;
                        answered($noun, answer.into_owned().$field.as_option())
                    }
                }))
            },
            update: |client, resource, paths| {
                Box::pin(client.call(move |services, options| {
                    let (resource, paths) = (resource.clone(), paths.clone());
                    async move {
                        let request = $Update {
                            $field: message::<$Message>(resource)?.into(),
                            update_mask: FieldMask { paths, ..Default::default() }.into(),
                        };
                        let answer = services.status_pages.$update(request, options).await?;
                        answered($noun, answer.into_owned().$field.as_option())
                    }
                }))
            },
            delete: |client, id| {
                Box::pin(client.call(move |services, options| {
                    let request = $Delete { id: id.clone() };
                    async move {
                        services.status_pages.$delete(request, options).await.map(drop)
                    }
                }))
            },
            list: |client, asked| {
                Box::pin(client.call(move |services, options| {
                    let request = $List {
                        limit: Some(LIST_LIMIT_MAX as i32),
                        page_token: asked.token(),
                        $($within: asked.page_id.clone(),)?
                        ..Default::default()
                    };
                    async move {
                        let answer = services.status_pages.$list(request, options).await?;
                        let answer = answer.into_owned();
                        let resources =
                            answer.$list_field.iter().map(json).collect::<Result<_, _>>()?;
                        Ok(Page { resources, next: answer.next_page_token })
                    }
                }))
            },
        };
    };
}

things!(
    PAGES,
    "status page",
    StatusPage => PageDraft,
    status_page,
    status_pages,
    create_status_page_with_options(CreateStatusPageRequest),
    get_status_page_with_options(GetStatusPageRequest { id }),
    update_status_page_with_options(UpdateStatusPageRequest),
    delete_status_page_with_options(DeleteStatusPageRequest),
    list_status_pages_with_options(ListStatusPagesRequest)
);
things!(
    COMPONENTS,
    "component",
    Component => ComponentDraft,
    component,
    components,
    create_component_with_options(CreateComponentRequest),
    get_component_with_options(GetComponentRequest { id, page_id }),
    update_component_with_options(UpdateComponentRequest),
    delete_component_with_options(DeleteComponentRequest),
    list_components_with_options(ListComponentsRequest { page_id })
);
things!(
    GROUPS,
    "component group",
    ComponentGroup => GroupDraft,
    component_group,
    component_groups,
    create_component_group_with_options(CreateComponentGroupRequest),
    get_component_group_with_options(GetComponentGroupRequest { id, page_id }),
    update_component_group_with_options(UpdateComponentGroupRequest),
    delete_component_group_with_options(DeleteComponentGroupRequest),
    list_component_groups_with_options(ListComponentGroupsRequest { page_id })
);

/// The parts of an id, under the names that requests have for them.
struct Named;

impl Named {
    fn id(id: &Id) -> String {
        id.id.clone()
    }

    fn page_id(id: &Id) -> Option<String> {
        id.page_id.clone()
    }
}

fn answered<M: serde::Serialize>(noun: &str, given: Option<&M>) -> Result<Answer, rpc::Error> {
    Ok(Answer { resource: present(noun, given)?, warnings: Vec::new() })
}
