package aloft

// Pages of lists: when each is fetched, with which request, and how a sequence ends.

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	auditv1 "aloft.dev/client/gen/audit/v1"
	monitorv1 "aloft.dev/client/gen/monitor/v1"
)

// list returns pages with these tokens of the next one, and records the requests.
func list(requests *[]string, tokens ...string) func(
	context.Context, *monitorv1.ListMonitorsRequest,
) (*monitorv1.ListMonitorsResponse, error) {
	return func(
		_ context.Context, request *monitorv1.ListMonitorsRequest,
	) (*monitorv1.ListMonitorsResponse, error) {
		asked := fmt.Sprintf("%d+%d %q", request.GetOffset(), request.GetLimit(), request.GetPageToken())
		*requests = append(*requests, asked)
		if len(*requests) > len(tokens) {
			return nil, errors.New("no more pages")
		}
		return &monitorv1.ListMonitorsResponse{NextPageToken: tokens[len(*requests)-1]}, nil
	}
}

func TestPagesAreFetchedOneByOne(t *testing.T) {
	var requests []string
	request := &monitorv1.ListMonitorsRequest{Limit: proto.Int32(2), Offset: proto.Int32(4)}
	pages := Pages(context.Background(), list(&requests, "a", "b", ""), request)
	if len(requests) > 0 {
		t.Error("a page was fetched before the iteration")
	}
	count := 0
	for page, err := range pages {
		count++
		if err != nil || page == nil || len(requests) != count {
			t.Errorf("%d: %v", count, err)
		}
	}
	if expected := `[4+2 "" 0+2 "a" 0+2 "b"]`; fmt.Sprint(requests) != expected {
		t.Error(requests)
	}
	if request.GetOffset() != 4 || request.PageToken != nil {
		t.Error("the request was changed")
	}
}

func TestIterationEndsWithBreakErrorOrRepeatedPage(t *testing.T) {
	ctx := context.Background()
	var requests []string
	for range Pages(ctx, list(&requests, "a", "b", ""), nil) {
		break
	}
	if len(requests) != 1 {
		t.Error(requests)
	}
	for expected, tokens := range map[string][]string{
		"no more pages": {"a"},
		"the service gave out the same page twice (internal)": {"a", "a", "a"},
	} {
		var requests []string
		var outcomes []string
		for page, err := range Pages(ctx, list(&requests, tokens...), nil) {
			if err != nil {
				outcomes = append(outcomes, err.Error())
			} else if page == nil {
				t.Error("a page is missing")
			}
		}
		if len(outcomes) != 1 || outcomes[0] != expected {
			t.Errorf("%v instead of %s", outcomes, expected)
		}
	}
}

func TestListWithoutOffsetHasPages(t *testing.T) {
	var tokens []string
	list := func(_ context.Context, request *auditv1.ListAuditEntriesRequest) (*auditv1.ListAuditEntriesResponse, error) {
		tokens = append(tokens, request.GetPageToken())
		if len(tokens) > 1 {
			return &auditv1.ListAuditEntriesResponse{}, nil
		}
		return &auditv1.ListAuditEntriesResponse{NextPageToken: "a"}, nil
	}
	for _, err := range Pages(context.Background(), list, &auditv1.ListAuditEntriesRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(tokens) != "[ a]" {
		t.Error(tokens)
	}
}
