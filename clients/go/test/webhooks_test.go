package test

// Webhooks from the real server through VerifyWebhook: forgeries, two secrets during a rotation, and the receivers that
// pages print.

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	aloft "aloft.dev/client"
	notificationv1 "aloft.dev/client/gen/notification/v1"
)

// channel is a channel to a receiver of this test, and a signing secret of the workspace.
type channel struct {
	client   *aloft.Client
	receiver *site
	secret   string
	id       string
}

func createChannel(t *testing.T) *channel {
	t.Helper()
	ctx := context.Background()
	channel := &channel{client: clientOf(t, server(), "write"), receiver: startSite(t, 204)}
	channel.secret = channel.rotate(t, 1)
	notification := &notificationv1.Notification{
		ProviderType: proto.String("webhook"),
		Webhook:      &notificationv1.Webhook{Endpoint: proto.String(channel.receiver.url + "/hook")},
	}
	request := &notificationv1.CreateNotificationRequest{Notification: notification}
	response, err := channel.client.Notification.CreateNotification(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	channel.id = response.GetNotification().GetId()
	t.Cleanup(func() {
		request := &notificationv1.DeleteNotificationRequest{Id: channel.id}
		if _, err := channel.client.Notification.DeleteNotification(ctx, request); err != nil {
			t.Error(err)
		}
	})
	return channel
}

// rotate creates a signing secret; the earlier one stays valid for some hours.
func (channel *channel) rotate(t *testing.T, overlapHours int32) string {
	t.Helper()
	request := &notificationv1.RotateSigningSecretRequest{OverlapHours: proto.Int32(overlapHours)}
	response, err := channel.client.Notification.RotateSigningSecret(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	return response.GetSecret()
}

// tested returns the channel's test message as its receiver got it.
func (channel *channel) tested(t *testing.T) aloft.Webhook {
	t.Helper()
	request := &notificationv1.TestNotificationRequest{Id: proto.String(channel.id)}
	response, err := channel.client.Notification.TestNotification(context.Background(), request)
	if err != nil || !response.GetAccepted() {
		t.Fatal(response, err)
	}
	received := <-channel.receiver.received
	return aloft.Webhook{Header: received.header, Body: received.body, Secrets: []string{channel.secret}}
}

func TestWebhookOfServerIsVerified(t *testing.T) {
	channel := createChannel(t)
	event, err := aloft.VerifyWebhook(channel.tested(t))
	if err != nil {
		t.Fatal(err)
	}
	test, ok := event.(*aloft.ChannelEvent)
	if !ok || test.Type != aloft.ChannelTest || test.Data.Channel != channel.id || test.Data.Events[0].Event != "test" {
		t.Errorf("%+v", event)
	}
}

func TestForgedChangedOrOldWebhooksAreRejected(t *testing.T) {
	channel := createChannel(t)
	sent := channel.tested(t)
	stamp := sent.Header.Get("Webhook-Timestamp")
	var seconds int64
	if _, err := fmt.Sscan(stamp, &seconds); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		reason string
		change func(*aloft.Webhook)
	}{
		"another body": {aloft.ReasonWebhookSignature, func(webhook *aloft.Webhook) {
			webhook.Body = []byte(strings.Replace(string(webhook.Body), "test", "rest", 1))
		}},
		"another id": {aloft.ReasonWebhookSignature, func(webhook *aloft.Webhook) {
			webhook.Header.Set("Webhook-Id", "other")
		}},
		"another time": {aloft.ReasonWebhookSignature, func(webhook *aloft.Webhook) {
			webhook.Header.Set("Webhook-Timestamp", fmt.Sprint(seconds-1))
		}},
		"another secret": {aloft.ReasonWebhookSignature, func(webhook *aloft.Webhook) {
			webhook.Secrets = []string{"whsec_" + base64.StdEncoding.EncodeToString([]byte("another"))}
		}},
		"an old one": {aloft.ReasonWebhookTimestamp, func(webhook *aloft.Webhook) {
			webhook.Now = time.Unix(seconds+301, 0)
		}},
		"one of the future": {aloft.ReasonWebhookTimestamp, func(webhook *aloft.Webhook) {
			webhook.Now = time.Unix(seconds-301, 0)
		}},
		"no id": {aloft.ReasonWebhookHeadersMissing, func(webhook *aloft.Webhook) { webhook.Header.Del("Webhook-Id") }},
	} {
		webhook := sent
		webhook.Header = sent.Header.Clone()
		row.change(&webhook)
		_, err := aloft.VerifyWebhook(webhook)
		var failure *aloft.Error
		if !errors.As(err, &failure) || failure.Code != aloft.CodeUnauthenticated || failure.Reason != row.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPreviousSecretIsValidDuringRotation(t *testing.T) {
	channel := createChannel(t)
	previous, secret := channel.secret, channel.rotate(t, 1)
	sent := channel.tested(t)
	if signatures := strings.Fields(sent.Header.Get("Webhook-Signature")); len(signatures) < 2 {
		t.Error(signatures)
	}
	for _, secrets := range [][]string{{secret}, {previous}, {secret, previous}} {
		sent.Secrets = secrets
		if _, err := aloft.VerifyWebhook(sent); err != nil {
			t.Error(err)
		}
	}
	channel.secret = channel.rotate(t, 0)
	sent = channel.tested(t)
	if _, err := aloft.VerifyWebhook(sent); err != nil {
		t.Error(err)
	}
	sent.Secrets = []string{secret}
	if _, err := aloft.VerifyWebhook(sent); !errors.Is(err, aloft.ErrUnauthenticated) {
		t.Error(err)
	}
}

// receiverSecret is the secret of the receivers that pages print.
var receiverSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\a", 32)))

// post sends a body that is signed with this key, and returns the status of the response.
func post(t *testing.T, url, body, key string) int {
	t.Helper()
	id, stamp := "msg_1", fmt.Sprint(time.Now().Unix())
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Webhook-Id", id)
	request.Header.Set("Webhook-Timestamp", stamp)
	request.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}
