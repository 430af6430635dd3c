package aloft

import (
	"encoding/base64"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// detail is a detail of an error as received.
type detail struct {
	// Type is the full name of the message.
	Type string `json:"type"`
	// Value is the message in base64.
	Value string `json:"value"`
}

// addDetail adds the content of a detail, which is a message of google.rpc. Unknown and broken ones are ignored. They
// are read here and not by generated code, because a program with two copies of google.rpc does not start. Field
// numbers as in proto/google/rpc/error_details.proto.
func (err *Error) addDetail(detail detail) {
	message, broken := base64.RawStdEncoding.DecodeString(strings.TrimRight(detail.Value, "="))
	if broken != nil {
		return
	}
	eachField(message, func(number protowire.Number, value []byte, _ uint64) {
		if number != 1 {
			return
		}
		switch detail.Type[strings.LastIndexByte(detail.Type, '/')+1:] {
		case "google.rpc.ErrorInfo":
			err.Reason = string(value)
		case "google.rpc.RequestInfo":
			err.RequestID = string(value)
		case "google.rpc.BadRequest":
			err.Violations = append(err.Violations, violationOf(value))
		case "google.rpc.RetryInfo":
			err.RetryAfter, err.asksForRetry = durationOf(value), true
		}
	})
}

func violationOf(message []byte) Violation {
	var violation Violation
	eachField(message, func(number protowire.Number, value []byte, _ uint64) {
		switch number {
		case 1:
			violation.Field = string(value)
		case 2:
			violation.Description = string(value)
		}
	})
	return violation
}

// durationOf reads a google.protobuf.Duration.
func durationOf(message []byte) time.Duration {
	var duration time.Duration
	eachField(message, func(number protowire.Number, _ []byte, value uint64) {
		switch number {
		case 1:
			seconds := int64(value)
			if seconds > math.MaxInt64/int64(2*time.Second) {
				seconds = math.MaxInt64 / int64(2*time.Second)
			}
			duration += time.Duration(seconds) * time.Second
		case 2:
			duration += time.Duration(int32(value)) * time.Nanosecond
		}
	})
	return max(0, duration)
}

// eachField calls visit for the fields of a message up to the first broken one: with the bytes of texts and messages,
// or with the value of numbers.
func eachField(message []byte, visit func(number protowire.Number, value []byte, varint uint64)) {
	for len(message) > 0 {
		number, kind, length := protowire.ConsumeTag(message)
		if length < 0 {
			return
		}
		message = message[length:]
		var value []byte
		var varint uint64
		switch kind {
		case protowire.BytesType:
			value, length = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			varint, length = protowire.ConsumeVarint(message)
		default:
			length = protowire.ConsumeFieldValue(number, kind, message)
		}
		if length < 0 {
			return
		}
		if kind == protowire.BytesType || kind == protowire.VarintType {
			visit(number, value, varint)
		}
		message = message[length:]
	}
}
