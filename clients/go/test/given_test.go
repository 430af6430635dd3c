// Package test tests the client against real servers, which crates/cli/tests/client starts. The other tests, which need no
// server, are beside the code.
package test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	aloft "aloft.dev/client"
)

// scenarios is the folder of the scenarios.
const scenarios = "../../scenarios"

// workspace is a workspace on a server, with keys by kind (write, read, other, …).
type workspace struct {
	BaseURL string            `json:"baseUrl"`
	Host    string            `json:"host"`
	Keys    map[string]string `json:"keys"`
}

// given has the workspaces by name: scenarios have the names of their files, everything else is “server”.
var given map[string]workspace

func TestMain(m *testing.M) {
	err := json.Unmarshal([]byte(os.Getenv("ALOFT_CLIENT_TESTS")), &given)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ALOFT_CLIENT_TESTS has no servers: run `cargo test -p aloft --test client`:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// isJSON makes clients send JSON instead of protobuf.
func isJSON() bool { return os.Getenv("ALOFT_CLIENT_FORMAT") == "json" }

// clientOf creates a client with the key of this kind.
func clientOf(t *testing.T, workspace workspace, kind string, options ...aloft.Option) *aloft.Client {
	t.Helper()
	key := workspace.Keys[kind]
	if key == "" && kind != "none" {
		t.Fatalf("there is no key `%s`", kind)
	}
	all := []aloft.Option{aloft.WithAPIKey(key), aloft.WithBaseURL(workspace.BaseURL)}
	if isJSON() {
		all = append(all, aloft.WithJSON())
	}
	client, err := aloft.New(append(all, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// received is a request as a site got it.
type received struct {
	header http.Header
	body   []byte
}

// site is the target of monitors and the receiver of channels, on loopback.
type site struct {
	url      string
	received chan received
}

var statusPath = regexp.MustCompile(`^/status/(\d{3})$`)

// startSite returns this status for every path and 418 for /status/418, and never responds at /silent.
func startSite(t *testing.T, status int) *site {
	t.Helper()
	site := &site{received: make(chan received, 1_000)}
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		select {
		case site.received <- received{request.Header, body}:
		default:
			// Only the first requests are looked at.
		}
		if strings.HasPrefix(request.URL.Path, "/silent") {
			<-request.Context().Done()
			return
		}
		answered := status
		if asked := statusPath.FindStringSubmatch(request.URL.Path); asked != nil {
			answered, _ = strconv.Atoi(asked[1])
		}
		writer.WriteHeader(answered)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	site.url = server.URL
	return site
}
