package sse

import "slices"

var (
	// noModel finds that the model that was asked is not there, with a word more
	// where that tells whether it is the model that is spoken of.
	noModel = pattern(`model_not_(found|available)|model_decommissioned|supported api model names|` +
		`models?\b.{0,80} (does not exist|not exist|doesn't exist|not found)\b|(model not (exist|found)|模型不存在)|` +
		`not a valid model( id| name)?\b( \w+)?|model identifier is invalid|unexpected model name|` +
		`\b(invalid|unknown)[ _-]model\b([ _-](name|id|identifier|code)\b)?:?( \w+)?|` +
		`\bmodel \S{1,120} (has been|was|is)( now)? (deprecated|retired|decommissioned|discontinued)\b|` +
		`\bmodel.{0,80} reached (the|its) end of (its )?life\b`)
	// ofTheModel finds what a model has or does, which may be missing or wrong too.
	ofTheModel = pattern(`\b(parameter|param|option|field|property|schema|tool|function|call|config|configuration|settings?|` +
		`output|input|response|request|reply|argument|type|format|file|image|message|role|url|provider)s?( |$)`)
)

// modelless reports whether the words of an error, in lower case, say that there
// is no such model.
func modelless(words string) bool {
	return slices.ContainsFunc(noModel().FindAllString(words, -1), func(said string) bool {
		return !ofTheModel().MatchString(said)
	})
}
