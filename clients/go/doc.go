// Package aloft is the client of Aloft, the uptime monitoring service: monitors, alerts, status pages, reports,
// incidents and maintenance.
//
//	client, err := aloft.New()
//	if err != nil {
//		return err
//	}
//	response, err := client.Monitor.GetMonitor(ctx, &monitorv1.GetMonitorRequest{Id: "mon_…"})
//
// A [Client] has every service of the contract. Messages are in the packages below gen, one per package of the
// contract, such as aloft.dev/client/gen/monitor/v1. Optional fields are pointers: proto.String, proto.Int32 and
// proto.Bool of google.golang.org/protobuf/proto create them. Package enums has the values of enumerated fields.
//
// Key and address come from [WithAPIKey] and [WithBaseURL], or else from the environment variables SERVICE_API_KEY
// and SERVICE_API_URL. Options of one call travel in its context: [WithCallOptions].
//
// # Errors
//
// Every failure is an [*Error] with a [Code], and matches the error of that code:
//
//	if errors.Is(err, aloft.ErrNotFound) {
//		return nil
//	}
//	var failure *aloft.Error
//	if errors.As(err, &failure) {
//		log.Print(failure.Reason, failure.Violations, failure.RequestID)
//	}
//
// # Retries
//
// Failed calls are retried if the service does not respond, limits the rate or is changed concurrently, and if the
// repetition executes nothing twice. Reads, idempotent methods and creates (by their idempotency key) are retried
// in each of these cases. Other calls are retried only if nothing was done: there was no connection, or the service
// asked for a later attempt. Internal errors are not retried, because the fault would recur. A delete whose response
// was lost and whose retry finds nothing has succeeded.
//
// Pauses are random up to a bound that doubles with each attempt (full jitter). A Retry-After of at most a minute is
// added in full; a longer one ends the call.
package aloft
