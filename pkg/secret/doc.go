// Package secret finds keys in texts, however they are spelt there: a service
// that echoes what it was sent may have quoted, escaped or encoded it on the way.
//
// Found are a key as it is; as JSON, HTML and addresses escape some or all of its
// characters, up to three times one in the other; and within base64, as in
// "Basic". Not found is what was split, or encoded otherwise: this is against
// echoes, not against a service that means to hide a key it was given.
//
// # Decisions
//
// All of 2026-12-01.
//
// A key that is plainly no secret is not masked in what models say and tools are
// called with. Servers without keys are given a word (LM Studio "lm-studio", LiteLLM
// "anything", "not-needed", "12345678"), and to mask that destroyed answers, broke
// the JSON of calls and refused them, with nothing said. The rule is the one for
// variables that look secret (LooksKey): digits alone are a secret from 16 on,
// letters from 20 on, or with capitals in their midst, or in more than two words;
// letters and digits are one from eight on. So a weak password of letters is shown
// where a model says it, and the service must have told it to the model. In errors
// such a key is masked as a whole word: an echo is likely there, and little is lost.
package secret
