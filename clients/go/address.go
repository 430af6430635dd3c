package aloft

import (
	"fmt"
	"net/url"
	"strings"
)

// DefaultBaseURL is the default address: a server on this machine.
const DefaultBaseURL = "http://127.0.0.1:8080/rpc"

// address has the service's addresses, without a trailing slash.
type address struct {
	// rpc is the base of method paths, such as https://up.example/rpc.
	rpc string
	// host is the base of /v1: the same without a trailing /rpc.
	host string
}

// addressOf returns the effective address: the given one, the environment's, or that of this machine.
func addressOf(given string) (address, error) {
	if given = strings.TrimSpace(given); given != "" {
		return parseAddress(given, "WithBaseURL")
	}
	if given = environment(urlVariable); given != "" {
		return parseAddress(given, urlVariable)
	}
	return parseAddress(DefaultBaseURL, "DefaultBaseURL")
}

func parseAddress(given, name string) (address, error) {
	parsed, err := url.Parse(given)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" {
		return address{}, invalid(fmt.Sprintf(
			"`%s` must be an http or https address such as %s (given: `%s`)", name, DefaultBaseURL, given))
	}
	if parsed.User != nil {
		return address{}, invalid(fmt.Sprintf(
			"`%s` must not hold credentials; the API key goes into `WithAPIKey`", name))
	}
	rpc := strings.TrimRight(parsed.Scheme+"://"+parsed.Host+parsed.EscapedPath(), "/")
	return address{rpc: rpc, host: strings.TrimSuffix(rpc, "/rpc")}, nil
}
