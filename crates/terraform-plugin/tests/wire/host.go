package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"

	"github.com/bufbuild/protocompile"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

const (
	service     = "tfplugin6.Provider"
	messageSize = 64 << 20
)

// A host is Terraform's side of a running provider.
type host struct {
	client     *plugin.Client
	connection *grpc.ClientConn
	methods    protoreflect.MethodDescriptors
	logged     *journal
}

// A journal prints the log lines of go-plugin and of the provider as they arrive.
type journal struct {
	lock   sync.Mutex
	killed bool
}

func (j *journal) Write(line []byte) (int, error) {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.killed = j.killed || bytes.Contains(line, []byte("plugin failed to exit gracefully"))
	say(map[string]any{"log": json.RawMessage(bytes.TrimSpace(line))})
	return len(line), nil
}

// The plugin type that go-plugin requires. It only provides the connection.
type bare struct{ plugin.NetRPCUnsupportedPlugin }

func (bare) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this is a client")
}

func (bare) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}

func start(provider, protocol string, plain bool) (*host, error) {
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(
			&protocompile.SourceResolver{ImportPaths: []string{protocol}}),
	}
	files, err := compiler.Compile(context.Background(), "tfplugin6.proto")
	if err != nil {
		return nil, err
	}
	logged := &journal{}
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion:  6,
			MagicCookieKey:   "TF_PLUGIN_MAGIC_COOKIE",
			MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		},
		VersionedPlugins: map[int]plugin.PluginSet{6: {"provider": bare{}}},
		Cmd:              exec.Command(provider),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         !plain,
		Logger: hclog.New(&hclog.LoggerOptions{
			Level: hclog.Trace, Output: logged, JSONFormat: true,
		}),
		GRPCDialOptions: []grpc.DialOption{grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(messageSize), grpc.MaxCallSendMsgSize(messageSize))},
	})
	made := &host{client: client, logged: logged}
	made.methods = files[0].Services().ByName("Provider").Methods()
	if err := made.connect(); err != nil {
		client.Kill()
		return nil, err
	}
	return made, nil
}

func (h *host) connect() error {
	rpc, err := h.client.Client()
	if err != nil {
		return err
	}
	if err := rpc.Ping(); err != nil {
		return err
	}
	raw, err := rpc.Dispense("provider")
	if err != nil {
		return err
	}
	h.connection = raw.(*grpc.ClientConn)
	return nil
}

func (h *host) about() map[string]any {
	at := h.client.ReattachConfig()
	return map[string]any{
		"network": at.Addr.Network(), "address": at.Addr.String(), "pid": at.Pid,
		"version": h.client.NegotiatedVersion(),
	}
}

// end stops the provider and reports whether it exited by itself.
func (h *host) end() map[string]any {
	h.client.Kill()
	h.logged.lock.Lock()
	defer h.logged.lock.Unlock()
	return map[string]any{"by_itself": !h.logged.killed}
}

// call makes a call and waits for its response. It prints the messages of a stream as they arrive.
func (h *host) call(asked call) report {
	answer, err := h.made(asked)
	if err != nil {
		about := status.Convert(err)
		return report{ID: asked.ID, Status: about.Code().String(), Error: about.Message()}
	}
	return report{ID: asked.ID, Answer: answer}
}

func (h *host) made(asked call) (any, error) {
	method := h.methods.ByName(protoreflect.Name(asked.Method))
	if method == nil {
		return nil, fmt.Errorf("unknown method %s", asked.Method)
	}
	request := dynamicpb.NewMessage(method.Input())
	if err := read(asked.Request, request); err != nil {
		return nil, err
	}
	path := "/" + service + "/" + asked.Method
	if method.IsStreamingServer() {
		return h.streamed(asked.ID, path, method, request)
	}
	answer := dynamicpb.NewMessage(method.Output())
	if err := h.connection.Invoke(context.Background(), path, request, answer); err != nil {
		return nil, err
	}
	return shown(answer)
}

func (h *host) streamed(
	id int, path string, method protoreflect.MethodDescriptor, request *dynamicpb.Message,
) (any, error) {
	stream, err := h.connection.NewStream(
		context.Background(), &grpc.StreamDesc{ServerStreams: true}, path)
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(request); err != nil {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	for count := 0; ; count++ {
		message := dynamicpb.NewMessage(method.Output())
		err := stream.RecvMsg(message)
		if err == io.EOF {
			return map[string]int{"events": count}, nil
		}
		if err != nil {
			return nil, err
		}
		event, err := shown(message)
		if err != nil {
			return nil, err
		}
		say(report{ID: id, Event: event})
	}
}

// read parses a message from JSON in which values are readable.
func read(text json.RawMessage, message *dynamicpb.Message) error {
	if len(text) == 0 {
		return nil
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err
	}
	packed, err := pack(tree)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(packed)
	if err != nil {
		return err
	}
	return protojson.Unmarshal(encoded, message)
}

// shown formats a message as JSON in which values are readable.
func shown(message *dynamicpb.Message) (any, error) {
	encoded, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(message)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		return nil, err
	}
	return unpack(tree)
}
