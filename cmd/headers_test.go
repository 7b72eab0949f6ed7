package cmd

import "testing"

// A header is refused for what its name says, not for letters that are in it.
func TestAHeaderIsASecretByTheWordsOfItsName(t *testing.T) {
	for _, name := range []string{"X-Signature", "X-Api-Sig", "Authorization", "X-Auth-Token", "Cookie", "X-Api-Key", "xApiKey"} {
		if checkHeaders([]string{name + ": blue"}) == nil {
			t.Errorf("%s is stored with the session", name)
		}
		if err := checkHeaders([]string{name + ": $HELD"}); err != nil {
			t.Errorf("%s from a variable: %v", name, err)
		}
	}
	for _, name := range []string{"X-Design", "X-Signal", "X-Monkey", "X-Author", "X-Tokenizer", "X-Title"} {
		if err := checkHeaders([]string{name + ": blue"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if checkHeaders([]string{"X-Design: sk-proj-0123456789abcdefghijABCDEFGHIJ"}) == nil {
		t.Error("a key is stored with the session under a harmless name")
	}
}
