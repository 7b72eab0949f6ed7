package sse

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxAuthorities is how much of a file of certificates is looked at.
const maxAuthorities = 16 << 20

// authorities says what to do about a certificate that nobody here knows. Go
// passes over a file that it can't read or use: that may be all that is wrong.
func authorities() string {
	if fault := AuthorityFault(); fault != "" {
		return fault
	}
	return "if an authority of your own has signed it, SSL_CERT_FILE names the file of its certificate"
}

// AuthorityFault tells of an SSL_CERT_FILE or SSL_CERT_DIR that holds no
// certificates, "" if there is none.
func AuthorityFault() string {
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		if why := unusable(file); why != "" {
			return "SSL_CERT_FILE names " + file + ", and that " + why
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("SSL_CERT_DIR")) {
		if why := unusableDir(dir); dir != "" && why != "" {
			return "SSL_CERT_DIR names " + dir + ", and that " + why
		}
	}
	return ""
}

// CheckAuthorities tells of a file of certificates, of SSL_CERT_FILE or in
// SSL_CERT_DIR, that Go would wait for or read without end, as it does with a
// pipe or /dev/zero.
func CheckAuthorities() error {
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		if why := endless(file); why != "" {
			return fmt.Errorf("SSL_CERT_FILE names %s, and that %s", file, why)
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("SSL_CERT_DIR")) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if why := endless(filepath.Join(dir, e.Name())); why != "" {
				return fmt.Errorf("SSL_CERT_DIR names %s, and there %s %s", dir, e.Name(), why)
			}
		}
	}
	return nil
}

// endless says why a file can't be read to its end, "" if it can, or not at all.
func endless(file string) string {
	info, err := os.Stat(file)
	if err != nil || info.IsDir() {
		return ""
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return ""
	}
	switch {
	case !info.Mode().IsRegular():
		return "is not a regular file"
	case info.Size() > maxAuthorities:
		return fmt.Sprintf("is larger than %d MiB", maxAuthorities>>20)
	}
	return ""
}

// unusable says why a file is none of certificates, "" if it is one.
func unusable(file string) string {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
	if err != nil {
		return unreadable(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAuthorities))
	if err != nil {
		return unreadable(err)
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return ""
		}
	}
	return "holds no certificate in PEM form"
}

func unusableDir(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return unreadable(err)
	}
	for _, e := range entries {
		if unusable(filepath.Join(dir, e.Name())) == "" {
			return ""
		}
	}
	return "holds no file of certificates in PEM form"
}

func unreadable(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.As(err, &path):
		err = path.Err
	}
	return fmt.Sprintf("can't be read: %s", strings.TrimSpace(err.Error()))
}
