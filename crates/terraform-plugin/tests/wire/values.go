package main

import (
	"encoding/base64"
	"math"
	"reflect"

	"github.com/vmihailenco/msgpack/v5"
)

// The keys of values in messages: {"$value": {"name": "x", "id": {"$unknown": true}}}.
const (
	valueKey   = "$value"
	unknownKey = "$unknown"
	packedKey  = "msgpack"
)

// An unknown is a value that is known only after apply.
type unknown struct{}

func init() {
	msgpack.RegisterExtEncoder(0, unknown{}, func(*msgpack.Encoder, reflect.Value) ([]byte, error) {
		return []byte{0}, nil
	})
	for _, id := range []int8{0, 12} {
		msgpack.RegisterExtDecoder(id, unknown{}, func(d *msgpack.Decoder, _ reflect.Value, n int) error {
			return d.ReadFull(make([]byte, n))
		})
	}
}

// pack replaces each {"$value": …} by a message with its msgpack encoding.
func pack(tree any) (any, error) {
	switch node := tree.(type) {
	case map[string]any:
		if value, is := node[valueKey]; is {
			packed, err := msgpack.Marshal(plain(value))
			return map[string]any{packedKey: base64.StdEncoding.EncodeToString(packed)}, err
		}
		return each(node, pack)
	case []any:
		return all(node, pack)
	}
	return tree, nil
}

// unpack replaces each message with msgpack by the decoded value.
func unpack(tree any) (any, error) {
	switch node := tree.(type) {
	case map[string]any:
		if text, is := node[packedKey].(string); is {
			packed, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, err
			}
			var value any
			err = msgpack.Unmarshal(packed, &value)
			return readable(value), err
		}
		return each(node, unpack)
	case []any:
		return all(node, unpack)
	}
	return tree, nil
}

// plain converts a readable value for msgpack: unknown values, and whole numbers as integers.
func plain(value any) any {
	switch node := value.(type) {
	case map[string]any:
		if node[unknownKey] == true {
			return unknown{}
		}
		made, _ := each(node, func(value any) (any, error) { return plain(value), nil })
		return made
	case []any:
		made, _ := all(node, func(value any) (any, error) { return plain(value), nil })
		return made
	case float64:
		if node == math.Trunc(node) && math.Abs(node) < 1<<53 {
			return int64(node)
		}
	}
	return value
}

// readable is the inverse of plain.
func readable(value any) any {
	switch node := value.(type) {
	case map[string]any:
		made, _ := each(node, func(value any) (any, error) { return readable(value), nil })
		return made
	case []any:
		made, _ := all(node, func(value any) (any, error) { return readable(value), nil })
		return made
	case unknown, *unknown:
		return map[string]any{unknownKey: true}
	}
	return value
}

func each(node map[string]any, change func(any) (any, error)) (any, error) {
	made := make(map[string]any, len(node))
	for key, value := range node {
		changed, err := change(value)
		if err != nil {
			return nil, err
		}
		made[key] = changed
	}
	return made, nil
}

func all(node []any, change func(any) (any, error)) (any, error) {
	made := make([]any, len(node))
	for at, value := range node {
		changed, err := change(value)
		if err != nil {
			return nil, err
		}
		made[at] = changed
	}
	return made, nil
}
