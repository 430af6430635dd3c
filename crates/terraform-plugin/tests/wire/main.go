// Wire starts a provider through go-plugin, as Terraform does. It calls the methods that it reads from
// stdin, one JSON object per line:
//
//	{"id":1,"method":"PlanResourceChange","request":{…}}
//
// It prints one JSON object per line on stdout: "ready" once; for each call an "answer", or an "error" with
// its "status"; an "event" for each message of a stream before the "answer" that ends it; a "log" for each
// log line of the provider and go-plugin; "ended" after stdin has ended and the provider has stopped.
// Messages are protobuf JSON with the names of tfplugin6.proto. values.go documents the format of values.
// Calls run concurrently.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
)

// A call to the provider.
type call struct {
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Request json.RawMessage `json:"request"`
}

// A line of output about a call.
type report struct {
	ID     int    `json:"id"`
	Event  any    `json:"event,omitempty"`
	Answer any    `json:"answer,omitempty"`
	Status string `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

var printing sync.Mutex

func say(what any) {
	line, err := json.Marshal(what)
	if err != nil {
		line = []byte(fmt.Sprintf(`{"failed":%q}`, err.Error()))
	}
	printing.Lock()
	defer printing.Unlock()
	os.Stdout.Write(append(line, '\n'))
}

func main() {
	provider := flag.String("provider", "", "path of the provider's program")
	protocol := flag.String("proto", "", "folder of tfplugin6.proto")
	plain := flag.Bool("plain", false, "without certificates")
	flag.Parse()
	if err := run(*provider, *protocol, *plain); err != nil {
		say(map[string]string{"failed": err.Error()})
		os.Exit(1)
	}
}

func run(provider, protocol string, plain bool) error {
	host, err := start(provider, protocol, plain)
	if err != nil {
		return err
	}
	say(map[string]any{"ready": host.about()})
	var under sync.WaitGroup
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var asked call
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			host.end()
			return err
		}
		under.Add(1)
		go func() {
			defer under.Done()
			say(host.call(asked))
		}()
	}
	ended := host.end()
	under.Wait()
	say(map[string]any{"ended": ended})
	return lines.Err()
}
