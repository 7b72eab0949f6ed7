// Package script is a provider without a model: a file says which reply is
// given to which request. A reply is a pure function of the request, so that a
// run that was killed and resumed gets the replies it would have got anyway.
// The format is described by Help.
package script

import _ "embed"

// Help describes the format of a script for its users, in Markdown.
//
//go:embed help.md
var Help string
