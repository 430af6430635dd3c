package aloft

// Signatures of webhooks against the published example, and event types against docs/reference.

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The example of the Standard Webhooks reference libraries.
const (
	exampleSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	exampleSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	exampleID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	exampleTime      = 1_614_265_330
)

// example is the published webhook, whose body is signed but not an event, with changes.
func example(changes ...func(*Webhook)) Webhook {
	webhook := Webhook{
		Header: http.Header{
			"Webhook-Id": {exampleID}, "Webhook-Timestamp": {fmt.Sprint(exampleTime)},
			"Webhook-Signature": {exampleSignature},
		},
		Body:    []byte(`{"test": 2432232314}`),
		Secrets: []string{exampleSecret},
		Now:     time.Unix(exampleTime, 0),
	}
	for _, change := range changes {
		change(&webhook)
	}
	return webhook
}

func header(name, value string) func(*Webhook) {
	return func(webhook *Webhook) { webhook.Header.Set(name, value) }
}

func secrets(secrets ...string) func(*Webhook) {
	return func(webhook *Webhook) { webhook.Secrets = secrets }
}

func body(body string) func(*Webhook) {
	return func(webhook *Webhook) { webhook.Body = []byte(body) }
}

func after(offset time.Duration) func(*Webhook) {
	return func(webhook *Webhook) { webhook.Now = webhook.Now.Add(offset) }
}

// signed is a body that is signed with the secret.
func signed(text string) func(*Webhook) {
	return func(webhook *Webhook) {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(exampleSecret, "whsec_"))
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "%s.%d.%s", exampleID, exampleTime, text)
		webhook.Body = []byte(text)
		webhook.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
}

// verdict is the reason of a rejection.
func verdict(webhook Webhook) string {
	_, err := VerifyWebhook(webhook)
	if failure, ok := failureOf(err); ok {
		return failure.Reason
	}
	return "accepted"
}

func secretOf(text string) string { return "whsec_" + base64.StdEncoding.EncodeToString([]byte(text)) }

func TestOneValidSignatureAndSecretAreEnough(t *testing.T) {
	wrong := "v1," + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 32)))
	for _, webhook := range []Webhook{
		example(),
		example(header("Webhook-Signature", wrong+" "+exampleSignature)),
		example(header("Webhook-Signature", "v1a,else "+exampleSignature+" "+wrong)),
		example(header("Webhook-Signature", "v1,%% "+exampleSignature)),
		example(secrets(secretOf("another"), exampleSecret)),
		example(secrets(strings.TrimPrefix(exampleSecret, "whsec_"))),
		example(secrets(" " + exampleSecret + " ")),
		example(after(300 * time.Second)),
		example(func(webhook *Webhook) {
			webhook.Header = http.Header{
				"webhook-id": {exampleID}, "WEBHOOK-TIMESTAMP": {fmt.Sprint(exampleTime)},
				"webhook-Signature": {wrong, exampleSignature},
			}
		}),
		example(after(400*time.Second), func(webhook *Webhook) { webhook.Tolerance = 400 * time.Second }),
	} {
		if verdict := verdict(webhook); verdict != ReasonWebhookBody {
			t.Errorf("%v: %s", webhook, verdict)
		}
	}
}

func TestAnyChangeOfSignedWebhookIsRejected(t *testing.T) {
	for _, row := range []struct {
		reason string
		change func(*Webhook)
	}{
		{ReasonWebhookSignature, body(`{"test": 2432232315}`)},
		{ReasonWebhookSignature, header("Webhook-Id", "msg_other")},
		{ReasonWebhookSignature, header("Webhook-Signature", "v2,abc")},
		{ReasonWebhookHeadersMissing, header("Webhook-Signature", "")},
		{ReasonWebhookHeadersMissing, func(webhook *Webhook) { webhook.Header = nil }},
		{ReasonWebhookTimestamp, header("Webhook-Timestamp", "soon")},
		{ReasonWebhookTimestamp, header("Webhook-Timestamp", "+1614265330")},
		{ReasonWebhookTimestamp, header("Webhook-Timestamp", "99999999999999999999")},
		{ReasonWebhookSignature, secrets(secretOf("another"))},
		{"INVALID_ARGUMENT", secrets("whsec_")},
		{"INVALID_ARGUMENT", secrets("whsec_?")},
		{"INVALID_ARGUMENT", secrets()},
		{ReasonWebhookTimestamp, after(301 * time.Second)},
		{ReasonWebhookTimestamp, after(-301 * time.Second)},
	} {
		webhook := example(row.change)
		if verdict := verdict(webhook); verdict != row.reason {
			t.Errorf("%v: %s", webhook, verdict)
		}
	}
}

func TestSignedBodyOfAnotherVersionIsRejected(t *testing.T) {
	data := `{"channel":"chn_1","link":null,"events":[]}`
	fine := `{"version":1,"type":"channel.test","data":` + data + `,"more":true}`
	if verdict := verdict(example(signed(fine))); verdict != "accepted" {
		t.Error(verdict)
	}
	for _, body := range []string{
		`{"version":2,"type":"channel.test","data":` + data + `}`,
		`{"version":"1","type":"channel.test","data":` + data + `}`,
		`{"type":"channel.test","data":` + data + `}`,
		`{"version":1,"data":` + data + `}`,
		`{"version":1,"type":"channel.test","data":[]}`,
		`{"version":1,"type":"channel.test","data":null}`,
		`{"version":1,"type":"channel.test","data":{"channel":5}}`,
		`[` + fine + `]`,
		`no JSON`,
	} {
		if verdict := verdict(example(signed(body))); verdict != ReasonWebhookBody {
			t.Errorf("%s: %s", body, verdict)
		}
	}
}

// reference returns a file of the reference; tests run in the module's folder.
func reference(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDocumentedPageEventIsDecoded(t *testing.T) {
	page := string(reference(t, "page-webhook.md"))
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(page)[1]
	event, err := VerifyWebhook(example(signed(block)))
	if err != nil {
		t.Fatal(err)
	}
	webhook, ok := event.(*PageWebhook)
	if !ok || webhook.EventType() != PageIncidentOpened || webhook.Data.Page.Title != "Acme" {
		t.Fatalf("%+v", event)
	}
	incident := webhook.Data.Events[0]
	isFine := incident.Incident.ID == "inc_0000000000007" && incident.Components[0].Name == "API"
	if !isFine || !incident.Incident.BeganAt.Equal(webhook.Timestamp) || incident.Report != nil {
		t.Errorf("%+v", incident)
	}
	types := regexp.MustCompile(`page\.[a-z]+\.[a-z]+`).FindAllString(page, -1)
	slices.Sort(types)
	known := slices.Sorted(slices.Values(pageEventTypes))
	if !slices.Equal(slices.Compact(types), known) {
		t.Errorf("%v instead of %v", known, slices.Compact(types))
	}
}

var (
	channelEventTypes = []string{
		ChannelMonitorError, ChannelMonitorDegraded, ChannelMonitorStillDegraded, ChannelMonitorRecovered,
		ChannelMonitorDigest, ChannelTest,
	}
	pageEventTypes = []string{
		PageReportOpened, PageReportUpdated, PageReportResolved, PageMaintenanceScheduled, PageMaintenanceStarted,
		PageMaintenanceCompleted, PageIncidentOpened, PageIncidentClosed,
	}
)

// schema is the used part of a JSON Schema.
type schema struct {
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	Ref        string             `json:"$ref"`
	Defs       map[string]*schema `json:"$defs"`
	Enum       []any              `json:"enum"`
}

// compare reports fields that only one of a type and its schema has, at any depth.
func (root *schema) compare(t *testing.T, kind reflect.Type, at *schema, path string) {
	t.Helper()
	if at != nil && at.Ref != "" {
		at = root.Defs[at.Ref[strings.LastIndexByte(at.Ref, '/')+1:]]
	}
	switch {
	case kind.Kind() == reflect.Slice && at != nil:
		root.compare(t, kind.Elem(), at.Items, path+"[]")
	case kind.Kind() == reflect.Struct && kind != reflect.TypeFor[time.Time]():
		var names, expected []string
		for index := range kind.NumField() {
			name, _, _ := strings.Cut(kind.Field(index).Tag.Get("json"), ",")
			names = append(names, name)
			if at != nil && at.Properties[name] != nil {
				root.compare(t, kind.Field(index).Type, at.Properties[name], path+"."+name)
			}
		}
		if at != nil {
			for name := range at.Properties {
				expected = append(expected, name)
			}
		}
		slices.Sort(names)
		slices.Sort(expected)
		if !slices.Equal(names, expected) {
			t.Errorf("%s has %v instead of %v", path, names, expected)
		}
	}
}

func readSchema(t *testing.T, name string) *schema {
	t.Helper()
	var read schema
	if err := json.Unmarshal(reference(t, name), &read); err != nil {
		t.Fatal(err)
	}
	return &read
}

func TestEventTypesHaveTheFieldsOfTheirSchemas(t *testing.T) {
	channel := readSchema(t, "webhook.schema.json")
	channel.compare(t, reflect.TypeFor[ChannelEvent](), channel, "event")
	if types := fmt.Sprint(channel.Properties["type"].Enum); types != fmt.Sprint(channelEventTypes) {
		t.Error(types)
	}
	page := readSchema(t, "page-webhook.schema.json")
	for name, kind := range map[string]reflect.Type{
		"report": reflect.TypeFor[EventReport](), "maintenance": reflect.TypeFor[EventMaintenance](),
		"incident": reflect.TypeFor[EventIncident](), "component": reflect.TypeFor[EventComponent](),
	} {
		page.compare(t, kind, page.Defs[name], name)
	}
	known := append(slices.Clone(pageEventTypes), PageDigest)
	if types := fmt.Sprint(page.Properties["type"].Enum); types != fmt.Sprint(known) {
		t.Error(types)
	}
}
