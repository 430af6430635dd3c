// Calls a server with connect-go over HTTP/1.1 and counts the calls that got a response. The server
// refuses them all before it reads their bodies. Prints the failures of the others.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type refusal struct {
	URL      string `json:"url"`
	Key      string `json:"key"`
	Statuses []int  `json:"statuses"`
	Bytes    int    `json:"bytes"`
	Calls    int    `json:"calls"`
}

// Records the status of the last response.
type recorder struct{ status int }

func (recorder *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder.status = 0
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil {
		recorder.status = response.StatusCode
	}
	return response, err
}

func contains(statuses []int, status int) bool {
	for _, expected := range statuses {
		if expected == status {
			return true
		}
	}
	return false
}

func main() {
	var refusals []refusal
	if err := json.Unmarshal([]byte(os.Getenv("REFUSALS")), &refusals); err != nil {
		panic(err)
	}
	answered := 0
	for _, refusal := range refusals {
		recorder := &recorder{}
		client := connect.NewClient[wrapperspb.StringValue, emptypb.Empty](
			&http.Client{Transport: recorder}, refusal.URL, connect.WithProtoJSON())
		for call := 0; call < refusal.Calls; call++ {
			request := connect.NewRequest(wrapperspb.String(strings.Repeat("x", refusal.Bytes)))
			if refusal.Key != "" {
				request.Header().Set("x-service-key", refusal.Key)
			}
			_, err := client.CallUnary(context.Background(), request)
			var refused *connect.Error
			if errors.As(err, &refused) && contains(refusal.Statuses, recorder.status) {
				answered++
			} else {
				fmt.Fprintf(os.Stderr, "%d for %v: %v\n", recorder.status, refusal.Statuses, err)
			}
		}
	}
	fmt.Println(answered)
}
