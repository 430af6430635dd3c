package test

// The module as it is published: the archive of its files, added to empty modules through a module proxy of files, and
// programs that use it there, among them the receiver of webhooks that the README prints.

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	aloft "aloft.dev/client"
)

// module is the path of the module.
const module = "aloft.dev/client"

// project is an empty module that uses the published one.
type project struct {
	folder string
	env    []string
}

// newProject returns an empty folder without the network: modules come from a proxy, then from the machine's cache.
func newProject(t *testing.T, proxy string) *project {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	downloads := filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")
	return &project{folder: t.TempDir(), env: append(os.Environ(),
		"GOPROXY=file://"+proxy+",file://"+downloads, "GOSUMDB=off", "GOWORK=off",
		// The archive must not stay in the cache that all modules share.
		"GOMODCACHE="+t.TempDir(),
		// With -trimpath, builds of the same modules in other folders are reused.
		"GOFLAGS=-modcacherw -mod=mod -trimpath",
		"SERVICE_API_URL="+server().BaseURL, "SERVICE_API_KEY="+server().Keys["write"])}
}

// startProject packs the module and adds it to an empty one.
func startProject(t *testing.T) *project {
	t.Helper()
	proxy := t.TempDir()
	writeProxy(t, proxy)
	project := newProject(t, proxy)
	project.run(t, "go", "mod", "init", "example.com/empty")
	project.run(t, "go", "get", module+"@v"+aloft.Version)
	return project
}

// run runs a program to its end and returns its output.
func (project *project) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.Command(program, args...)
	command.Dir, command.Env = project.folder, project.env
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, output)
	}
	return string(output)
}

// write writes a program into a folder of its own.
func (project *project) write(t *testing.T, name, code string) {
	t.Helper()
	folder := filepath.Join(project.folder, name)
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "main.go"), []byte(code), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// writeProxy writes the files that a module proxy serves for the module.
func writeProxy(t *testing.T, proxy string) {
	t.Helper()
	folder := filepath.Join(proxy, module, "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	version := "v" + aloft.Version
	manifest, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	info, _ := json.Marshal(map[string]string{"Version": version, "Time": "2026-11-27T00:00:00Z"})
	for name, content := range map[string][]byte{
		version + ".mod": manifest, version + ".info": info, "list": []byte(version + "\n"),
		version + ".zip": packed(t, module+"@"+version+"/"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// published returns the files of the module that git knows, as a module proxy takes them from a repository.
func published(t *testing.T) []string {
	t.Helper()
	command := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	command.Dir = ".."
	listed, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(listed)), "\n")
}

func packed(t *testing.T, prefix string) []byte {
	t.Helper()
	var archive strings.Builder
	writer := zip.NewWriter(&archive)
	for _, name := range published(t) {
		content, err := os.ReadFile(filepath.Join("..", name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		file, err := writer.Create(prefix + name)
		if err == nil {
			_, err = file.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte(archive.String())
}

const smoke = `package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"google.golang.org/protobuf/proto"

	aloft "aloft.dev/client"
	monitorv1 "aloft.dev/client/gen/monitor/v1"
)

func main() {
	ctx := context.Background()
	client, err := aloft.New()
	if err != nil {
		log.Fatal(err)
	}
	monitor := &monitorv1.TcpMonitor{
		Name: proto.String("go smoke"), Uri: proto.String("db.example.com:5432"), Periodicity: proto.String("1h"),
	}
	created, err := client.Monitor.CreateTcpMonitor(ctx, &monitorv1.CreateTcpMonitorRequest{Monitor: monitor})
	if err != nil {
		log.Fatal(err)
	}
	id := created.GetMonitor().GetId()
	found := false
	for page, err := range aloft.Pages(ctx, client.Monitor.ListMonitors, &monitorv1.ListMonitorsRequest{Limit: proto.Int32(1)}) {
		if err != nil {
			log.Fatal(err)
		}
		for _, monitor := range page.TcpMonitors {
			found = found || monitor.GetId() == id
		}
	}
	if _, err := client.Monitor.DeleteMonitor(ctx, &monitorv1.DeleteMonitorRequest{Id: id}); err != nil {
		log.Fatal(err)
	}
	_, err = client.Monitor.GetMonitor(ctx, &monitorv1.GetMonitorRequest{Id: id})
	_, forged := aloft.VerifyWebhook(aloft.Webhook{})
	fmt.Println(found, errors.Is(err, aloft.ErrNotFound), errors.Is(forged, aloft.ErrUnauthenticated))
}
`

func TestPublishedModuleWorksInEmptyProject(t *testing.T) {
	project := startProject(t)
	t.Run("smoke", project.smoke)
	t.Run("printed", project.printed)
	project.run(t, "go", "mod", "tidy")
	project.run(t, "go", "mod", "verify")
}

func (project *project) smoke(t *testing.T) {
	project.write(t, "smoke", smoke)
	project.run(t, "go", "get", "./smoke")
	if printed := project.run(t, "go", "run", "./smoke"); printed != "true true true\n" {
		t.Error(printed)
	}
}

// tool returns the path of a program that `cargo xtask setup` installs.
func tool(name string) string {
	folder := os.Getenv("ALOFT_TOOLS_DIR")
	if folder == "" {
		folder = "../../../.tools"
	}
	path, err := filepath.Abs(filepath.Join(folder, "bin", name))
	if err != nil {
		panic(err)
	}
	return path
}

func TestGoToolsFindNothing(t *testing.T) {
	here := &project{folder: "..", env: os.Environ()}
	here.run(t, "go", "vet", "./...")
	here.run(t, "go", "mod", "tidy", "-diff")
	here.run(t, "go", "mod", "verify")
	here.run(t, tool("staticcheck"), "./...")
	if unformatted := here.run(t, "gofmt", "-l", "."); unformatted != "" {
		t.Error(unformatted)
	}
}

func TestModuleCanBeReleased(t *testing.T) {
	// No version before this one is published.
	project := newProject(t, t.TempDir())
	for _, name := range published(t) {
		content, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(project.folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	printed := project.run(t, tool("gorelease"), "-base=none", "-version=v"+aloft.Version)
	if !strings.Contains(printed, "is a valid semantic version for this release") {
		t.Error(printed)
	}
}

func TestModuleHasExactlyTheUsedFiles(t *testing.T) {
	known := regexp.MustCompile(`^((test/)?\w+(_test)?\.go|gen/.*\.go|go\.(mod|sum)|(README|CHANGELOG)\.md|LICENSE|\.gitignore)$`)
	files := published(t)
	for _, name := range files {
		if !known.MatchString(name) {
			t.Errorf("unexpected file %s", name)
		}
	}
	for _, name := range []string{"README.md", "CHANGELOG.md", "LICENSE", "go.mod", "go.sum", "gen/monitor/v1/monitor.pb.go"} {
		if !slices.Contains(files, name) {
			t.Errorf("missing file %s", name)
		}
	}
}

// pages print a receiver of webhooks, relative to this folder. The tests of the guides run all other programs.
var pages = []string{"../README.md"}

var block = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")

// printed runs the receivers of pages and sends them webhooks.
func (project *project) printed(t *testing.T) {
	for at, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		receivers := 0
		for _, block := range block.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(block[1], "VerifyWebhook") {
				continue
			}
			receivers++
			name := fmt.Sprintf("receiver%d", at)
			project.write(t, name, strings.Replace(block[1], `":9000"`, `"127.0.0.1:0"`, 1))
			project.receive(t, name)
		}
		if receivers != 1 {
			t.Errorf("%s prints %d receivers", page, receivers)
		}
	}
}

// receive starts a printed receiver, which reports its address, and sends it webhooks.
func (project *project) receive(t *testing.T, name string) {
	program := filepath.Join(project.folder, name, "receiver")
	project.run(t, "go", "build", "-o", program, "./"+name)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	command := exec.CommandContext(ctx, program)
	command.Env = append(project.env, "WEBHOOK_SECRET="+receiverSecret)
	errors, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(errors)
	address := regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)
	url := ""
	for url == "" && lines.Scan() {
		if found := address.FindStringSubmatch(lines.Text()); found != nil {
			url = "http://" + found[1] + "/"
		}
	}
	go func() { _, _ = io.Copy(io.Discard, errors) }()
	key := strings.Repeat("\a", 32)
	event := `{"version":%d,"type":"monitor.error","timestamp":null,"data":{"channel":"chn_1","link":null,"events":[]}}`
	for _, row := range []struct {
		body, key string
		expected  int
	}{
		{fmt.Sprintf(event, 1), key, 204},
		{fmt.Sprintf(event, 1), "forged", 401},
		// 5xx is sent again; any other status would lose the alert.
		{fmt.Sprintf(event, 2), key, 500},
	} {
		if status := post(t, url, row.body, row.key); status != row.expected {
			t.Errorf("%d instead of %d", status, row.expected)
		}
	}
	stop()
	_ = command.Wait()
}
