package test

// Calls of the real server: pages, time limits, lost responses, keys, errors, and masks.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	aloft "aloft.dev/client"
	monitorv1 "aloft.dev/client/gen/monitor/v1"
)

const monitorCount = 5

// counting is a transport that counts requests by method.
type counting struct {
	mutex sync.Mutex
	asked []string
}

func (counting *counting) RoundTrip(request *http.Request) (*http.Response, error) {
	counting.mutex.Lock()
	path := request.URL.Path
	counting.asked = append(counting.asked, path[strings.LastIndexByte(path, '/')+1:])
	counting.mutex.Unlock()
	return http.DefaultTransport.RoundTrip(request)
}

// count returns the number of requests since the last call of count.
func (counting *counting) count() int {
	counting.mutex.Lock()
	defer counting.mutex.Unlock()
	count := len(counting.asked)
	counting.asked = nil
	return count
}

func server() workspace { return given["server"] }

// paused is a monitor that is not checked.
func paused(name string) *monitorv1.TcpMonitor {
	return &monitorv1.TcpMonitor{
		Name: proto.String(name), Uri: proto.String("db.example.com:5432"), Periodicity: proto.String("1h"),
	}
}

// create creates a paused monitor and returns its ID. It is deleted with the test.
func create(ctx context.Context, t *testing.T, client *aloft.Client, name string) string {
	t.Helper()
	response, err := client.Monitor.CreateTcpMonitor(ctx, &monitorv1.CreateTcpMonitorRequest{Monitor: paused(name)})
	if err != nil {
		t.Fatal(err)
	}
	id := response.GetMonitor().GetId()
	t.Cleanup(func() {
		request := &monitorv1.DeleteMonitorRequest{Id: id}
		_, err := client.Monitor.DeleteMonitor(context.Background(), request)
		if err != nil && !errors.Is(err, aloft.ErrNotFound) {
			t.Error(err)
		}
	})
	return id
}

func TestPagesOfServerAreFetchedAsNeeded(t *testing.T) {
	ctx := context.Background()
	counting := &counting{}
	client := clientOf(t, server(), "write", aloft.WithHTTPClient(&http.Client{Transport: counting}))
	var names []string
	for at := range monitorCount {
		name := fmt.Sprintf("page %d", at)
		create(ctx, t, client, name)
		// Lists return the newest first.
		names = slices.Insert(names, 0, name)
	}
	counting.count()
	var seen []string
	var sizes []int
	request := &monitorv1.ListMonitorsRequest{Limit: proto.Int32(2)}
	for page, err := range aloft.Pages(ctx, client.Monitor.ListMonitors, request) {
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(page.TcpMonitors))
		for _, monitor := range page.TcpMonitors {
			seen = append(seen, monitor.GetName())
		}
	}
	if !slices.Equal(seen, names) || !slices.Equal(sizes, []int{2, 2, 1}) || counting.count() != 3 {
		t.Error(seen, sizes)
	}
	for range aloft.Pages(ctx, client.Monitor.ListMonitors, request) {
		break
	}
	if count := counting.count(); count != 1 {
		t.Errorf("%d requests for one page", count)
	}
	request.Limit = proto.Int32(0)
	for page, err := range aloft.Pages(ctx, client.Monitor.ListMonitors, request) {
		var failure *aloft.Error
		if !errors.As(err, &failure) || failure.Code != aloft.CodeInvalidArgument || failure.Violations[0].Field != "limit" {
			t.Error(page, err)
		}
	}
}

func TestCallEndsWithItsContextOrTimeLimit(t *testing.T) {
	ctx := context.Background()
	target := startSite(t, 200)
	client := clientOf(t, server(), "write")
	monitor := &monitorv1.HttpMonitor{
		Name: proto.String("Silence"), Url: proto.String(target.url + "/silent"), Periodicity: proto.String("1h"),
		Retry: proto.Int32(0),
	}
	created, err := client.Monitor.CreateHttpMonitor(ctx, &monitorv1.CreateHttpMonitorRequest{Monitor: monitor})
	if err != nil {
		t.Fatal(err)
	}
	id := created.GetMonitor().GetId()
	limited := aloft.WithCallOptions(ctx, aloft.WithTimeout(200*time.Millisecond))
	_, err = client.Monitor.TriggerMonitor(limited, &monitorv1.TriggerMonitorRequest{Id: id})
	if !errors.Is(err, aloft.ErrDeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	<-target.received
	canceled, cancel := context.WithCancel(ctx)
	go func() {
		<-target.received
		cancel()
	}()
	_, err = client.Monitor.TriggerMonitor(canceled, &monitorv1.TriggerMonitorRequest{Id: id})
	if !errors.Is(err, aloft.ErrCanceled) {
		t.Error(err)
	}
	if _, err := client.Monitor.DeleteMonitor(ctx, &monitorv1.DeleteMonitorRequest{Id: id}); err != nil {
		t.Error(err)
	}
}

// losing is a transport that loses the first response, after the server has executed the call.
type losing struct{ statuses []int }

func (losing *losing) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	losing.statuses = append(losing.statuses, response.StatusCode)
	if len(losing.statuses) > 1 {
		return response, nil
	}
	return nil, errors.Join(errors.New("the connection was reset"), response.Body.Close())
}

func TestLostResponseCreatesAndDeletesNothingTwice(t *testing.T) {
	ctx := context.Background()
	lossy := func() (*losing, *aloft.Client) {
		losing := &losing{}
		return losing, clientOf(t, server(), "write",
			aloft.WithHTTPClient(&http.Client{Transport: losing}), aloft.WithPauses(0, 0))
	}
	transport, client := lossy()
	id := create(ctx, t, client, "once")
	if !slices.Equal(transport.statuses, []int{200, 200}) {
		t.Error(transport.statuses)
	}
	plain := clientOf(t, server(), "write")
	list, err := plain.Monitor.ListMonitors(ctx, &monitorv1.ListMonitorsRequest{Limit: proto.Int32(100)})
	if err != nil {
		t.Fatal(err)
	}
	isOnce := func(monitor *monitorv1.TcpMonitor) bool { return monitor.GetName() == "once" }
	if found := slices.IndexFunc(list.TcpMonitors, isOnce); list.TcpMonitors[found].GetId() != id {
		t.Error("another monitor was created")
	}
	if again := slices.ContainsFunc(list.TcpMonitors, func(monitor *monitorv1.TcpMonitor) bool {
		return isOnce(monitor) && monitor.GetId() != id
	}); again {
		t.Error("it was created twice")
	}
	transport, client = lossy()
	if _, err := client.Monitor.DeleteMonitor(ctx, &monitorv1.DeleteMonitorRequest{Id: id}); err != nil {
		t.Error(err)
	}
	if !slices.Equal(transport.statuses, []int{200, 404}) {
		t.Error(transport.statuses)
	}
}

func TestEachCreateHasItsOwnKey(t *testing.T) {
	ctx := context.Background()
	client := clientOf(t, server(), "write")
	first, second := create(ctx, t, client, "same"), create(ctx, t, client, "same")
	ctx = aloft.WithCallOptions(ctx, aloft.WithIdempotencyKey("go-calls-test-same"))
	third, fourth := create(ctx, t, client, "same"), create(ctx, t, client, "same")
	if first == second || second == third || third != fourth {
		t.Error(first, second, third, fourth)
	}
}

func TestMaskLimitsAnUpdate(t *testing.T) {
	ctx := context.Background()
	client := clientOf(t, server(), "write")
	id := create(ctx, t, client, "before")
	changed, err := client.Monitor.UpdateTcpMonitor(ctx, &monitorv1.UpdateTcpMonitorRequest{
		Monitor: &monitorv1.TcpMonitor{
			Id: proto.String(id), Name: proto.String("after"), Retry: proto.Int32(1), DegradedAt: proto.Int32(900),
		},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"name", "degraded_at"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	monitor := changed.GetMonitor()
	if monitor.GetName() != "after" || monitor.GetDegradedAt() != 900 || monitor.GetRetry() != 3 {
		t.Error(monitor)
	}
}

func TestReadKeyRevokesOnlyItself(t *testing.T) {
	// spec: §4.2, §5.7
	ctx := context.Background()
	reader, writer := clientOf(t, server(), "spare"), clientOf(t, server(), "write")
	mine, err := reader.Whoami(ctx)
	if err != nil {
		t.Fatal(err)
	}
	other, err := writer.Whoami(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.RevokeKey(ctx, other.Actor.KeyID); !errors.Is(err, aloft.ErrPermissionDenied) {
		t.Error(err)
	}
	if err := reader.RevokeKey(ctx, mine.Actor.KeyID); err != nil {
		t.Error(err)
	}
	var failure *aloft.Error
	if _, err := reader.Whoami(ctx); !errors.As(err, &failure) || failure.Reason != "KEY_REVOKED" {
		t.Error(err)
	}
	if err := writer.RevokeKey(ctx, "../monitors"); !errors.Is(err, aloft.ErrNotFound) {
		t.Error(err)
	}
}

func TestErrorsOfServiceHaveEveryDetail(t *testing.T) {
	client := clientOf(t, server(), "write")
	ctx := aloft.WithCallOptions(context.Background(), aloft.WithHeader("X-Request-Id", "client-tests-1"))
	wrong := &monitorv1.HttpMonitor{
		Name: proto.String(""), Url: proto.String("nowhere"), Periodicity: proto.String("1m"), DegradedAt: proto.Int32(-1),
	}
	_, err := client.Monitor.CreateHttpMonitor(ctx, &monitorv1.CreateHttpMonitorRequest{Monitor: wrong})
	var failure *aloft.Error
	if !errors.As(err, &failure) {
		t.Fatal(err)
	}
	isFine := failure.Code == aloft.CodeInvalidArgument && failure.Reason == "INVALID_ARGUMENT" && failure.Status == 400
	if !isFine || failure.RequestID != "client-tests-1" || failure.RetryAfter != 0 {
		t.Errorf("%+v", failure)
	}
	if failure.Method != "monitor.v1.MonitorService/CreateHttpMonitor" {
		t.Error(failure.Method)
	}
	var fields []string
	for _, violation := range failure.Violations {
		if violation.Description == "" {
			t.Error(violation)
		}
		fields = append(fields, violation.Field)
	}
	slices.Sort(fields)
	if !slices.Equal(fields, []string{"monitor.degraded_at", "monitor.name", "monitor.url"}) {
		t.Error(fields)
	}
}
