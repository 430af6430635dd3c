package aloft

// The pauses between attempts and their reasons: full jitter, Retry-After, and the time limit of the call. The clock is
// controlled, so nothing here waits.

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	monitorv1 "aloft.dev/client/gen/monitor/v1"
)

func busy(seconds string) responder {
	return refusing(429, CodeResourceExhausted, "RATE_LIMITED", "Retry-After", seconds)
}

func TestPausesAreRandomUpToDoublingBound(t *testing.T) {
	held := &heldClock{chance: 0.5}
	server := startBadServer(t, page(502), reset, page(504), page(503), answerProto(foundMonitor()))
	client := clientOf(t, server.baseURL, withClock(held), WithAttempts(5), WithPauses(time.Second, 3*time.Second))
	err := read(context.Background(), client)
	expected := []time.Duration{500 * time.Millisecond, time.Second, 1500 * time.Millisecond, 1500 * time.Millisecond}
	if err != nil || !slices.Equal(held.pauses, expected) || len(server.requests()) != 5 {
		t.Errorf("%v, %d requests: %v", held.pauses, len(server.requests()), err)
	}
}

func TestRetryAfterPrecedesJitter(t *testing.T) {
	held := &heldClock{chance: 0.5}
	date := (&heldClock{passed: 60 * time.Second}).clock().now().UTC().Format(http.TimeFormat)
	limited := page(429, "Retry-After", "30")
	server := startBadServer(t, busy("7"), busy("1"), limited, busy(date), answerProto(foundMonitor()))
	pause := 100 * time.Millisecond
	client := clientOf(t, server.baseURL, withClock(held), WithAttempts(5), WithPauses(pause, pause))
	err := read(context.Background(), client)
	expected := []time.Duration{7_050, 1_050, 30_050, 60_000 - 38_150 + 50}
	for at := range expected {
		expected[at] *= time.Millisecond
	}
	if err != nil || !slices.Equal(held.pauses, expected) {
		t.Errorf("%v: %v", held.pauses, err)
	}
}

func TestEndlessRateLimitFailsWithItsWait(t *testing.T) {
	held := &heldClock{}
	server := startBadServer(t, busy("7"))
	failure := failed(t, read(context.Background(), clientOf(t, server.baseURL, withClock(held), WithAttempts(3))))
	isFine := failure.Code == CodeResourceExhausted && failure.Reason == "RATE_LIMITED" && failure.Status == 429
	if !isFine || failure.RetryAfter != 7*time.Second || len(server.requests()) != 3 {
		t.Errorf("%d requests: %v", len(server.requests()), failure)
	}
}

func TestPauseBeyondTimeLimitFailsImmediately(t *testing.T) {
	held := &heldClock{}
	server := startBadServer(t, busy("7"))
	client := clientOf(t, server.baseURL, withClock(held), WithTimeout(5*time.Second))
	failure := failed(t, read(context.Background(), client))
	if failure.RetryAfter != 7*time.Second || len(held.pauses) > 0 || len(server.requests()) != 1 {
		t.Errorf("%v: %v", held.pauses, failure)
	}
}

func TestRetryAfterOfHourFailsImmediately(t *testing.T) {
	for _, wait := range []string{"3600", "99999999999999999999"} {
		held := &heldClock{}
		server := startBadServer(t, refusing(503, CodeUnavailable, "UNAVAILABLE", "Retry-After", wait))
		failure := failed(t, read(context.Background(), clientOf(t, server.baseURL, withClock(held))))
		if failure.RetryAfter < time.Hour || len(held.pauses) > 0 || len(server.requests()) != 1 {
			t.Errorf("%v: %v", held.pauses, failure)
		}
	}
}

func TestTimeLimitHasLastFailureAsCause(t *testing.T) {
	held := &heldClock{}
	held.onPause = func() { held.expire() }
	server := startBadServer(t, page(502))
	client := clientOf(t, server.baseURL, withClock(held), WithTimeout(90*time.Second))
	failure := failed(t, read(context.Background(), client))
	cause, ok := failureOf(failure.Unwrap())
	isFine := failure.Code == CodeDeadlineExceeded && ok && cause.Status == 502
	if !isFine || !errors.Is(failure, context.DeadlineExceeded) || len(server.requests()) != 1 {
		t.Errorf("%v: %v", failure, cause)
	}
}

func TestCallersDeadlineHasLastFailureAsCause(t *testing.T) {
	ctx, end := endable(context.DeadlineExceeded)
	held := &heldClock{onPause: end}
	failure := failed(t, read(ctx, clientOf(t, startBadServer(t, page(502)).baseURL, withClock(held))))
	cause, ok := failureOf(failure.Unwrap())
	if failure.Code != CodeDeadlineExceeded || !ok || cause.Code != CodeUnavailable {
		t.Errorf("%v: %v", failure, cause)
	}
}

// endable returns a context that ends with this error when the function is called.
func endable(err error) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	return endedBy{ctx, err}, cancel
}

type endedBy struct {
	context.Context
	err error
}

func (ctx endedBy) Err() error {
	if ctx.Context.Err() == nil {
		return nil
	}
	return ctx.err
}

// Value hides the inner context, whose error differs.
func (ctx endedBy) Value(any) any { return nil }

func TestCancellationEndsCallAndPause(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	held := &heldClock{onPause: cancel}
	server := startBadServer(t, page(502))
	failure := failed(t, read(ctx, clientOf(t, server.baseURL, withClock(held))))
	if !errors.Is(failure, ErrCanceled) || !errors.Is(failure, context.Canceled) || len(server.requests()) != 1 {
		t.Errorf("%d requests: %v", len(server.requests()), failure)
	}
	if failure := failed(t, read(ctx, clientOf(t, server.baseURL))); failure.Code != CodeCanceled {
		t.Error(failure)
	}
	if len(server.requests()) != 1 {
		t.Error("a call with an ended context was sent")
	}
	silent := startBadServer(t, silence)
	ctx, cancel = context.WithCancel(context.Background())
	outcome := make(chan error)
	go func() { outcome <- read(ctx, clientOf(t, silent.baseURL)) }()
	<-silent.visited
	cancel()
	if failure := failed(t, <-outcome); failure.Code != CodeCanceled {
		t.Error(failure)
	}
}

func TestTriggerMonitorHasItsOwnTimeLimit(t *testing.T) {
	for kind, expected := range map[string]time.Duration{"trigger": 150 * time.Second, "read": time.Minute} {
		held := &heldClock{}
		server := startBadServer(t, silence)
		client, err := New(WithAPIKey(testKey), WithBaseURL(server.baseURL), withClock(held))
		if err != nil {
			t.Fatal(err)
		}
		outcome := make(chan error)
		go func() { outcome <- kinds[kind](context.Background(), client) }()
		<-server.visited
		held.expire()
		if failure := failed(t, <-outcome); failure.Code != CodeDeadlineExceeded || held.limits[0] != expected {
			t.Errorf("%s: %v: %v", kind, held.limits, failure)
		}
	}
}

func TestServerGetsRemainingTime(t *testing.T) {
	server := startBadServer(t, page(502), answerProto(foundMonitor()))
	client := clientOf(t, server.baseURL, WithTimeout(10*time.Second), WithPauses(0, 0))
	if err := read(context.Background(), client); err != nil {
		t.Fatal(err)
	}
	for _, request := range server.requests() {
		millis, err := strconv.Atoi(request.header.Get("Connect-Timeout-Ms"))
		if err != nil || millis < 1 || millis > 10_000 {
			t.Errorf("%d: %v", millis, err)
		}
	}
}

func TestAttemptsOfCreateShareTheirKey(t *testing.T) {
	made := answerProto(&monitorv1.CreateTcpMonitorResponse{})
	server := startBadServer(t, reset, page(502), made, made, made)
	client := clientOf(t, server.baseURL, withThree()...)
	ctx := context.Background()
	for _, ctx := range []context.Context{ctx, ctx, WithCallOptions(ctx, WithIdempotencyKey("deploy-42"))} {
		if err := kinds["create"](ctx, client); err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	for _, request := range server.requests() {
		keys = append(keys, request.header.Get("Idempotency-Key"))
	}
	isShared := len(keys) == 5 && keys[0] == keys[1] && keys[1] == keys[2] && len(keys[0]) == 32
	if !isShared || keys[3] == keys[0] || len(keys[3]) != 32 || keys[4] != "deploy-42" {
		t.Error(keys)
	}
	reading := startBadServer(t, answerProto(foundMonitor()))
	if err := read(WithCallOptions(ctx, WithIdempotencyKey("deploy-42")), clientOf(t, reading.baseURL)); err != nil {
		t.Fatal(err)
	}
	if header := reading.requests()[0].header; header.Get("Idempotency-Key") != "" {
		t.Error("a read has an idempotency key")
	}
}
