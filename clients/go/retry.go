package aloft

import (
	"errors"
	"math"
	"net"
	"time"

	"aloft.dev/client/gen/enums"
)

// retryAfterMax is the longest Retry-After to wait for. The caller should know of a longer one.
const retryAfterMax = time.Minute

// retry is the policy for failed calls.
type retry struct {
	// attempts is the maximum number of attempts, including the first.
	attempts int
	// firstPause is the bound of the pause before the second attempt.
	firstPause time.Duration
	// longestPause is the bound of every pause.
	longestPause time.Duration
}

var defaultRetry = retry{attempts: 4, firstPause: 200 * time.Millisecond, longestPause: 5 * time.Second}

// mayHelp reports whether a retry may help and executes nothing twice. isSafe: the call may be executed twice.
func mayHelp(failure *Error, isSafe bool) bool {
	switch failure.Code {
	case CodeResourceExhausted:
		// A request that is too large stays too large.
		return failure.Reason == enums.ReasonRateLimited || failure.Status == 429 || failure.asksForRetry
	case CodeUnavailable:
		return isSafe || !mayBeDone(failure)
	case CodeAborted:
		// The same revision stays outdated.
		return isSafe && failure.Reason != enums.ReasonRevisionMismatch
	default:
		return false
	}
}

// mayBeDone reports whether a call with this failure may have been executed, with only its response missing.
func mayBeDone(failure *Error) bool {
	// The service itself says that it did nothing, and when to retry.
	wasRefused := failure.Reason != "" && failure.asksForRetry
	return failure.Code == CodeUnavailable && !wasRefused && !neverConnected(failure.cause)
}

// pauseOf returns the pause before the next attempt; false if it is too long.
func (clock clock) pauseOf(failure *Error, tries int, retry retry) (time.Duration, bool) {
	if failure.RetryAfter > retryAfterMax {
		return 0, false
	}
	doubled := float64(retry.firstPause) * math.Pow(2, float64(tries-1))
	bound := min(float64(retry.longestPause), doubled)
	return failure.RetryAfter + time.Duration(clock.random()*bound), true
}

// neverConnected reports whether an error of net/http shows that no connection was made, so that nothing was sent.
func neverConnected(cause error) bool {
	var lookup *net.DNSError
	if errors.As(cause, &lookup) {
		return true
	}
	var failed *net.OpError
	return errors.As(cause, &failed) && (failed.Op == "dial" || failed.Op == "proxyconnect")
}
