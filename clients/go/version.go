package aloft

import "runtime"

// Version is the version of this module.
const Version = "0.1.0"

// userAgent is the default of the header User-Agent.
var userAgent = "aloft-client-go/" + Version + " (" + runtime.Version() + ")"
