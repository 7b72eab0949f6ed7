// Package catalogue knows models by name: how much they take in, what they
// cost, and how the services that offer them are reached. What it doesn't know
// is unknown, never 0.
//
// models.json is made of the files in source by `go generate`; they are those
// of charm.land/catwalk (MIT, see source/LICENSE) at the version that models.json
// names. services.json is written by hand.
//
// # Decisions (2026-12-01)
//
//   - A price that the source gives as 0 beside a price for input is not known:
//     tokens read from or written to a cache then cost what input costs. A bill
//     is not told too low.
//   - What a user says of a model is laid above what is built in, field by field.
//     A new model's price is known with its input and its output, not before.
//   - A name without a date means the one dated model of that name there is; a
//     date is never left off, for snapshots may differ in price.
//   - Services that offer the models of others under the same names (Azure and
//     the like) have no models here: a bare name would not be unique.
package catalogue

//go:generate go run ./make
