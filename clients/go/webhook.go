package aloft

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// webhookVersion is the version of [WebhookEvent].
	webhookVersion = 1
	// webhookTolerance is the default maximum difference between a request's time and ours.
	webhookTolerance = 5 * time.Minute
	// signaturesMax is the maximum number of signatures to check: a workspace has at most five secrets at once.
	signaturesMax = 16
)

// Webhook is a request to a webhook receiver.
type Webhook struct {
	// Header of the request.
	Header http.Header
	// Body as received, before anything parses it.
	Body []byte
	// Secrets, whsec_…: one, or several during a rotation.
	Secrets []string
	// Tolerance is the maximum difference between the request's time and this clock. Default: five minutes.
	Tolerance time.Duration
	// Now is the current time. Default: time.Now.
	Now time.Time
}

// VerifyWebhook verifies the signature and the time of a webhook, and returns its event: *[ChannelEvent] or
// *[PageWebhook]. It fails with [ErrUnauthenticated] and a reason if the request is forged or old: respond with 401,
// which is final. Any other error is not the request's fault, such as an invalid secret, or an event of a newer version
// ([ReasonWebhookBody]): respond with 500, and it is sent again.
//
// The same event may arrive more than once, with the same header Webhook-Id.
//
// Signatures are those of Standard Webhooks.
func VerifyWebhook(webhook Webhook) (WebhookEvent, error) {
	id := headerOfWebhook(webhook.Header, "Webhook-Id")
	stamp := headerOfWebhook(webhook.Header, "Webhook-Timestamp")
	signatures := headerOfWebhook(webhook.Header, "Webhook-Signature")
	if id == "" || stamp == "" || signatures == "" {
		return nil, forged(ReasonWebhookHeadersMissing,
			"the request lacks `webhook-id`, `webhook-timestamp` or `webhook-signature`: it is no webhook")
	}
	if err := checkTime(stamp, webhook); err != nil {
		return nil, err
	}
	keys, err := keysOf(webhook.Secrets)
	if err != nil {
		return nil, err
	}
	if !isSigned(id+"."+stamp+".", webhook.Body, signatures, keys) {
		return nil, forged(ReasonWebhookSignature,
			"no signature is right: another secret, or the body is not as it arrived")
	}
	return eventOf(webhook.Body)
}

// headerOfWebhook returns the values of a header in any case.
func headerOfWebhook(header http.Header, name string) string {
	var found []string
	for given, values := range header {
		if strings.EqualFold(given, name) {
			found = append(found, values...)
		}
	}
	return strings.Join(found, " ")
}

func checkTime(stamp string, webhook Webhook) error {
	tolerance := cmp.Or(webhook.Tolerance, webhookTolerance)
	now := webhook.Now
	if now.IsZero() {
		now = time.Now()
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || !digits.MatchString(stamp) || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return forged(ReasonWebhookTimestamp,
			fmt.Sprintf("the request is not of the last %s: it may be a repetition", tolerance))
	}
	return nil
}

func keysOf(secrets []string) ([][]byte, error) {
	if len(secrets) == 0 {
		secrets = []string{""}
	}
	var keys [][]byte
	for _, secret := range secrets {
		key, ok := unbase64(strings.TrimPrefix(strings.TrimSpace(secret), "whsec_"))
		if !ok || len(key) == 0 {
			return nil, invalid("a secret must be `whsec_` and base64, as it was shown when it was rotated")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// isSigned reports whether a version 1 signature is right for one of the keys. It compares in constant time.
func isSigned(head string, body []byte, signatures string, keys [][]byte) bool {
	given := strings.Split(signatures, " ")
	given = given[:min(len(given), signaturesMax)]
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(head))
		mac.Write(body)
		sum := mac.Sum(nil)
		for _, text := range given {
			encoded, isVersion1 := strings.CutPrefix(text, "v1,")
			signature, ok := unbase64(encoded)
			if isVersion1 && ok && hmac.Equal(signature, sum) {
				return true
			}
		}
	}
	return false
}

// unbase64 decodes base64 with or without padding.
func unbase64(text string) ([]byte, bool) {
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	return decoded, err == nil
}

func eventOf(body []byte) (WebhookEvent, error) {
	var head struct {
		Version *int                       `json:"version"`
		Type    *string                    `json:"type"`
		Data    map[string]json.RawMessage `json:"data"`
	}
	err := json.Unmarshal(body, &head)
	isKnown := err == nil && head.Version != nil && *head.Version == webhookVersion && head.Type != nil && head.Data != nil
	if !isKnown {
		return nil, invalidBody("the body is signed, and is no event of a version that is known here", err)
	}
	var event WebhookEvent = new(ChannelEvent)
	if strings.HasPrefix(*head.Type, "page.") {
		event = new(PageWebhook)
	}
	if err := json.Unmarshal(body, event); err != nil {
		return nil, invalidBody("the body is signed, and is no event that is known here: "+err.Error(), err)
	}
	return event, nil
}

func forged(reason, message string) *Error {
	return &Error{Code: CodeUnauthenticated, Reason: reason, Message: message}
}

func invalidBody(message string, cause error) *Error {
	return &Error{Code: CodeInvalidArgument, Reason: ReasonWebhookBody, Message: message, cause: cause}
}
