package aloft

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"aloft.dev/client/gen/methods"
)

// callTimeout is the default time limit of a call.
const callTimeout = time.Minute

// traits are the parameters of a call's attempts.
type traits struct {
	// name of the method, for errors.
	name string
	// isSafe: it may be executed twice.
	isSafe bool
	// timeout is the default time limit.
	timeout time.Duration
	// isDone reports whether this failure shows that an earlier attempt with a lost response has succeeded.
	isDone func(*Error) bool
}

// caller makes calls with all their attempts.
type caller struct {
	apiKey   string
	defaults callSettings
	clock    clock
}

// run makes attempts until one succeeds, another one would not help, or the time is over. It returns nil without a
// response of the last attempt if an earlier one has succeeded and its response was lost.
func (caller *caller) run(
	ctx context.Context, call callSettings, traits traits, attempt func(context.Context) error,
) error {
	timeout := traits.timeout
	if call.timeout != nil {
		timeout = *call.timeout
	}
	if timeout > 0 {
		limited, stop := caller.clock.limit(ctx, timeout)
		defer stop()
		ctx = limited
	}
	var last *Error
	isUnclear := false
	for tries := 1; ; tries++ {
		if ctx.Err() != nil {
			return ended(ctx, traits.name, last)
		}
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		failure, ok := failureOf(err)
		if !ok {
			failure = &Error{Code: CodeUnknown, Method: traits.name, Message: err.Error(), cause: err}
		}
		if ctx.Err() != nil && failure.Status == 0 {
			return ended(ctx, traits.name, last)
		}
		if isUnclear && traits.isDone(failure) {
			return nil
		}
		if tries >= call.retry.attempts || !mayHelp(failure, traits.isSafe) {
			return failure
		}
		pause, ok := caller.clock.pauseOf(failure, tries, call.retry)
		if deadline, isLimited := ctx.Deadline(); !ok || isLimited && pause >= deadline.Sub(caller.clock.now()) {
			return failure
		}
		caller.clock.pause(ctx, pause)
		isUnclear = isUnclear || mayBeDone(failure)
		last = failure
	}
}

// ended returns the error of a call whose context is done: by its time limit, or by the caller. last is the failure of
// its last attempt.
func ended(ctx context.Context, method string, last *Error) *Error {
	cause := context.Cause(ctx)
	failure := &Error{Code: CodeCanceled, Method: method, Message: "the call was ended by its context", cause: cause}
	var limit errTimeLimit
	switch {
	case errors.As(cause, &limit):
		failure.Code = CodeDeadlineExceeded
		failure.Message = "the call did not come to its end within " + limit.limit.String() +
			"; `WithTimeout` gives it longer"
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		failure.Code = CodeDeadlineExceeded
	}
	if failure.Code == CodeDeadlineExceeded && last != nil {
		failure.cause = last
	}
	return failure
}

// protocolHeaders belong to connect-go.
var protocolHeaders = []string{
	"Accept-Encoding", "Connect-Protocol-Version", "Connect-Timeout-Ms", "Content-Encoding", "Content-Type",
}

// headerOf adds the headers of a call. Those of connect.NewClientContext are present already.
func (caller *caller) headerOf(call callSettings, header http.Header) {
	if agent := header.Get("User-Agent"); agent == "" || strings.HasPrefix(agent, "connect-go/") {
		header.Set("User-Agent", userAgent)
	}
	for name, values := range call.header {
		if !slices.Contains(protocolHeaders, name) {
			header[name] = values
		}
	}
	if caller.apiKey != "" && header.Get(keyHeader) == "" {
		header.Set(keyHeader, caller.apiKey)
	}
}

// WrapUnary makes every RPC a call with all its attempts. It implements [connect.Interceptor].
func (caller *caller) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		spec := request.Spec()
		method := methods.Of(spec.Procedure)
		traits := traits{
			name:    strings.TrimPrefix(spec.Procedure, "/"),
			isSafe:  spec.IdempotencyLevel != connect.IdempotencyUnknown || method.TakesKey,
			timeout: cmp.Or(method.Timeout, callTimeout),
			isDone:  func(failure *Error) bool { return method.Deleted != nil && failure.Code == CodeNotFound },
		}
		call, err := caller.defaults.of(ctx)
		if err != nil {
			return nil, err
		}
		caller.headerOf(call, request.Header())
		if method.TakesKey && (call.idempotencyKey != "" || request.Header().Get(idempotencyHeader) == "") {
			request.Header().Set(idempotencyHeader, cmp.Or(call.idempotencyKey, randomKey()))
		}
		var response connect.AnyResponse
		err = caller.run(ctx, call, traits, func(ctx context.Context) error {
			var err error
			response, err = once(ctx, next, request, traits.name)
			return err
		})
		if err == nil && response == nil {
			response = method.Deleted()
		}
		return response, err
	}
}

// once makes one attempt of an RPC.
func once(
	ctx context.Context, next connect.UnaryFunc, request connect.AnyRequest, method string,
) (connect.AnyResponse, error) {
	state := &attempt{method: method, message: request.Any()}
	response, err := next(withAttempt(ctx, state), request)
	if err == nil {
		return response, nil
	}
	failure, isOurs := failureOf(err)
	switch {
	case isOurs:
		return nil, failure
	case ctx.Err() != nil:
		return nil, &Error{Code: CodeCanceled, Method: method, Message: err.Error(), cause: err}
	case !state.isSent:
		failure = invalid("the request cannot be encoded: " + textOfConnect(err))
		failure.Method, failure.cause = method, err
		return nil, failure
	default:
		return nil, &Error{
			Code: CodeInternal, Method: method, Status: http.StatusOK,
			Message: "the answer cannot be decoded: " + textOfConnect(err), cause: err,
		}
	}
}

// textOfConnect returns the text of an error of connect-go without its code.
func textOfConnect(err error) string {
	var coded *connect.Error
	if errors.As(err, &coded) {
		return coded.Message()
	}
	return err.Error()
}

// WrapStreamingClient implements [connect.Interceptor]; the contract has no streams.
func (caller *caller) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements [connect.Interceptor] for servers.
func (caller *caller) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}
