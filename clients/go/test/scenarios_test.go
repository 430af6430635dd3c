package test

// Plays each scenario (clients/scenarios/README.md) through the client against a real server: one call per step, without
// retries, whose outcome is compared.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	aloft "aloft.dev/client"
)

// patience is how long a step with until is repeated: longer than any action on a busy machine.
const patience = time.Minute

type scenario struct {
	Name, About string
	Steps       []step
}

type step struct {
	Name, Call, Key string
	Request         object
	Answer          any
	Error           any
	Save            map[string]string
	Until           bool
	IdempotencyKey  string
	Altered         *altered
	Instead         *instead
}

// altered has changes of a request on the way to the server.
type altered struct {
	Method, Path string
	Headers      map[string]string
	Body         *string
}

// instead is a response that replaces the server's.
type instead struct {
	Status  int
	Headers map[string]string
	Body    any
}

func TestEveryScenarioPasses(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(scenarios, "*.json"))
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		var scenario scenario
		readJSON(t, filepath.Base(path), &scenario)
		t.Run(scenario.Name, func(t *testing.T) {
			names := map[string]string{
				"target": startSite(t, 200).url, "receiver": startSite(t, 204).url,
				"now": time.Now().UTC().Format(time.RFC3339),
			}
			for _, step := range scenario.Steps {
				t.Run(step.Name, func(t *testing.T) { play(t, step, given[scenario.Name], names) })
			}
		})
	}
}

// play makes the call of a step until it has the expected outcome, and saves values of its response.
func play(t *testing.T, step step, workspace workspace, names map[string]string) {
	if step.Key == "" {
		step.Key = "write"
	}
	client := clientOf(t, workspace, step.Key, optionsOf(step, workspace.BaseURL)...)
	ctx := context.Background()
	if step.IdempotencyKey != "" {
		ctx = aloft.WithCallOptions(ctx, aloft.WithIdempotencyKey(step.IdempotencyKey))
	}
	request := filled(step.Request, names).(object)
	end := time.Now().Add(patience)
	for {
		answer, failure, err := call(ctx, client, step.Call, request)
		if err != nil {
			t.Fatal(err)
		}
		wrong := wrongIn(step, answer, failure, names)
		if len(wrong) == 0 {
			save(t, step, answer, names)
			return
		}
		if !step.Until || time.Now().After(end) {
			t.Fatalf("%s %s\n%s", step.Call, shown(request), strings.Join(wrong, "\n"))
		}
	}
}

func save(t *testing.T, step step, answer object, names map[string]string) {
	for name, path := range step.Save {
		value, ok := at(answer, path)
		if !ok {
			t.Fatalf("there is no %s in %s", path, shown(answer))
		}
		names[name] = value
	}
}

// wrongIn returns the differences of an outcome from the expected one.
func wrongIn(step step, answer object, failure *aloft.Error, names map[string]string) []string {
	if step.Answer != nil {
		if failure != nil {
			return []string{fmt.Sprintf("it failed: %s: %v", failure.Reason, failure)}
		}
		return differences(answer, filled(step.Answer, names), "answer")
	}
	if failure == nil {
		return []string{"it did not fail: " + shown(answer)}
	}
	wrong := differences(described(failure), filled(step.Error, names), "error")
	if len(wrong) > 0 {
		wrong = append(wrong, failure.Error())
	}
	return wrong
}

// described returns an error as scenarios have it: values that the response lacks are absent.
func described(failure *aloft.Error) object {
	violations := []any{}
	for _, violation := range failure.Violations {
		violations = append(violations, violation.Field)
	}
	described := object{"code": string(failure.Code), "message": failure.Message, "violations": violations}
	if failure.Reason != "" {
		described["reason"] = failure.Reason
	}
	if failure.Status != 0 {
		described["status"] = float64(failure.Status)
	}
	if failure.RequestID != "" {
		described["requestId"] = failure.RequestID
	}
	if failure.RetryAfter != 0 {
		described["retryAfterMs"] = float64(failure.RetryAfter.Milliseconds())
	}
	return described
}

// call makes the call of a step. Any error that is not of the client is a fault of the client.
func call(
	ctx context.Context, client *aloft.Client, path string, request object,
) (answer object, failure *aloft.Error, err error) {
	switch path {
	case "GET /v1/whoami":
		var identity *aloft.Identity
		identity, err = client.Whoami(ctx)
		if err == nil {
			answer = asJSON(json.Marshal(identity))
		}
	case "DELETE /v1/api-key/{id}":
		answer, err = object{}, client.RevokeKey(ctx, request["id"].(string))
	default:
		answer, err = callMethod(ctx, client, path, request)
	}
	var failed *aloft.Error
	if errors.As(err, &failed) {
		return nil, failed, nil
	}
	return answer, nil, err
}

// callMethod calls the method with a path such as monitor.v1.MonitorService/GetMonitor.
func callMethod(ctx context.Context, client *aloft.Client, path string, request object) (object, error) {
	service, name, _ := strings.Cut(path, "/")
	method := methodOf(client, service, name)
	if !method.IsValid() {
		return nil, fmt.Errorf("the client has no %s", path)
	}
	message := reflect.New(method.Type().In(1).Elem())
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if err := protojson.Unmarshal(text, message.Interface().(proto.Message)); err != nil {
		return nil, fmt.Errorf("%s does not fit the messages: %w", text, err)
	}
	results := method.Call([]reflect.Value{reflect.ValueOf(ctx), message})
	if err, ok := results[1].Interface().(error); ok {
		return nil, err
	}
	// As the service writes it: with empty lists, zero totals and empty texts.
	written := protojson.MarshalOptions{EmitDefaultValues: true}
	return asJSON(written.Marshal(results[0].Interface().(proto.Message))), nil
}

// methodOf returns the method of the client's service with this full name.
func methodOf(client *aloft.Client, service, name string) reflect.Value {
	fields := reflect.ValueOf(client).Elem()
	for at := range fields.NumField() {
		kind := fields.Type().Field(at).Type
		if kind.Kind() == reflect.Interface && kind.Name() == service[strings.LastIndexByte(service, '.')+1:]+"Client" {
			return fields.Field(at).MethodByName(name)
		}
	}
	return reflect.Value{}
}

func asJSON(text []byte, err error) object {
	var value object
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		panic(err)
	}
	return value
}

// optionsOf returns the options of a step's client.
func optionsOf(step step, baseURL string) []aloft.Option {
	options := []aloft.Option{aloft.WithAttempts(1)}
	if step.Altered != nil {
		// Their bodies are JSON.
		options = append(options, aloft.WithJSON())
	}
	if step.Altered != nil || step.Instead != nil {
		transport := intermediary{step: step, baseURL: baseURL}
		options = append(options, aloft.WithHTTPClient(&http.Client{Transport: transport}))
	}
	return options
}

// intermediary alters the request of a step, or answers instead of the server.
type intermediary struct {
	step    step
	baseURL string
}

func (intermediary intermediary) RoundTrip(request *http.Request) (*http.Response, error) {
	if instead := intermediary.step.Instead; instead != nil {
		return instead.answer(request)
	}
	altered := intermediary.step.Altered
	changed := request.Clone(request.Context())
	if altered.Method != "" {
		changed.Method = altered.Method
	}
	if altered.Path != "" {
		address, err := request.URL.Parse(intermediary.baseURL + altered.Path)
		if err != nil {
			return nil, err
		}
		changed.URL = address
	}
	for name, value := range altered.Headers {
		changed.Header.Set(name, value)
	}
	if altered.Body != nil {
		changed.Body = io.NopCloser(strings.NewReader(*altered.Body))
		changed.ContentLength = int64(len(*altered.Body))
	}
	return http.DefaultTransport.RoundTrip(changed)
}

func (instead *instead) answer(request *http.Request) (*http.Response, error) {
	body, isText := instead.Body.(string)
	if !isText {
		text, err := json.Marshal(instead.Body)
		if err != nil {
			return nil, err
		}
		body = string(text)
	}
	header := http.Header{}
	for name, value := range instead.Headers {
		header.Set(name, value)
	}
	reader := io.NopCloser(bytes.NewReader([]byte(body)))
	return &http.Response{StatusCode: instead.Status, Header: header, Body: reader, Request: request}, nil
}

// TestClientHasEveryMethodOfScenarios fails if a service was added without its field in Client.
func TestClientHasEveryServiceOfContract(t *testing.T) {
	files, err := filepath.Glob("../gen/*/v1/*connect/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	fields := map[string]bool{}
	kind := reflect.TypeFor[aloft.Client]()
	for at := range kind.NumField() {
		path := kind.Field(at).Type.PkgPath()
		fields[path[strings.LastIndexByte(path, '/')+1:]] = true
	}
	for _, file := range files {
		if name := filepath.Base(filepath.Dir(file)); !fields[name] {
			t.Errorf("the client has no field for %s", name)
		}
	}
	if _, err := os.Stat("../gen"); err != nil {
		t.Fatal(err)
	}
}
