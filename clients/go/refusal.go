package aloft

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"aloft.dev/client/gen/enums"
)

const (
	// shownMax is the maximum number of characters of a page that a message quotes.
	shownMax = 160
	// scannedMax is the maximum number of bytes of a page that are scanned for these: pages of others have any length.
	scannedMax = 8_192
)

var (
	// markup matches the invisible parts of a page. An unclosed part extends to the end.
	markup = regexp.MustCompile(`(?is)<style\b.*?(?:</style>|\z)|<script\b.*?(?:</script>|\z)|<[a-z!/][^<>]*(?:>|\z)`)
	digits = regexp.MustCompile(`^\d+$`)
)

// codeOfStatus returns the code of an HTTP status without an error of the service.
func codeOfStatus(status int) Code {
	switch status {
	case http.StatusBadRequest:
		return CodeInternal
	case http.StatusUnauthorized:
		return CodeUnauthenticated
	case http.StatusForbidden:
		return CodePermissionDenied
	case http.StatusNotFound:
		return CodeUnimplemented
	case http.StatusRequestTimeout:
		return CodeDeadlineExceeded
	case http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return CodeResourceExhausted
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return CodeUnavailable
	default:
		return CodeUnknown
	}
}

// refusal returns the error of an unsuccessful response: from the service in Connect's format, from /v1 in that of
// RFC 9457, or from an intermediary in any format.
func (exchanger *exchanger) refusal(answer *answer, method, url string) *Error {
	failure := &Error{Method: method, Status: answer.status, RequestID: answer.header.Get(requestIDHeader)}
	failure.RetryAfter, failure.asksForRetry = exchanger.clock.retryAfterOf(answer.header)
	var fields map[string]json.RawMessage
	if json.Unmarshal(answer.body, &fields) == nil {
		if code, ok := textOf(fields["code"]); ok {
			failure.readService(code, fields)
			return failure
		}
		if text, ok := textOf(fields["detail"]); ok {
			failure.readProblem(text, fields)
			return failure
		}
	}
	failure.readStranger(answer, url)
	return failure
}

func (err *Error) readService(code string, fields map[string]json.RawMessage) {
	err.Code = codeOfStatus(err.Status)
	if slices.Contains(codes[:], Code(code)) {
		err.Code = Code(code)
	}
	var details []json.RawMessage
	_ = json.Unmarshal(fields["details"], &details)
	for _, raw := range details {
		var detail detail
		if json.Unmarshal(raw, &detail) == nil {
			err.addDetail(detail)
		}
	}
	message, _ := textOf(fields["message"])
	err.Message = withAdvice(cmp.Or(message, "the service answered "+code), err.Reason)
}

func (err *Error) readProblem(message string, fields map[string]json.RawMessage) {
	err.Reason, _ = textOf(fields["reason"])
	err.Code = codeOfStatus(err.Status)
	switch {
	case err.Status == http.StatusNotFound && err.Reason == enums.ReasonNotFound:
		err.Code = CodeNotFound
	case err.Status == http.StatusInternalServerError:
		err.Code = CodeInternal
	}
	id, _ := textOf(fields["requestId"])
	err.RequestID = cmp.Or(id, err.RequestID)
	err.Message = withAdvice(message, err.Reason)
}

func (err *Error) readStranger(answer *answer, url string) {
	err.Code = codeOfStatus(answer.status)
	if answer.status >= 200 && answer.status < 300 {
		// A success without a valid response is not from the service.
		err.Code = CodeInternal
	}
	kind, _, _ := strings.Cut(answer.header.Get("Content-Type"), ";")
	shown := cmp.Or(kind, "nothing that says its type") + excerpt(string(answer.body))
	if location := answer.header.Get("Location"); location != "" {
		shown = "a redirect to " + location
	}
	err.Message = fmt.Sprintf(
		"%s answered %d %s, which is not the service; is `WithBaseURL` right?", url, answer.status, shown)
}

// excerpt returns the beginning of a page's visible text.
func excerpt(page string) string {
	page = strings.ToValidUTF8(page[:min(len(page), scannedMax)], "")
	words := strings.Join(strings.Fields(markup.ReplaceAllString(page, " ")), " ")
	if words == "" {
		return " that is empty"
	}
	if chars := []rune(words); len(chars) > shownMax {
		words = string(chars[:shownMax]) + "…"
	}
	return " “" + words + "”"
}

// withAdvice explains how to give a key, if one is missing.
func withAdvice(message, reason string) string {
	if reason == enums.ReasonKeyMissing {
		return message + "; give the option `WithAPIKey`, or set " + keyVariable
	}
	return message
}

// retryAfterOf returns the wait of a Retry-After; false without a valid one (RFC 9110 §10.2.3).
func (clock clock) retryAfterOf(header http.Header) (time.Duration, bool) {
	given := strings.TrimSpace(header.Get("Retry-After"))
	if digits.MatchString(given) {
		seconds, err := strconv.ParseInt(given, 10, 64)
		if err != nil || seconds > math.MaxInt64/int64(time.Second) {
			return math.MaxInt64, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(given)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(clock.now())), true
}

// textOf returns a JSON value that is a text.
func textOf(raw json.RawMessage) (string, bool) {
	var text *string
	if json.Unmarshal(raw, &text) != nil || text == nil {
		return "", false
	}
	return *text, true
}
