package aloft

import (
	"context"
	"errors"
	"time"

	"aloft.dev/client/gen/enums"
)

// Code is the code of an error, such as [CodeNotFound].
type Code string

// Every code. For each there is an error that errors.Is matches, such as [ErrNotFound].
const (
	CodeCanceled           Code = "canceled"
	CodeUnknown            Code = "unknown"
	CodeInvalidArgument    Code = "invalid_argument"
	CodeDeadlineExceeded   Code = "deadline_exceeded"
	CodeNotFound           Code = "not_found"
	CodeAlreadyExists      Code = "already_exists"
	CodePermissionDenied   Code = "permission_denied"
	CodeResourceExhausted  Code = "resource_exhausted"
	CodeFailedPrecondition Code = "failed_precondition"
	CodeAborted            Code = "aborted"
	CodeOutOfRange         Code = "out_of_range"
	CodeUnimplemented      Code = "unimplemented"
	CodeInternal           Code = "internal"
	CodeUnavailable        Code = "unavailable"
	CodeDataLoss           Code = "data_loss"
	CodeUnauthenticated    Code = "unauthenticated"
)

// Errors by code, for errors.Is.
var (
	// ErrCanceled: the caller's context was canceled.
	ErrCanceled error = codeError(CodeCanceled)
	// ErrUnknown: the cause is unknown, such as an unexpected response of a proxy.
	ErrUnknown error = codeError(CodeUnknown)
	// ErrInvalidArgument: the request violates rules; Violations names the fields.
	ErrInvalidArgument error = codeError(CodeInvalidArgument)
	// ErrDeadlineExceeded: the call ran out of time. It wraps the failure of the last attempt, if there was one.
	ErrDeadlineExceeded error = codeError(CodeDeadlineExceeded)
	// ErrNotFound: the workspace has no such thing.
	ErrNotFound error = codeError(CodeNotFound)
	// ErrAlreadyExists: something else already has a value that must be unique.
	ErrAlreadyExists error = codeError(CodeAlreadyExists)
	// ErrPermissionDenied: the key lacks the permission, such as a read-only key that changes something.
	ErrPermissionDenied error = codeError(CodePermissionDenied)
	// ErrResourceExhausted: there were too many calls (RetryAfter is the wait), or the request is too large.
	ErrResourceExhausted error = codeError(CodeResourceExhausted)
	// ErrFailedPrecondition: the state does not allow this call.
	ErrFailedPrecondition error = codeError(CodeFailedPrecondition)
	// ErrAborted: it was modified concurrently; fetch it and retry.
	ErrAborted error = codeError(CodeAborted)
	// ErrOutOfRange: something is past its end.
	ErrOutOfRange error = codeError(CodeOutOfRange)
	// ErrUnimplemented: the service lacks the method, which also happens at a wrong address.
	ErrUnimplemented error = codeError(CodeUnimplemented)
	// ErrInternal: the service failed, or the response was invalid.
	ErrInternal error = codeError(CodeInternal)
	// ErrUnavailable: the service did not respond, or cannot now; a retry may help.
	ErrUnavailable error = codeError(CodeUnavailable)
	// ErrDataLoss: data was lost.
	ErrDataLoss error = codeError(CodeDataLoss)
	// ErrUnauthenticated: the key is missing, unknown, expired or revoked.
	ErrUnauthenticated error = codeError(CodeUnauthenticated)
)

// codes has all codes in the order of their numbers in gRPC and Connect, from 1 on.
var codes = [...]Code{
	CodeCanceled, CodeUnknown, CodeInvalidArgument, CodeDeadlineExceeded, CodeNotFound, CodeAlreadyExists,
	CodePermissionDenied, CodeResourceExhausted, CodeFailedPrecondition, CodeAborted, CodeOutOfRange,
	CodeUnimplemented, CodeInternal, CodeUnavailable, CodeDataLoss, CodeUnauthenticated,
}

// codeError is an error with nothing but a code.
type codeError Code

func (err codeError) Error() string { return string(err) }

// Reasons why [VerifyWebhook] rejects a request.
const (
	ReasonWebhookHeadersMissing = "WEBHOOK_HEADERS_MISSING"
	ReasonWebhookTimestamp      = "WEBHOOK_TIMESTAMP"
	ReasonWebhookSignature      = "WEBHOOK_SIGNATURE"
	ReasonWebhookBody           = "WEBHOOK_BODY"
)

// Violation is a field of a request that violates a rule.
type Violation struct {
	// Field is the path from the request on in the contract's names, such as monitor.degraded_at.
	Field string
	// Description has the given value and the allowed values.
	Description string
}

// Error is the failure of a call, before or after it was sent: the only error that this package returns.
type Error struct {
	// Code of the error.
	Code Code
	// Reason is stable, such as enums.ReasonNotFound. Empty if the service did not respond itself. A newer service may
	// have others.
	Reason string
	// Message for people: the failed thing, and the way out.
	Message string
	// Violations are the fields that violate rules.
	Violations []Violation
	// RequestID is the ID of the request in the service's log. Empty without a response of the service.
	RequestID string
	// Status of the HTTP response; 0 without a response.
	Status int
	// RetryAfter is the wait before the next attempt that the service asks for; 0 if it does not.
	RetryAfter time.Duration
	// Method is the name of the method, such as monitor.v1.MonitorService/GetMonitor.
	Method string

	// asksForRetry tells a RetryAfter of 0 from none.
	asksForRetry bool
	// cause is a lower error.
	cause error
}

// Error returns the method, the message and the code.
func (err *Error) Error() string {
	text := err.Message + " (" + string(err.Code) + ")"
	if err.Method == "" {
		return text
	}
	return err.Method + ": " + text
}

// Is reports whether target is the error of this code, such as [ErrNotFound]. An error by the end of a context is
// also context.Canceled or context.DeadlineExceeded.
func (err *Error) Is(target error) bool {
	switch target {
	case context.Canceled:
		return err.Code == CodeCanceled
	case context.DeadlineExceeded:
		return err.Code == CodeDeadlineExceeded
	}
	code, ok := target.(codeError)
	return ok && Code(code) == err.Code
}

// Unwrap returns the cause: for [CodeDeadlineExceeded] the failure of the last attempt, if there was one.
func (err *Error) Unwrap() error { return err.cause }

// invalid returns the error of an invalid value that was not sent.
func invalid(message string) *Error {
	return &Error{Code: CodeInvalidArgument, Reason: enums.ReasonInvalidArgument, Message: message}
}

// failureOf returns the client's error within an error.
func failureOf(err error) (*Error, bool) {
	var failure *Error
	ok := errors.As(err, &failure)
	return failure, ok
}
