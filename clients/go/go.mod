module aloft.dev/client

go 1.24.0

require (
	connectrpc.com/connect v1.19.2
	google.golang.org/protobuf v1.36.11
)
