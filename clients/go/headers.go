package aloft

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	// keyHeader carries the key of a call.
	keyHeader = "X-Service-Key"
	// idempotencyHeader makes retries of a create idempotent.
	idempotencyHeader = "Idempotency-Key"
	// requestIDHeader is the ID of a request in the service's log.
	requestIDHeader = "X-Request-Id"
)

// checkHeader rejects names and values that no header may have; net/http would fail with every attempt.
func checkHeader(name, value string) error {
	isFine := name != ""
	for _, char := range []byte(name) {
		isAlphanumeric := char >= '0' && char <= '9' || char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z'
		isFine = isFine && (isAlphanumeric || strings.IndexByte("!#$%&'*+-.^_`|~", char) >= 0)
	}
	for _, char := range []byte(value) {
		isFine = isFine && (char == '\t' || char >= 0x20 && char != 0x7f)
	}
	if !isFine {
		return invalid(fmt.Sprintf("the header `%s` has a name or a value that no header may have", name))
	}
	return nil
}

// randomKey returns a random idempotency key: 128 bits in hexadecimal.
func randomKey() string {
	var bits [16]byte
	// It never fails: crypto/rand ends the program without randomness.
	_, _ = rand.Read(bits[:])
	return hex.EncodeToString(bits[:])
}
