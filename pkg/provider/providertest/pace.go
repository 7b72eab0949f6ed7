//go:build !race

package providertest

const hurry = false
