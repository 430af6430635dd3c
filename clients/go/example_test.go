package aloft_test

// Examples for the documentation of the package. They need a server, so they are compiled and not run; the tests of the
// guides run the same calls.

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	aloft "aloft.dev/client"
	monitorv1 "aloft.dev/client/gen/monitor/v1"
)

func ExampleNew() {
	client, err := aloft.New(aloft.WithBaseURL("https://up.example/rpc"), aloft.WithTimeout(10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	identity, err := client.Whoami(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(identity.Name, identity.Actor.Scopes)
}

func ExamplePages() {
	client, err := aloft.New()
	if err != nil {
		log.Fatal(err)
	}
	list := &monitorv1.ListMonitorsRequest{Limit: proto.Int32(100)}
	for page, err := range aloft.Pages(context.Background(), client.Monitor.ListMonitors, list) {
		if err != nil {
			log.Fatal(err)
		}
		for _, monitor := range page.GetHttpMonitors() {
			fmt.Println(monitor.GetName(), monitor.GetStatus())
		}
	}
}

func ExampleError() {
	client, err := aloft.New()
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Monitor.DeleteMonitor(context.Background(), &monitorv1.DeleteMonitorRequest{Id: "mon_…"})
	var failure *aloft.Error
	switch {
	case errors.Is(err, aloft.ErrNotFound):
		fmt.Println("it is deleted already")
	case errors.As(err, &failure):
		log.Fatal(failure.Code, failure.Reason, failure.RequestID)
	}
}

func ExampleWithCallOptions() {
	client, err := aloft.New()
	if err != nil {
		log.Fatal(err)
	}
	ctx := aloft.WithCallOptions(context.Background(),
		aloft.WithIdempotencyKey("deploy-42"), aloft.WithTimeout(2*time.Second))
	monitor := &monitorv1.TcpMonitor{
		Name: proto.String("Database"), Uri: proto.String("db.example.com:5432"), Periodicity: proto.String("1m"),
	}
	created, err := client.Monitor.CreateTcpMonitor(ctx, &monitorv1.CreateTcpMonitorRequest{Monitor: monitor})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(created.GetMonitor().GetId())
}

func ExampleVerifyWebhook() {
	handle := func(request *http.Request, body []byte) error {
		webhook := aloft.Webhook{Header: request.Header, Body: body, Secrets: []string{"whsec_…"}}
		event, err := aloft.VerifyWebhook(webhook)
		if err != nil {
			return err
		}
		switch event := event.(type) {
		case *aloft.ChannelEvent:
			fmt.Println(event.Type, event.Data.Events[0].Summary)
		case *aloft.PageWebhook:
			fmt.Println(event.Type, event.Data.Page.Title)
		}
		return nil
	}
	_ = handle
}
