package aloft

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ListRequest is a request of a method whose response is one page of several.
type ListRequest interface {
	proto.Message
	GetPageToken() string
}

// ListResponse is one page of a list.
type ListResponse interface {
	proto.Message
	GetNextPageToken() string
}

// Pages returns all pages of a list: the first with the given request, the others with their token. Each page is
// fetched when the previous one is used up, and a failure ends the sequence. Each iteration starts with the first page.
//
//	for page, err := range aloft.Pages(ctx, client.Monitor.ListMonitors, &monitorv1.ListMonitorsRequest{}) {
//		if err != nil {
//			return err
//		}
//		for _, monitor := range page.HttpMonitors {
//			fmt.Println(monitor.Name, monitor.Status)
//		}
//	}
func Pages[Request ListRequest, Response ListResponse](
	ctx context.Context, list func(context.Context, Request) (Response, error), request Request,
) iter.Seq2[Response, error] {
	return func(yield func(Response, error) bool) {
		next, token := request, ""
		for {
			page, err := list(ctx, next)
			if !yield(page, err) || err != nil || page.GetNextPageToken() == "" {
				return
			}
			if page.GetNextPageToken() == token {
				var none Response
				yield(none, &Error{Code: CodeInternal, Message: "the service gave out the same page twice"})
				return
			}
			token = page.GetNextPageToken()
			next = following(request, token)
		}
	}
}

// following returns a request for the page with this token, which already contains the position of an offset.
func following[Request ListRequest](request Request, token string) Request {
	message := request.ProtoReflect().New()
	if request.ProtoReflect().IsValid() {
		message = proto.Clone(request).ProtoReflect()
	}
	fields := message.Descriptor().Fields()
	if offset := fields.ByName("offset"); offset != nil {
		message.Clear(offset)
	}
	message.Set(fields.ByName("page_token"), protoreflect.ValueOfString(token))
	return message.Interface().(Request)
}
