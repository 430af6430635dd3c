package test

// Key and address from option, environment or neither, with the real server.

import (
	"context"
	"errors"
	"fmt"
	"testing"

	aloft "aloft.dev/client"
	monitorv1 "aloft.dev/client/gen/monitor/v1"
	regionv1 "aloft.dev/client/gen/region/v1"
)

// scopes returns the scopes of a client's key.
func scopes(t *testing.T, options ...aloft.Option) string {
	t.Helper()
	client, err := aloft.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := client.Whoami(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Monitor.ListMonitors(context.Background(), &monitorv1.ListMonitorsRequest{}); err != nil {
		t.Error(err)
	}
	return fmt.Sprint(identity.Actor.Type, identity.Actor.Scopes)
}

func TestKeyAndAddressComeFromOptionOrEnvironment(t *testing.T) {
	keys, address := server().Keys, aloft.WithBaseURL(server().BaseURL)
	for _, row := range []struct{ environment, option, expected string }{
		{"", keys["read"], "apiKey[read]"},
		{keys["read"], "", "apiKey[read]"},
		{keys["read"], keys["write"], "apiKey[write]"},
	} {
		t.Setenv("SERVICE_API_KEY", row.environment)
		if found := scopes(t, address, aloft.WithAPIKey(row.option)); found != row.expected {
			t.Errorf("%s instead of %s", found, row.expected)
		}
	}
	t.Setenv("SERVICE_API_URL", server().BaseURL)
	if found := scopes(t); found != "apiKey[read]" {
		t.Error(found)
	}
}

func TestHeadersMayCarryTheKey(t *testing.T) {
	t.Setenv("SERVICE_API_KEY", "")
	client, err := aloft.New(aloft.WithBaseURL(server().BaseURL))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for name, call := range map[string]func(context.Context) error{
		"an RPC": func(ctx context.Context) error {
			_, err := client.Monitor.ListMonitors(ctx, &monitorv1.ListMonitorsRequest{})
			return err
		},
		"/v1": func(ctx context.Context) error {
			_, err := client.Whoami(ctx)
			return err
		},
	} {
		var failure *aloft.Error
		err := call(ctx)
		if !errors.Is(err, aloft.ErrUnauthenticated) || !errors.As(err, &failure) || failure.Reason != "KEY_MISSING" {
			t.Errorf("%s: %v", name, err)
		}
		if err := call(aloft.WithCallOptions(ctx, aloft.WithHeader("x-service-key", server().Keys["read"]))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestServicesAreAtRootOfHostToo(t *testing.T) {
	ctx := context.Background()
	client, err := aloft.New(aloft.WithAPIKey(server().Keys["read"]), aloft.WithBaseURL(server().Host))
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.Region.ListRegions(ctx, &regionv1.ListRegionsRequest{})
	if err != nil || len(list.Regions) != 28 {
		t.Errorf("%d regions: %v", len(list.GetRegions()), err)
	}
	if _, err := client.Whoami(ctx); err != nil {
		t.Error(err)
	}
}
