package aloft

// Key, address and headers of a call: from option, environment, both or neither.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	monitorv1 "aloft.dev/client/gen/monitor/v1"
	regionv1 "aloft.dev/client/gen/region/v1"
)

// recorder is a transport that records requests, and answers with an empty message or an empty object.
type recorder struct{ asked []*http.Request }

func (recorder *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder.asked = append(recorder.asked, request)
	header := http.Header{"Content-Type": {"application/proto"}}
	body := http.NoBody
	if strings.Contains(request.URL.Path, "/v1/") {
		header.Set("Content-Type", "application/json")
		if request.Method == http.MethodDelete {
			return &http.Response{StatusCode: 204, Header: header, Body: body, Request: request}, nil
		}
		return answerWith(request, header, `{"name":"Acme","actor":{"type":"apiKey"}}`), nil
	}
	return &http.Response{StatusCode: 200, Header: header, Body: body, Request: request}, nil
}

// recorded creates a client and returns its only request, of a list of regions.
func recorded(t *testing.T, ctx context.Context, options ...Option) *http.Request {
	t.Helper()
	recorder := &recorder{}
	client, err := New(append(options, WithHTTPClient(&http.Client{Transport: recorder}))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Region.ListRegions(ctx, &regionv1.ListRegionsRequest{}); err != nil {
		t.Fatal(err)
	}
	return recorder.asked[0]
}

func TestAddressIsOptionThenEnvironmentThenDefault(t *testing.T) {
	ctx := context.Background()
	addressWith := func(options ...Option) string {
		url := recorded(t, ctx, options...).URL.String()
		return strings.TrimSuffix(url, "/region.v1.RegionService/ListRegions")
	}
	t.Setenv("SERVICE_API_URL", " ")
	for _, row := range []struct{ environment, option, expected string }{
		{" ", "", "http://127.0.0.1:8080/rpc"},
		{" ", "https://up.example/rpc/", "https://up.example/rpc"},
		{"https://staging.example/rpc", "", "https://staging.example/rpc"},
		{"https://staging.example/rpc", "  ", "https://staging.example/rpc"},
		{"https://staging.example/rpc", "https://up.example/rpc", "https://up.example/rpc"},
		{" ", "https://example.com/up/rpc?query#hash", "https://example.com/up/rpc"},
	} {
		t.Setenv("SERVICE_API_URL", row.environment)
		if address := addressWith(WithBaseURL(row.option)); address != row.expected {
			t.Errorf("%v: %s", row, address)
		}
	}
}

func TestKeyIsOptionThenEnvironment(t *testing.T) {
	for _, row := range []struct{ environment, option, expected string }{
		{"", "", ""}, {"aloft_env", "", "aloft_env"}, {"aloft_env", " ", "aloft_env"},
		{"aloft_env", "aloft_option", "aloft_option"}, {"", " aloft_option ", "aloft_option"},
	} {
		t.Setenv("SERVICE_API_KEY", row.environment)
		header := recorded(t, context.Background(), WithAPIKey(row.option)).Header
		if header.Get("X-Service-Key") != row.expected || header.Get("Authorization") != "" {
			t.Errorf("%v: %v", row, header)
		}
	}
}

func TestHeadersOfCallPrecedeThoseOfClient(t *testing.T) {
	ctx := context.Background()
	client := []Option{WithAPIKey("aloft_key"), WithHeader("X-Team", "core"), WithHeader("X-Request-Id", "one")}
	header := recorded(t, ctx, client...).Header
	if header.Get("X-Team") != "core" || !strings.HasPrefix(header.Get("User-Agent"), "aloft-client-go/"+Version) {
		t.Error(header)
	}
	for _, name := range []string{"X-Service-Key", "x-service-key"} {
		header = recorded(t, WithCallOptions(ctx, WithHeader(name, "aloft_other")), client...).Header
		if fmt.Sprint(header.Values("X-Service-Key")) != "[aloft_other]" || header.Get("X-Team") != "core" {
			t.Error(header)
		}
	}
	ctx = WithCallOptions(ctx, WithHeader("X-Request-Id", "two"), WithHeader("User-Agent", "mine"))
	ctx = WithCallOptions(ctx, WithHeader("Content-Type", "text/plain"))
	header = recorded(t, ctx, client...).Header
	isOurs := header.Get("Content-Type") == "application/proto" && header.Get("User-Agent") == "mine"
	if !isOurs || header.Get("X-Request-Id") != "two" || header.Get("X-Service-Key") != "aloft_key" {
		t.Error(header)
	}
	ctx, call := connect.NewClientContext(context.Background())
	call.RequestHeader().Set("X-Service-Key", "aloft_other")
	if key := recorded(t, ctx, client...).Header.Values("X-Service-Key"); fmt.Sprint(key) != "[aloft_other]" {
		t.Error(key)
	}
}

func TestV1IsBesideServices(t *testing.T) {
	recorder := &recorder{}
	client, err := New(WithBaseURL("https://example.com/up/rpc"), WithAPIKey("aloft_key"),
		WithHTTPClient(&http.Client{Transport: recorder}))
	if err != nil {
		t.Fatal(err)
	}
	identity, err := client.Whoami(context.Background())
	if err != nil || identity.Name != "Acme" {
		t.Fatal(identity, err)
	}
	if err := client.RevokeKey(context.Background(), "../monitors"); err != nil {
		t.Fatal(err)
	}
	for at, expected := range []string{
		"GET https://example.com/up/v1/whoami", "DELETE https://example.com/up/v1/api-key/..%2Fmonitors",
	} {
		asked := recorder.asked[at]
		if asked.Method+" "+asked.URL.String() != expected || asked.Header.Get("X-Service-Key") != "aloft_key" {
			t.Error(asked.Method, asked.URL, asked.Header)
		}
	}
	if err := client.RevokeKey(context.Background(), ""); !errors.Is(err, ErrInvalidArgument) {
		t.Error(err)
	}
}

func TestInvalidOptionsAreRejectedAtOnce(t *testing.T) {
	for expected, options := range map[string][]Option{
		"`WithBaseURL` must be an http or https address such as http://127.0.0.1:8080/rpc (given: `up.example/rpc`)": {
			WithBaseURL("up.example/rpc"),
		},
		"(given: `ftp://up.example/rpc`)":   {WithBaseURL("ftp://up.example/rpc")},
		"(given: `https:///rpc`)":           {WithBaseURL("https:///rpc")},
		"must not hold credentials":         {WithBaseURL("https://ada:secret@up.example/rpc")},
		"invalid character in the API key":  {WithAPIKey("two words")},
		"`WithTimeout` needs a time":        {WithTimeout(-time.Second)},
		"`WithAttempts` needs a number":     {WithAttempts(0)},
		"`WithPauses` needs times":          {WithPauses(-1, 0)},
		"the header `X Team`":               {WithHeader("X Team", "core")},
		"the header `X-Team`":               {WithHeader("X-Team", "a\nb")},
		"`WithHTTPClient` needs a client":   {WithHTTPClient(nil)},
		"the header ``":                     {WithHeader("", "value")},
		"(given: `https://up.example:a/b`)": {WithBaseURL("https://up.example:a/b")},
	} {
		_, err := New(options...)
		failure := failed(t, err)
		isFine := failure.Code == CodeInvalidArgument && failure.Reason == "INVALID_ARGUMENT"
		if !isFine || !strings.Contains(failure.Message, expected) || strings.Contains(failure.Message, "secret") {
			t.Errorf("%s: %v", expected, failure)
		}
	}
	t.Setenv("SERVICE_API_URL", "up.example")
	_, err := New()
	if failure := failed(t, err); !strings.HasPrefix(failure.Message, "`SERVICE_API_URL` must be an http or https") {
		t.Error(failure)
	}
}

func TestInvalidCallOptionsFailTheCall(t *testing.T) {
	server := startBadServer(t, answerProto(foundMonitor()))
	client := clientOf(t, server.baseURL)
	for _, option := range []CallOption{
		WithTimeout(-1), WithAttempts(0), WithHeader("X Team", ""), WithIdempotencyKey("\n"),
	} {
		ctx := WithCallOptions(context.Background(), option)
		if err := read(ctx, client); failed(t, err).Code != CodeInvalidArgument {
			t.Error(err)
		}
		if _, err := client.Whoami(ctx); failed(t, err).Code != CodeInvalidArgument {
			t.Error(err)
		}
	}
	if len(server.requests()) > 0 {
		t.Error("an invalid call was sent")
	}
}

func TestRequestThatCannotBeEncodedIsInvalid(t *testing.T) {
	server := startBadServer(t, answerProto(foundMonitor()))
	request := &monitorv1.GetMonitorRequest{Id: "\xff"}
	for _, options := range [][]Option{nil, {WithJSON()}} {
		_, err := clientOf(t, server.baseURL, options...).Monitor.GetMonitor(context.Background(), request)
		failure := failed(t, err)
		if failure.Code != CodeInvalidArgument || failure.Method != "monitor.v1.MonitorService/GetMonitor" {
			t.Error(failure)
		}
	}
	if len(server.requests()) > 0 {
		t.Error("it was sent")
	}
	answer, err := clientOf(t, server.baseURL).Monitor.GetMonitor(context.Background(), nil)
	if err != nil || !proto.Equal(answer, foundMonitor()) {
		t.Errorf("nil is an empty request: %v", err)
	}
}
