// Package oracle asks the official SDKs about the golden files of kagent's
// adapters: whether their types take each request, and whether their decoders
// read each stream as the adapters do. It is a module of its own, so that no SDK
// is among the dependencies of the program.
package oracle
