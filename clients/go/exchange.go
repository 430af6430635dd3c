package aloft

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"

	"google.golang.org/protobuf/proto"
)

const (
	mediaProto = "application/proto"
	mediaJSON  = "application/json"
)

const (
	// refusalBytesMax is the maximum number of bytes to read of an unsuccessful response. Errors of the service are
	// smaller, and foreign responses may never end.
	refusalBytesMax = 1 << 20
	// answerBytesMax is the maximum number of bytes of a successful response, far above the largest page.
	answerBytesMax = 64 << 20
)

// answer is a response that was read: completely, or as far as an error needs.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// exchanger sends requests and returns their successful responses. Every other outcome is an [*Error].
type exchanger struct {
	http  *http.Client
	clock clock
}

// newExchanger copies the client, so that the copy can refuse redirects: they would send the key to their target.
func newExchanger(client *http.Client, clock clock) *exchanger {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &exchanger{http: &own, clock: clock}
}

// exchange sends a request of this method and reads its response.
func (exchanger *exchanger) exchange(
	request *http.Request, method string, isSuccess func(*http.Response) bool,
) (*answer, error) {
	response, err := exchanger.http.Do(request)
	if err != nil {
		return nil, unreachable("cannot reach "+request.URL.String(), method, err)
	}
	defer func() { _ = response.Body.Close() }()
	succeeded := isSuccess(response)
	most := int64(refusalBytesMax)
	if succeeded {
		most = answerBytesMax + 1
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err != nil {
		return nil, unreachable("the answer of "+request.URL.String()+" broke off", method, err)
	}
	answer := &answer{status: response.StatusCode, header: response.Header, body: body}
	switch {
	case !succeeded:
		return nil, exchanger.refusal(answer, method, request.URL.String())
	case len(body) > answerBytesMax:
		return nil, &Error{
			Code: CodeInternal, Method: method, Status: answer.status,
			Message: "the answer of " + request.URL.String() + " is too large",
		}
	}
	return answer, nil
}

// unreachable returns the error of a missing response.
func unreachable(what, method string, cause error) *Error {
	var reported *url.Error
	if errors.As(cause, &reported) {
		// Its text repeats the address.
		cause = reported.Err
	}
	return &Error{Code: CodeUnavailable, Method: method, Message: what + ": " + cause.Error(), cause: cause}
}

// hasType reports whether a response has this media type: others answer 200 too, in any format.
func hasType(response *http.Response, expected string) bool {
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return err == nil && media == expected
}

// attempt is the state of one attempt of an RPC, in its context.
type attempt struct {
	method  string
	message any
	// isSent: the request was encoded, and connect-go sends it.
	isSent bool
}

type attemptKey struct{}

func withAttempt(ctx context.Context, attempt *attempt) context.Context {
	return context.WithValue(ctx, attemptKey{}, attempt)
}

// errNotEncoded ends the empty request that connect-go sends for a message that it cannot encode.
var errNotEncoded = errors.New("the message was not encoded")

// rpcExchanger is the HTTP client of connect-go. It only passes on successful responses, because connect-go would drop
// the status and the page of the others.
type rpcExchanger struct {
	*exchanger
	mediaType string
}

func (exchanger rpcExchanger) Do(request *http.Request) (*http.Response, error) {
	attempt, ok := request.Context().Value(attemptKey{}).(*attempt)
	if !ok {
		return nil, &Error{Code: CodeInternal, Message: "the context of a call was replaced"}
	}
	if request.ContentLength == 0 && !exchanger.isEmpty(attempt.message) {
		return nil, errNotEncoded
	}
	attempt.isSent = true
	answer, err := exchanger.exchange(request, attempt.method, func(response *http.Response) bool {
		return response.StatusCode == http.StatusOK && hasType(response, exchanger.mediaType)
	})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(answer.status), StatusCode: answer.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.header, Request: request,
		Body: io.NopCloser(bytes.NewReader(answer.body)), ContentLength: int64(len(answer.body)),
	}, nil
}

// isEmpty reports whether a message has no bytes. In JSON, every message has some.
func (exchanger rpcExchanger) isEmpty(message any) bool {
	encoded, ok := message.(proto.Message)
	return ok && exchanger.mediaType == mediaProto && proto.Size(encoded) == 0
}
