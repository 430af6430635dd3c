package aloft

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Option sets a property of a client; see [New].
type Option interface {
	applyToClient(*settings) error
}

// CallOption sets a property of one call; see [WithCallOptions].
type CallOption interface {
	applyToCall(*callSettings) error
}

// SharedOption sets a property of a client, for all its calls, or of one call.
type SharedOption func(*callSettings) error

func (option SharedOption) applyToClient(settings *settings) error { return option(&settings.calls) }
func (option SharedOption) applyToCall(call *callSettings) error   { return option(call) }

type clientOption func(*settings) error

func (option clientOption) applyToClient(settings *settings) error { return option(settings) }

type callOption func(*callSettings) error

func (option callOption) applyToCall(call *callSettings) error { return option(call) }

// settings are the effective options of a client.
type settings struct {
	apiKey     string
	baseURL    string
	httpClient *http.Client
	isJSON     bool
	// calls has the defaults of all calls.
	calls callSettings
	clock clock
}

// callSettings are the effective options of a call.
type callSettings struct {
	// timeout is nil for the method's own.
	timeout *time.Duration
	retry   retry
	header  http.Header
	// idempotencyKey is empty for a random one.
	idempotencyKey string
}

// WithAPIKey sets the key. If it is blank or missing, the environment variable SERVICE_API_KEY has the key. Calls of a
// client without a key need [WithHeader] with X-Service-Key.
func WithAPIKey(key string) Option {
	return clientOption(func(settings *settings) error {
		settings.apiKey = strings.TrimSpace(key)
		return nil
	})
}

// WithBaseURL sets the address of the service, which usually ends in /rpc. If it is blank or missing, the environment
// variable SERVICE_API_URL has the address, or it is [DefaultBaseURL].
func WithBaseURL(address string) Option {
	return clientOption(func(settings *settings) error {
		settings.baseURL = address
		return nil
	})
}

// WithHTTPClient sets the client that sends requests, for example with a proxy or certificates of its own. It is
// copied, and the copy follows no redirects, because they would send the key along.
func WithHTTPClient(client *http.Client) Option {
	return clientOption(func(settings *settings) error {
		if client == nil {
			return invalid("`WithHTTPClient` needs a client")
		}
		settings.httpClient = client
		return nil
	})
}

// WithJSON sends and asks for messages as JSON instead of protobuf, for example to read them in a proxy.
func WithJSON() Option {
	return clientOption(func(settings *settings) error {
		settings.isJSON = true
		return nil
	})
}

// WithTimeout limits the time of a call with all its attempts; 0 removes the limit. The default is a minute, and 150
// seconds for TriggerMonitor, which waits for its checks. A context that ends earlier ends the call earlier.
func WithTimeout(timeout time.Duration) SharedOption {
	return func(call *callSettings) error {
		if timeout < 0 {
			return invalid(fmt.Sprintf("`WithTimeout` needs a time, 0 for no limit (given: `%s`)", timeout))
		}
		call.timeout = &timeout
		return nil
	}
}

// WithAttempts sets the maximum number of attempts, including the first. The default is 4; 1 disables retries.
func WithAttempts(attempts int) SharedOption {
	return func(call *callSettings) error {
		if attempts < 1 {
			return invalid(fmt.Sprintf("`WithAttempts` needs a number from 1 on (given: `%d`)", attempts))
		}
		call.retry.attempts = attempts
		return nil
	}
}

// WithPauses sets the bound of the pause before the second attempt, which doubles with each attempt, and the bound of
// every pause. The defaults are 200 ms and 5 s.
func WithPauses(first, longest time.Duration) SharedOption {
	return func(call *callSettings) error {
		if first < 0 || longest < 0 {
			return invalid(fmt.Sprintf("`WithPauses` needs times from 0 on (given: `%s` and `%s`)", first, longest))
		}
		call.retry.firstPause, call.retry.longestPause = first, longest
		return nil
	}
}

// WithHeader sets a header of the requests. X-Service-Key replaces the key.
func WithHeader(name, value string) SharedOption {
	return func(call *callSettings) error {
		if err := checkHeader(name, value); err != nil {
			return err
		}
		if http.CanonicalHeaderKey(name) == http.CanonicalHeaderKey(idempotencyHeader) {
			return invalid("`WithHeader` sets headers of all calls; use `WithIdempotencyKey` for a create")
		}
		header := call.header.Clone()
		if header == nil {
			header = http.Header{}
		}
		header.Set(name, value)
		call.header = header
		return nil
	}
}

// WithIdempotencyKey sets the idempotency key of a create: a call with the same key returns the result of the first
// one. The default is a random key per call, which its attempts share. Other methods ignore it.
func WithIdempotencyKey(key string) CallOption {
	return callOption(func(call *callSettings) error {
		call.idempotencyKey = key
		return checkHeader(idempotencyHeader, key)
	})
}

// callOptionsKey is the key of call options in a context.
type callOptionsKey struct{}

// WithCallOptions returns a context for calls with these options, which precede those of the client and of ctx. Invalid
// options fail the calls.
//
// Every create with a context that has an idempotency key is the same create, so use such a context for one call:
//
//	once := aloft.WithCallOptions(ctx, aloft.WithTimeout(2*time.Second), aloft.WithIdempotencyKey("deploy-42"))
func WithCallOptions(ctx context.Context, options ...CallOption) context.Context {
	earlier, _ := ctx.Value(callOptionsKey{}).([]CallOption)
	all := append(append([]CallOption{}, earlier...), options...)
	return context.WithValue(ctx, callOptionsKey{}, all)
}

// of returns the settings of a call with this context.
func (defaults callSettings) of(ctx context.Context) (callSettings, error) {
	options, _ := ctx.Value(callOptionsKey{}).([]CallOption)
	for _, option := range options {
		if err := option.applyToCall(&defaults); err != nil {
			return defaults, err
		}
	}
	return defaults, nil
}

// settingsOf reads the options and the environment.
func settingsOf(options []Option) (settings, error) {
	settings := settings{
		httpClient: http.DefaultClient,
		calls:      callSettings{retry: defaultRetry},
		clock:      realClock(),
	}
	for _, option := range options {
		if err := option.applyToClient(&settings); err != nil {
			return settings, err
		}
	}
	if settings.apiKey == "" {
		settings.apiKey = environment(keyVariable)
	}
	for _, char := range []byte(settings.apiKey) {
		if char < 0x21 || char > 0x7e {
			return settings, invalid("invalid character in the API key; copy it again")
		}
	}
	return settings, nil
}
