package aloft

import (
	"context"
	"math/rand/v2"
	"time"
)

// errTimeLimit is the cause of a context that ended by the time limit of its call, and not by its caller.
type errTimeLimit struct{ limit time.Duration }

func (err errTimeLimit) Error() string {
	return "the time limit of " + err.limit.String() + " is over"
}

// clock has everything that depends on time and chance, so that tests control it.
type clock struct {
	now func() time.Time
	// random returns a number from 0 up to 1, excluding 1.
	random func() float64
	// pause waits, or until the context ends.
	pause func(ctx context.Context, pause time.Duration)
	// limit returns a context that ends after this time with errTimeLimit as its cause.
	limit func(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc)
}

func realClock() clock {
	return clock{
		now:    time.Now,
		random: rand.Float64,
		pause: func(ctx context.Context, pause time.Duration) {
			timer := time.NewTimer(pause)
			defer timer.Stop()
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
		},
		limit: func(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, limit, errTimeLimit{limit})
		},
	}
}
