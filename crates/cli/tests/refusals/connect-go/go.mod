module aloft/refusals

go 1.19

// The newest versions that the Go of Debian 12 compiles.
require (
	connectrpc.com/connect v1.11.0
	google.golang.org/protobuf v1.31.0
)
