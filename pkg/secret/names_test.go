package secret

import "testing"

// A name tells of a secret by its words: others merely hold the same letters.
func TestANameTellsOfASecretByItsWords(t *testing.T) {
	for _, name := range []string{
		"key", "api_key", "api-key", "X-Api-Key", "xApiKey", "x-apikey", "APIKEY", "apikeys", "X-Api-Key-2", "apikey1", "subscription-key", "x-functions-key",
		"access_token", "accessToken", "accesstoken", "token", "X-Auth-Token", "X-Amz-Security-Token",
		"client_secret", "clientsecret", "secret", "secrets", "X-Secret", "password", "userpassword", "Passwd", "pwd",
		"sig", "X-Api-Sig", "X-Signature", "X-Amz-Signature", "signature", "sign", " X-Api-Sig ",
	} {
		if !IsParameter(name) {
			t.Errorf("%q is taken for harmless", name)
		}
	}
	for _, name := range []string{
		"", "X-Design", "design", "X-Signal", "signed-headers", "X-Assigned-To", "X-Insight", "sigma", "X-Monkey", "keyboard", "X-Keyword", "hotkey",
		"X-Tokenizer", "max-tokens", "X-Secretary", "api-version", "设计", "\xff", "123",
	} {
		if IsParameter(name) {
			t.Errorf("%q is taken for a secret", name)
		}
	}
}

func TestAHeaderThatLetsSomebodyInIsToldByItsWords(t *testing.T) {
	for _, name := range []string{"Authorization", "authorisation", "Proxy-Authorization", "X-Auth", "X-Auth-Token", "xAuthToken", "X-Authentication", "authcode", "oauth", "X-OAuth2", "Cookie", "Set-Cookie", "X-Sessioncookie"} {
		if !IsLogin(name) {
			t.Errorf("%q is taken for harmless", name)
		}
	}
	for _, name := range []string{"", "X-Author", "X-Co-Author", "authors", "X-Authority", "authorities", "X-Title"} {
		if IsLogin(name) {
			t.Errorf("%q is taken for a login", name)
		}
	}
}
