// Command kagent runs LLM agents that survive anything.
package main

import (
	"os"

	"kagent/cmd"
)

func main() {
	os.Exit(cmd.Main(os.Args[1:]))
}
