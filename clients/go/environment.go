package aloft

import (
	"os"
	"strings"
)

const (
	keyVariable = "SERVICE_API_KEY"
	urlVariable = "SERVICE_API_URL"
)

// environment returns an environment variable without the blanks around it. A blank one counts as missing.
func environment(name string) string {
	return strings.TrimSpace(os.Getenv(name))
}
