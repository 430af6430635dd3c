package aloft

// Servers that misbehave, a clock under control, and calls of each kind, for all tests of this package.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	monitorv1 "aloft.dev/client/gen/monitor/v1"
)

const testKey = "aloft_key"

// responder answers a request.
type responder func(http.ResponseWriter, *http.Request)

// asked is a request as a server got it.
type asked struct {
	path   string
	header http.Header
}

// badServer returns the given responses in order, then repeats the last one.
type badServer struct {
	origin  string
	baseURL string
	// visited gets a value for each request.
	visited chan struct{}
	mutex   sync.Mutex
	asked   []asked
}

func startBadServer(t *testing.T, responders ...responder) *badServer {
	t.Helper()
	server := &badServer{visited: make(chan struct{}, 1_000)}
	started := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		server.mutex.Lock()
		responder := responders[min(len(server.asked), len(responders)-1)]
		server.asked = append(server.asked, asked{request.URL.Path, request.Header})
		server.mutex.Unlock()
		server.visited <- struct{}{}
		responder(writer, request)
	}))
	t.Cleanup(started.Close)
	t.Cleanup(started.CloseClientConnections)
	server.origin, server.baseURL = started.URL, started.URL+"/rpc"
	return server
}

// requests returns all requests so far.
func (server *badServer) requests() []asked {
	server.mutex.Lock()
	defer server.mutex.Unlock()
	return append([]asked{}, server.asked...)
}

// nobody returns an address without a listener.
func nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return "http://" + address + "/rpc"
}

// headers are headers of a response, each name before its value.
func setHeaders(writer http.ResponseWriter, headers []string) {
	for at := 0; at+1 < len(headers); at += 2 {
		writer.Header().Set(headers[at], headers[at+1])
	}
}

// answerJSON is JSON with this status.
func answerJSON(status int, body any, headers ...string) responder {
	return func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "application/json")
		setHeaders(writer, headers)
		writer.WriteHeader(status)
		_ = json.NewEncoder(writer).Encode(body)
	}
}

// answerProto is a message with 200.
func answerProto(message proto.Message) responder {
	return func(writer http.ResponseWriter, _ *http.Request) {
		body, _ := proto.Marshal(message)
		writer.Header().Set("Content-Type", "application/proto")
		_, _ = writer.Write(body)
	}
}

// refusing is an error of the real server, with its reason.
func refusing(status int, code Code, reason string, headers ...string) responder {
	info := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), reason)
	info = protowire.AppendString(protowire.AppendTag(info, 2, protowire.BytesType), "aloft")
	details := []detail{{Type: "google.rpc.ErrorInfo", Value: base64.RawStdEncoding.EncodeToString(info)}}
	body := map[string]any{"code": code, "message": "it is " + string(code), "details": details}
	return answerJSON(status, body, headers...)
}

// page is a page of a proxy in front of the server.
func page(status int, headers ...string) responder {
	return func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "text/html; charset=utf-8")
		setHeaders(writer, headers)
		writer.WriteHeader(status)
		text := strconv.Itoa(status)
		_, _ = writer.Write([]byte("<!doctype html><title>" + text + "</title><h1>The proxy has an opinion</h1>"))
	}
}

// empty is a status without a body.
func empty(status int) responder {
	return func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "application/json")
		writer.WriteHeader(status)
	}
}

// endless is a page that never ends.
func endless(text string) responder {
	much := []byte(strings.Repeat(text, 10_000))
	return func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "text/html")
		writer.WriteHeader(http.StatusBadGateway)
		for {
			if _, err := writer.Write(much); err != nil {
				return
			}
		}
	}
}

// silence never responds.
func silence(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() }

// stuck is the beginning of a response, and then nothing more.
func stuck(writer http.ResponseWriter, request *http.Request) {
	writer.Header().Set("Content-Type", "application/proto")
	writer.Header().Set("Content-Length", "1000")
	_, _ = writer.Write([]byte("beginning"))
	_ = http.NewResponseController(writer).Flush()
	<-request.Context().Done()
}

// truncated is the beginning of a response, and then the end of the connection.
func truncated(mediaType string) responder {
	return func(writer http.ResponseWriter, _ *http.Request) {
		connection := hijack(writer)
		head := "HTTP/1.1 200 OK\r\nContent-Type: " + mediaType + "\r\nContent-Length: 1000\r\n\r\nbeginning"
		_, _ = connection.Write([]byte(head))
		_ = connection.Close()
	}
}

// reset ends the connection without a response.
func reset(writer http.ResponseWriter, _ *http.Request) {
	connection := hijack(writer)
	_ = connection.(*net.TCPConn).SetLinger(0)
	_ = connection.Close()
}

func hijack(writer http.ResponseWriter) net.Conn {
	connection, _, err := http.NewResponseController(writer).Hijack()
	if err != nil {
		panic(err)
	}
	return connection
}

// foundMonitor is a response with a monitor.
func foundMonitor() *monitorv1.GetMonitorResponse {
	monitor := &monitorv1.HttpMonitor{Id: proto.String("mon_1")}
	return &monitorv1.GetMonitorResponse{Monitor: &monitorv1.Monitor{Kind: &monitorv1.Monitor_Http{Http: monitor}}}
}

// kinds are calls: a read, an idempotent change, a create with its key, and one that must not be executed twice.
var kinds = map[string]func(context.Context, *Client) error{
	"read": func(ctx context.Context, client *Client) error {
		_, err := client.Monitor.GetMonitor(ctx, &monitorv1.GetMonitorRequest{Id: "mon_1"})
		return err
	},
	"change": func(ctx context.Context, client *Client) error {
		_, err := client.Monitor.DeleteMonitor(ctx, &monitorv1.DeleteMonitorRequest{Id: "mon_1"})
		return err
	},
	"create": func(ctx context.Context, client *Client) error {
		monitor := &monitorv1.TcpMonitor{
			Name: proto.String("Database"), Uri: proto.String("db.example.com:5432"), Periodicity: proto.String("1m"),
		}
		_, err := client.Monitor.CreateTcpMonitor(ctx, &monitorv1.CreateTcpMonitorRequest{Monitor: monitor})
		return err
	},
	"trigger": func(ctx context.Context, client *Client) error {
		_, err := client.Monitor.TriggerMonitor(ctx, &monitorv1.TriggerMonitorRequest{Id: "mon_1"})
		return err
	},
}

// read is the first of kinds.
func read(ctx context.Context, client *Client) error { return kinds["read"](ctx, client) }

// heldClock is a clock that only its pauses move.
type heldClock struct {
	passed time.Duration
	chance float64
	pauses []time.Duration
	limits []time.Duration
	// onPause is called during each pause.
	onPause func()
	// expire ends the last time limit.
	expire func()
}

// limitedContext has a deadline of a heldClock.
type limitedContext struct {
	context.Context
	deadline time.Time
}

func (ctx limitedContext) Deadline() (time.Time, bool) { return ctx.deadline, true }

func (held *heldClock) clock() clock {
	now := func() time.Time { return time.Unix(1_800_000_000, 0).Add(held.passed) }
	return clock{
		now:    now,
		random: func() float64 { return held.chance },
		pause: func(_ context.Context, pause time.Duration) {
			held.pauses = append(held.pauses, pause)
			held.passed += pause
			if held.onPause != nil {
				held.onPause()
			}
		},
		limit: func(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
			held.limits = append(held.limits, limit)
			ctx, cancel := context.WithCancelCause(ctx)
			held.expire = func() { cancel(errTimeLimit{limit}) }
			return limitedContext{ctx, now().Add(limit)}, func() { cancel(nil) }
		},
	}
}

// withClock makes the clock of a client a held one.
func withClock(held *heldClock) Option {
	return clientOption(func(settings *settings) error {
		settings.clock = held.clock()
		return nil
	})
}

// clientOf creates a client of a server, without time limit.
func clientOf(t *testing.T, baseURL string, options ...Option) *Client {
	t.Helper()
	all := append([]Option{WithAPIKey(testKey), WithBaseURL(baseURL), WithTimeout(0)}, options...)
	client, err := New(all...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// failed returns the client's error; fails without one.
func failed(t *testing.T, err error) *Error {
	t.Helper()
	failure, ok := err.(*Error)
	if !ok {
		t.Fatalf("not an error of the client: %T %v", err, err)
	}
	return failure
}
