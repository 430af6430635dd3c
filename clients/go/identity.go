package aloft

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"aloft.dev/client/gen/enums"
)

// Identity is the workspace and the scopes of a key.
type Identity struct {
	// Name of the workspace.
	Name string `json:"name"`
	// Slug of the workspace.
	Slug string `json:"slug"`
	// Plan of the workspace.
	Plan string `json:"plan"`
	// Actor is the caller.
	Actor Actor `json:"actor"`
}

// Actor is the caller in an [Identity].
type Actor struct {
	// Type is apiKey for a key.
	Type string `json:"type"`
	// KeyID is the ID of the key, key_…; not the key itself.
	KeyID string `json:"keyId"`
	// Scopes of the key: read, write.
	Scopes []string `json:"scopes"`
}

// v1 calls the endpoints of /v1, which are at the same host as the services.
type v1 struct {
	caller    *caller
	exchanger *exchanger
	host      string
}

// Whoami returns the identity and the scopes of the key.
func (client *Client) Whoami(ctx context.Context) (*Identity, error) {
	never := func(*Error, http.Header) bool { return false }
	answer, err := client.v1.call(ctx, http.MethodGet, "/v1/whoami", never)
	if err != nil {
		return nil, err
	}
	var identity Identity
	if err := json.Unmarshal(answer.body, &identity); err != nil {
		return nil, &Error{
			Code: CodeInternal, Method: "GET /v1/whoami", Status: answer.status,
			Message: "the answer cannot be decoded: " + err.Error(), cause: err,
		}
	}
	if identity.Actor.Type == "" {
		return nil, &Error{
			Code: CodeInternal, Method: "GET /v1/whoami", Status: answer.status,
			Message: "the answer is not that of the service; check the address",
		}
	}
	return &identity, nil
}

// RevokeKey revokes a key of the workspace by its ID, key_…. A read-only key may revoke only itself. Revoking a revoked
// key has no effect; for the call's own key, a retry gets [ErrUnauthenticated].
func (client *Client) RevokeKey(ctx context.Context, id string) error {
	if id == "" {
		return invalid("`id` must be the ID of a key, `key_…`, such as `Whoami` returns")
	}
	path := "/v1/api-key/" + url.PathEscape(id)
	_, err := client.v1.call(ctx, http.MethodDelete, path, func(failure *Error, header http.Header) bool {
		return failure.Reason == enums.ReasonKeyRevoked && isKeyOf(header.Get(keyHeader), id)
	})
	return err
}

// isKeyOf reports whether this key has this ID: its text contains the part after the prefix.
func isKeyOf(key, id string) bool {
	_, carried, ok := strings.Cut(id, "_")
	parts := strings.SplitN(key, "_", 3)
	return ok && len(parts) > 1 && parts[1] == carried
}

// call makes a request with all its attempts. The answer is nil if an earlier attempt has succeeded.
func (v1 *v1) call(
	ctx context.Context, verb, path string, isDone func(*Error, http.Header) bool,
) (*answer, error) {
	call, err := v1.caller.defaults.of(ctx)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	v1.caller.headerOf(call, header)
	traits := traits{
		name: verb + " " + path, isSafe: true, timeout: callTimeout,
		isDone: func(failure *Error) bool { return isDone(failure, header) },
	}
	var last *answer
	err = v1.caller.run(ctx, call, traits, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, verb, v1.host+path, nil)
		if err != nil {
			return err
		}
		request.Header = header.Clone()
		last, err = v1.exchanger.exchange(request, traits.name, isV1Success)
		return err
	})
	return last, err
}

func isV1Success(response *http.Response) bool {
	isGone := response.StatusCode == http.StatusNoContent && response.Request.Method == http.MethodDelete
	return isGone || response.StatusCode == http.StatusOK && hasType(response, mediaJSON)
}
