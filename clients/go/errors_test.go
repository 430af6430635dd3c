package aloft

// Errors: their codes for errors.Is, and the content that errors.As gives.

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// errorsByCode are the errors for errors.Is.
var errorsByCode = map[Code]error{
	CodeCanceled: ErrCanceled, CodeUnknown: ErrUnknown, CodeInvalidArgument: ErrInvalidArgument,
	CodeDeadlineExceeded: ErrDeadlineExceeded, CodeNotFound: ErrNotFound, CodeAlreadyExists: ErrAlreadyExists,
	CodePermissionDenied: ErrPermissionDenied, CodeResourceExhausted: ErrResourceExhausted,
	CodeFailedPrecondition: ErrFailedPrecondition, CodeAborted: ErrAborted, CodeOutOfRange: ErrOutOfRange,
	CodeUnimplemented: ErrUnimplemented, CodeInternal: ErrInternal, CodeUnavailable: ErrUnavailable,
	CodeDataLoss: ErrDataLoss, CodeUnauthenticated: ErrUnauthenticated,
}

// statuses are the service's HTTP statuses by code (Connect's table).
var statuses = map[Code]int{
	CodeCanceled: 499, CodeUnknown: 500, CodeInvalidArgument: 400, CodeDeadlineExceeded: 504, CodeNotFound: 404,
	CodeAlreadyExists: 409, CodePermissionDenied: 403, CodeResourceExhausted: 429, CodeFailedPrecondition: 400,
	CodeAborted: 409, CodeOutOfRange: 400, CodeUnimplemented: 501, CodeInternal: 500, CodeUnavailable: 503,
	CodeDataLoss: 500, CodeUnauthenticated: 401,
}

// answerWith is a response with this text.
func answerWith(request *http.Request, header http.Header, text string) *http.Response {
	body := io.NopCloser(strings.NewReader(text))
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: body, Request: request}
}

func TestEachCodeHasItsError(t *testing.T) {
	if len(codes) != len(errorsByCode) || len(codes) != len(statuses) {
		t.Fatal("a code is missing")
	}
	for _, code := range codes {
		server := startBadServer(t, answerJSON(statuses[code], map[string]any{"code": code, "message": "it is " + code}))
		err := fmt.Errorf("wrapped: %w", read(context.Background(), clientOf(t, server.baseURL, WithAttempts(1))))
		for other, expected := range errorsByCode {
			if errors.Is(err, expected) != (code == other) {
				t.Errorf("%s is %s", code, other)
			}
		}
		var failure *Error
		isError := errors.As(err, &failure) && failure.Code == code && failure.Status == statuses[code]
		if !isError || failure.Message != "it is "+string(code) {
			t.Errorf("%s: %v", code, err)
		}
	}
	for _, expected := range errorsByCode {
		if errors.Is(errors.New(expected.Error()), expected) {
			t.Errorf("another error is %v", expected)
		}
	}
}

// message encodes a message of texts, messages and numbers by their field numbers from 1 on.
func message(fields ...any) []byte {
	var encoded []byte
	for at, field := range fields {
		number := protowire.Number(at + 1)
		switch value := field.(type) {
		case string:
			encoded = protowire.AppendString(protowire.AppendTag(encoded, number, protowire.BytesType), value)
		case []byte:
			encoded = protowire.AppendBytes(protowire.AppendTag(encoded, number, protowire.BytesType), value)
		case int:
			encoded = protowire.AppendVarint(protowire.AppendTag(encoded, number, protowire.VarintType), uint64(value))
		}
	}
	return encoded
}

func TestEveryDetailIsRead(t *testing.T) {
	body := map[string]any{"code": "invalid_argument", "message": "two fields", "details": []any{
		detail{"google.rpc.ErrorInfo", encoded(message("INVALID_ARGUMENT", "aloft"))},
		detail{"type.googleapis.com/google.rpc.RequestInfo", encoded(message("req_1")) + "=="},
		detail{"google.rpc.BadRequest", encoded(append(message(message("monitor.name", "is too long")),
			message(message("monitor.degraded_at", "is negative"))...))},
		detail{"google.rpc.RetryInfo", encoded(message(message(2, 500_000_000)))},
		detail{"google.rpc.ErrorInfo", "not base64!"},
		detail{"google.rpc.RetryInfo", encoded([]byte{0x0a, 0xff})},
		detail{"google.rpc.Other", encoded(message("else"))},
		"not a detail",
	}}
	server := startBadServer(t, answerJSON(400, body, "X-Request-Id", "of the header", "Retry-After", "9"))
	failure := failed(t, read(context.Background(), clientOf(t, server.baseURL)))
	expected := []Violation{{"monitor.name", "is too long"}, {"monitor.degraded_at", "is negative"}}
	if fmt.Sprint(failure.Violations) != fmt.Sprint(expected) || failure.Reason != "INVALID_ARGUMENT" {
		t.Errorf("%v: %v", failure.Violations, failure)
	}
	if failure.RequestID != "req_1" || failure.RetryAfter != 2500*time.Millisecond {
		t.Errorf("%s, %s", failure.RequestID, failure.RetryAfter)
	}
	text := "monitor.v1.MonitorService/GetMonitor: two fields (invalid_argument)"
	if failure.Error() != text {
		t.Error(failure)
	}
}

func encoded(message []byte) string { return base64.RawStdEncoding.EncodeToString(message) }

func TestProblemOfV1IsRead(t *testing.T) {
	problem := map[string]any{"detail": "no such key", "reason": "NOT_FOUND", "requestId": "req_1"}
	for status, code := range map[int]Code{404: CodeNotFound, 500: CodeInternal, 403: CodePermissionDenied} {
		server := startBadServer(t, answerJSON(status, problem, "Content-Type", "application/problem+json"))
		failure := failed(t, clientOf(t, server.baseURL).RevokeKey(context.Background(), "key_1"))
		isFine := failure.Code == code && failure.Reason == "NOT_FOUND" && failure.RequestID == "req_1"
		if !isFine || failure.Message != "no such key" || failure.Method != "DELETE /v1/api-key/key_1" {
			t.Error(failure)
		}
	}
	missing := map[string]any{"detail": "the key is missing", "reason": "KEY_MISSING"}
	server := startBadServer(t, answerJSON(401, missing))
	_, err := clientOf(t, server.baseURL).Whoami(context.Background())
	if !strings.Contains(failed(t, err).Message, "give the option `WithAPIKey`, or set SERVICE_API_KEY") {
		t.Error(err)
	}
}

func TestNoErrorShowsTheKey(t *testing.T) {
	client := clientOf(t, startBadServer(t, page(401)).baseURL, WithAPIKey("aloft_secret"))
	err := read(context.Background(), client)
	for _, shown := range []string{fmt.Sprintf("%+v %#v", err, err), fmt.Sprintf("%+v %#v", client, client)} {
		if strings.Contains(shown, "aloft_secret") {
			t.Error(shown)
		}
	}
}
