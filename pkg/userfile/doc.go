// Package userfile reads what people write by hand, and says what is wrong with
// it in their words: the line, the field, what is wanted there and what stands
// there. Values are never repeated: one may be a key.
package userfile
