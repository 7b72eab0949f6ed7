// Command bare is the least that a cobra program can be: what kagent's start
// is measured against.
package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "bare"}
	root.AddCommand(&cobra.Command{Use: "version", Run: func(*cobra.Command, []string) { fmt.Println("bare") }})
	root.Execute()
}
