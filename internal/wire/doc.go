// Package wire proves what is promised about models on the wire, with the built
// program and from outside: against a strict server that refuses what real
// services refuse, in all five protocols, with a wire that is bent, cut and
// silent, and with kills in between.
//
// The server is part of a collection that is kept outside of the repository;
// see providertest.Shared. Without it these tests are skipped. By default they
// take a sample that fits into `make test`; KAGENT_WIRE=full takes all.
package wire
