package test

// Expectations of scenarios (clients/scenarios/README.md): compares a value with a pattern and describes the differences.

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// absent is the value of a field that is not there.
type absent struct{}

type object = map[string]any

// patterns by name: whether a value matches the argument.
var patterns map[string]func(value, argument any) bool

func init() {
	patterns = map[string]func(value, argument any) bool{
		"$matches": func(value, argument any) bool {
			text, ok := value.(string)
			return ok && regexp.MustCompile(argument.(string)).MatchString(text)
		},
		"$type": func(value, argument any) bool { return typeOf(value) == argument },
		"$length": func(value, argument any) bool {
			switch value := value.(type) {
			case string:
				return float64(utf8.RuneCountInString(value)) == argument
			case []any:
				return float64(len(value)) == argument
			}
			return false
		},
		"$has": func(value, argument any) bool {
			items, _ := value.([]any)
			return slices.ContainsFunc(items, func(item any) bool { return len(differences(item, argument, "")) == 0 })
		},
		"$set": func(value, argument any) bool {
			items, ok := value.([]any)
			return ok && slices.Equal(sorted(items), sorted(argument.([]any)))
		},
		"$absent": func(value, _ any) bool { return value == absent{} },
	}
}

// differences returns the differences of a value from a pattern; path is its position.
func differences(value, pattern any, path string) []string {
	switch pattern := pattern.(type) {
	case []any:
		return listDifferences(value, pattern, path)
	case object:
		return objectDifferences(value, pattern, path)
	}
	if reflect.DeepEqual(value, pattern) {
		return nil
	}
	return []string{fmt.Sprintf("%s is %s, not %s", path, shown(value), shown(pattern))}
}

func listDifferences(value any, pattern []any, path string) []string {
	items, ok := value.([]any)
	if !ok || len(items) != len(pattern) {
		return []string{fmt.Sprintf("%s is no list of %d items: %s", path, len(pattern), shown(value))}
	}
	var found []string
	for at, item := range pattern {
		found = append(found, differences(items[at], item, fmt.Sprintf("%s[%d]", path, at))...)
	}
	return found
}

func objectDifferences(value any, pattern object, path string) []string {
	var found []string
	isPattern := false
	for name, argument := range pattern {
		if !strings.HasPrefix(name, "$") {
			continue
		}
		isPattern = true
		matches, ok := patterns[name]
		if !ok {
			panic("there is no pattern " + name)
		}
		if !matches(value, argument) {
			found = append(found, fmt.Sprintf("%s does not match %s %s: %s", path, name, shown(argument), shown(value)))
		}
	}
	if isPattern {
		return found
	}
	fields, ok := value.(object)
	if !ok {
		return []string{fmt.Sprintf("%s is no object: %s", path, shown(value))}
	}
	for name, inner := range pattern {
		field, ok := fields[name]
		if !ok {
			field = absent{}
		}
		found = append(found, differences(field, inner, path+"."+name)...)
	}
	return found
}

var name = regexp.MustCompile(`\$\{(\w+)\}`)

// filled returns a value with ${name} replaced in all its texts, and $repeat expanded.
func filled(value any, names map[string]string) any {
	switch value := value.(type) {
	case string:
		return name.ReplaceAllStringFunc(value, func(text string) string {
			known, ok := names[text[2:len(text)-1]]
			if !ok {
				panic("nothing is called " + text + " here")
			}
			return known
		})
	case []any:
		items := make([]any, len(value))
		for at, item := range value {
			items[at] = filled(item, names)
		}
		return items
	case object:
		if repeat, ok := value["$repeat"].([]any); ok {
			return strings.Repeat(repeat[0].(string), int(repeat[1].(float64)))
		}
		fields := make(object, len(value))
		for name, inner := range value {
			fields[name] = filled(inner, names)
		}
		return fields
	}
	return value
}

// at returns the text at a path such as logs.0.id; false if there is none.
func at(value any, path string) (string, bool) {
	for _, part := range strings.Split(path, ".") {
		switch inner := value.(type) {
		case object:
			value = inner[part]
		case []any:
			index, err := strconv.Atoi(part)
			if err != nil || index >= len(inner) {
				return "", false
			}
			value = inner[index]
		}
	}
	text, ok := value.(string)
	return text, ok
}

func typeOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case object:
		return "object"
	case []any:
		return "array"
	}
	return "none"
}

// sorted returns the texts of values in order.
func sorted(items []any) []string {
	var texts []string
	for _, item := range items {
		text, _ := json.Marshal(item)
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	return texts
}

func shown(value any) string {
	if value == (absent{}) {
		return "absent"
	}
	text, _ := json.Marshal(value)
	return string(text[:min(len(text), 400)])
}

// readJSON reads a file of the scenarios' folder.
func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(scenarios, name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestEachPatternMatchesExactlyWhatItShould(t *testing.T) {
	var rows []struct {
		Value, Pattern any
		Holds          bool
	}
	readJSON(t, "schema/patterns.json", &rows)
	if len(rows) < 30 {
		t.Errorf("only %d rows", len(rows))
	}
	for _, row := range rows {
		if holds := len(differences(row.Value, row.Pattern, "it")) == 0; holds != row.Holds {
			t.Errorf("%+v", row)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown pattern is accepted")
		}
	}()
	differences("a", object{"$like": "a"}, "it")
}

func TestNamesAreReplacedEverywhere(t *testing.T) {
	names := map[string]string{"monitor": "mon_1", "target": "http://127.0.0.1:1"}
	given := object{"id": "${monitor}", "url": []any{"${target}/a"}, "size": 3.0, "name": object{"$repeat": []any{"n", 3.0}}}
	expected := object{"id": "mon_1", "url": []any{"http://127.0.0.1:1/a"}, "size": 3.0, "name": "nnn"}
	if filled := filled(given, names); !reflect.DeepEqual(filled, expected) {
		t.Error(filled)
	}
	logs := object{"logs": []any{object{"id": "log_1"}}}
	if id, ok := at(logs, "logs.0.id"); !ok || id != "log_1" {
		t.Error(id)
	}
	if _, ok := at(logs, "logs.1.id"); ok {
		t.Error("a missing value was found")
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown name is accepted")
		}
	}()
	filled("${page}", names)
}
