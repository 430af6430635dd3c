package aloft

// Servers that are down, slow, cut off, or not ours: the client's error for each, and its number of attempts. No call
// is unintentionally executed twice.

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	monitorv1 "aloft.dev/client/gen/monitor/v1"
	statusreportv1 "aloft.dev/client/gen/status_report/v1"
)

// tries are the expected attempts by kind of call.
type tries map[string]int

var (
	thrice = tries{"read": 3, "change": 3, "create": 3, "trigger": 1}
	always = tries{"read": 3, "change": 3, "create": 3, "trigger": 3}
	once3  = tries{"read": 1, "change": 1, "create": 1, "trigger": 1}
)

// withThree are three attempts without a pause between them.
func withThree() []Option { return []Option{WithAttempts(3), WithPauses(0, 0)} }

type fault struct {
	name   string
	answer responder
	code   Code
	tries  tries
}

func faults(mediaType string) []fault {
	cutOff := func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", mediaType)
		_, _ = writer.Write([]byte(`{"httpMonitors":[{"id":"mon_1"`))
	}
	return []fault{
		{"resets the connection", reset, CodeUnavailable, thrice},
		{"breaks off in the middle", truncated(mediaType), CodeUnavailable, thrice},
		{"is a proxy without its server", page(502), CodeUnavailable, thrice},
		{"is a proxy whose server is away", page(503), CodeUnavailable, thrice},
		{"is a proxy whose server is slow", page(504), CodeUnavailable, thrice},
		{"cannot now", refusing(503, CodeUnavailable, "UNAVAILABLE"), CodeUnavailable, thrice},
		{"meets others", refusing(409, CodeAborted, "CONFLICT"), CodeAborted, thrice},
		{"names a stale revision", refusing(409, CodeAborted, "REVISION_MISMATCH"), CodeAborted, once3},
		{"has too many callers", refusing(429, CodeResourceExhausted, "RATE_LIMITED"), CodeResourceExhausted, always},
		{"is a proxy with too many callers", page(429), CodeResourceExhausted, always},
		{"answers a page with 200", page(200), CodeInternal, once3},
		{"answers half a message", cutOff, CodeInternal, once3},
		{"answers a text that is no object", answerJSON(200, "hello"), CodeInternal, once3},
		{"answers an object of another type", answerJSON(200, "{}", "Content-Type", "text/html"), CodeInternal, once3},
		{"answers nothing with 204", empty(204), CodeInternal, once3},
		{"answers nothing with 200", empty(200), CodeInternal, once3},
		{"fails", refusing(500, CodeInternal, "INTERNAL"), CodeInternal, once3},
		{"is a proxy that wants a password", page(401), CodeUnauthenticated, once3},
		{"is a proxy that lets nobody in", page(403), CodePermissionDenied, once3},
		{"is another server", page(404), CodeUnimplemented, once3},
		{"is a proxy that takes less", page(413), CodeResourceExhausted, once3},
		{"sends elsewhere", page(302, "Location", "https://elsewhere.example/"), CodeUnknown, once3},
		{"is a teapot", page(418), CodeUnknown, once3},
		{"finds nothing", refusing(404, CodeNotFound, "NOT_FOUND"), CodeNotFound, once3},
		{"takes no such message", refusing(413, CodeResourceExhausted, "PAYLOAD_TOO_LARGE"), CodeResourceExhausted, once3},
	}
}

func TestBadServersAreRecognisedAndRetriedIfSafe(t *testing.T) {
	formats := map[string][]Option{"application/proto": nil, "application/json": {WithJSON()}}
	for mediaType, options := range formats {
		for _, fault := range faults(mediaType) {
			for kind, call := range kinds {
				t.Run(fmt.Sprintf("one that %s: %s as %s", fault.name, kind, mediaType), func(t *testing.T) {
					server := startBadServer(t, fault.answer)
					client := clientOf(t, server.baseURL, append(withThree(), options...)...)
					failure := failed(t, call(context.Background(), client))
					if failure.Code != fault.code || len(server.requests()) != fault.tries[kind] {
						t.Errorf("%d attempts: %v", len(server.requests()), failure)
					}
				})
			}
		}
	}
}

func TestRefusedConnectionIsRetriedForEveryCall(t *testing.T) {
	for kind, call := range kinds {
		held := &heldClock{}
		client := clientOf(t, nobody(t), append(withThree(), withClock(held))...)
		failure := failed(t, call(context.Background(), client))
		isFine := failure.Code == CodeUnavailable && failure.Status == 0 && len(held.pauses) == 2
		if !isFine || !strings.Contains(failure.Message, "127.0.0.1") {
			t.Errorf("%s: %d pauses: %v", kind, len(held.pauses), failure)
		}
	}
}

func TestRetriedDeleteThatFindsNothingSucceeds(t *testing.T) {
	gone := refusing(404, CodeNotFound, "NOT_FOUND")
	ctx := context.Background()
	for _, lost := range []responder{reset, truncated("application/proto"), page(502)} {
		server := startBadServer(t, lost, gone)
		client := clientOf(t, server.baseURL, withThree()...)
		response, err := client.Monitor.DeleteMonitor(ctx, &monitorv1.DeleteMonitorRequest{Id: "mon_1"})
		if err != nil || response == nil || len(server.requests()) != 2 {
			t.Errorf("%v after %d attempts: %v", response, len(server.requests()), err)
		}
	}
	limited := refusing(429, CodeResourceExhausted, "RATE_LIMITED")
	putOff := refusing(503, CodeUnavailable, "UNAVAILABLE", "Retry-After", "0")
	for _, nothingDone := range []responder{limited, putOff} {
		client := clientOf(t, startBadServer(t, nothingDone, gone).baseURL, withThree()...)
		if failure := failed(t, kinds["change"](ctx, client)); failure.Code != CodeNotFound {
			t.Errorf("nothing was deleted by the first attempt: %v", failure)
		}
	}
	// The others have a response that a retry cannot provide.
	client := clientOf(t, startBadServer(t, reset, gone).baseURL, withThree()...)
	if failure := failed(t, read(ctx, client)); failure.Code != CodeNotFound {
		t.Error(failure)
	}
	client = clientOf(t, startBadServer(t, reset, gone).baseURL, withThree()...)
	request := &statusreportv1.DeleteStatusReportUpdateRequest{Id: "upd_1"}
	if _, err := client.StatusReport.DeleteStatusReportUpdate(ctx, request); failed(t, err).Code != CodeNotFound {
		t.Error(err)
	}
}

func TestLostResponseToOwnRevocationIsSuccess(t *testing.T) {
	revoked := answerJSON(401, map[string]string{"detail": "the key was revoked", "reason": "KEY_REVOKED"})
	revoke := func(id string, responders ...responder) error {
		server := startBadServer(t, responders...)
		options := append(withThree(), WithAPIKey("aloft_0000000000001_secret"))
		return clientOf(t, server.baseURL, options...).RevokeKey(context.Background(), id)
	}
	if err := revoke("key_0000000000001", reset, revoked); err != nil {
		t.Error(err)
	}
	if failure := failed(t, revoke("key_0000000000001", revoked)); failure.Reason != "KEY_REVOKED" {
		t.Errorf("it was revoked before: %v", failure)
	}
	if failure := failed(t, revoke("key_0000000000002", reset, revoked)); failure.Reason != "KEY_REVOKED" {
		t.Errorf("another key was meant: %v", failure)
	}
}

func TestOnlyBeginningOfForeignResponseIsRead(t *testing.T) {
	for text, shown := range map[string]string{
		"<p>": "that is empty", "<": "“<<", "<style": "that is empty", "words ": "“words words ",
	} {
		client := clientOf(t, startBadServer(t, endless(text)).baseURL, WithAttempts(1))
		failure := failed(t, read(context.Background(), client))
		if failure.Code != CodeUnavailable || !strings.Contains(failure.Message, shown) {
			t.Errorf("%s: %v", text, failure)
		}
	}
}

func TestRecoveringServerCausesNoError(t *testing.T) {
	limited := refusing(429, CodeResourceExhausted, "RATE_LIMITED")
	for _, answer := range []responder{reset, truncated("application/proto"), page(502), limited} {
		server := startBadServer(t, answer, answer, answerProto(foundMonitor()))
		client := clientOf(t, server.baseURL, withThree()...)
		response, err := client.Monitor.GetMonitor(context.Background(), &monitorv1.GetMonitorRequest{Id: "mon_1"})
		if err != nil || response.GetMonitor().GetHttp().GetId() != "mon_1" || len(server.requests()) != 3 {
			t.Errorf("%v after %d attempts: %v", response, len(server.requests()), err)
		}
	}
}

func TestRefusalBeforeExecutionIsRetriedForEveryCall(t *testing.T) {
	later := refusing(503, CodeUnavailable, "UNAVAILABLE", "Retry-After", "0")
	server := startBadServer(t, later, answerProto(&monitorv1.TriggerMonitorResponse{}))
	err := kinds["trigger"](context.Background(), clientOf(t, server.baseURL, withThree()...))
	if err != nil || len(server.requests()) != 2 {
		t.Errorf("%d attempts: %v", len(server.requests()), err)
	}
}

func TestAttemptsAreOfClientOrCall(t *testing.T) {
	server := startBadServer(t, page(502))
	without := clientOf(t, server.baseURL, WithAttempts(1))
	ctx := context.Background()
	expect := func(ctx context.Context, client *Client, expected int) {
		t.Helper()
		_ = failed(t, read(ctx, client))
		if count := len(server.requests()); count != expected {
			t.Errorf("%d requests", count)
		}
	}
	expect(ctx, without, 1)
	expect(WithCallOptions(ctx, WithAttempts(1)), clientOf(t, server.baseURL, withThree()...), 2)
	expect(WithCallOptions(ctx, WithAttempts(2), WithPauses(0, 0)), without, 4)
}

func TestSilentServerFailsAtTimeLimit(t *testing.T) {
	for _, answer := range []responder{silence, stuck} {
		held := &heldClock{}
		server := startBadServer(t, answer)
		client := clientOf(t, server.baseURL, withClock(held), WithTimeout(100_000_000))
		outcome := make(chan error)
		go func() { outcome <- read(context.Background(), client) }()
		<-server.visited
		held.expire()
		failure := failed(t, <-outcome)
		isFine := failure.Code == CodeDeadlineExceeded && len(server.requests()) == 1
		if !isFine || !strings.Contains(failure.Message, "100ms") {
			t.Error(failure)
		}
	}
}

func TestSlowResponseIsReadToItsEnd(t *testing.T) {
	message := foundMonitor()
	message.Monitor.GetHttp().Name = proto.String(strings.Repeat("Shop API ", 20))
	server := startBadServer(t, func(writer http.ResponseWriter, request *http.Request) {
		answerProto(message)(dribbling{writer}, request)
	})
	client := clientOf(t, server.baseURL)
	response, err := client.Monitor.GetMonitor(context.Background(), &monitorv1.GetMonitorRequest{Id: "mon_1"})
	if err != nil || response.Monitor.GetHttp().GetName() != message.Monitor.GetHttp().GetName() {
		t.Errorf("%v: %v", response, err)
	}
}

// dribbling writes byte by byte.
type dribbling struct{ http.ResponseWriter }

func (writer dribbling) Write(body []byte) (int, error) {
	for at := range body {
		if _, err := writer.ResponseWriter.Write(body[at : at+1]); err != nil {
			return at, err
		}
		_ = http.NewResponseController(writer.ResponseWriter).Flush()
	}
	return len(body), nil
}

func TestUnknownFieldsAndReasonsAreAccepted(t *testing.T) {
	ctx := context.Background()
	newer := map[string]any{
		"monitor": map[string]any{"http": map[string]any{"id": "mon_1", "colour": "blue"}}, "forecast": "rain",
	}
	client := clientOf(t, startBadServer(t, answerJSON(200, newer)).baseURL, WithJSON())
	if err := read(ctx, client); err != nil {
		t.Error(err)
	}
	client = clientOf(t, startBadServer(t, refusing(400, CodeInvalidArgument, "MOON_IS_FULL")).baseURL)
	failure := failed(t, read(ctx, client))
	if failure.Code != CodeInvalidArgument || failure.Reason != "MOON_IS_FULL" || len(failure.Violations) > 0 {
		t.Error(failure)
	}
	client = clientOf(t, startBadServer(t, refusing(503, "moonlit", "MOON_IS_FULL")).baseURL, WithAttempts(1))
	if failure := failed(t, read(ctx, client)); failure.Code != CodeUnavailable {
		t.Errorf("the status replaces an unknown code: %v", failure)
	}
}

func TestForeignPageIsErrorWithHint(t *testing.T) {
	ctx := context.Background()
	failure := failed(t, read(ctx, clientOf(t, startBadServer(t, page(200)).origin)))
	if !strings.Contains(failure.Message, "WithBaseURL") || !strings.Contains(failure.Message, "an opinion”") {
		t.Error(failure)
	}
	elsewhere := startBadServer(t, answerProto(foundMonitor()))
	moved := startBadServer(t, page(301, "Location", elsewhere.baseURL))
	for name, call := range map[string]func(*Client) error{
		"an RPC": func(client *Client) error { return read(ctx, client) },
		"/v1":    func(client *Client) error { return client.RevokeKey(ctx, "key_1") },
	} {
		failure := failed(t, call(clientOf(t, moved.baseURL)))
		if !strings.Contains(failure.Message, "a redirect to "+elsewhere.baseURL) {
			t.Errorf("%s: %v", name, failure)
		}
	}
	if len(elsewhere.requests()) > 0 {
		t.Error("the key was sent along")
	}
}

func TestV1TreatsBadServersInSameWay(t *testing.T) {
	for _, row := range []struct {
		answer responder
		code   Code
		tries  int
	}{
		{reset, CodeUnavailable, 3},
		{truncated("application/json"), CodeUnavailable, 3},
		{page(502), CodeUnavailable, 3},
		{page(404), CodeUnimplemented, 1},
		{page(429), CodeResourceExhausted, 3},
		{page(200), CodeInternal, 1},
		{answerJSON(200, "hello"), CodeInternal, 1},
		{empty(204), CodeInternal, 1},
	} {
		server := startBadServer(t, row.answer)
		_, err := clientOf(t, server.baseURL, withThree()...).Whoami(context.Background())
		requests := server.requests()
		if failed(t, err).Code != row.code || len(requests) != row.tries || requests[0].path != "/v1/whoami" {
			t.Errorf("%v: %v", requests, err)
		}
	}
}
