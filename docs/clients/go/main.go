// Asks the server whose address is the first argument, for the test.
package main

import (
	"fmt"
	"os"
	"reflect"
)

type request struct{ aborted bool }

func (r *request) Abort() { r.aborted = true }

func main() {
	client := NewClient(os.Args[1])
	keys, err := client.Keys([]string{"http://a.example/p?sid=1", "no URL", "http://b.example/?sid=1"})
	expect([]string{"http://a.example/p", "", "http://b.example/?sid=1"}, keys, err)
	urls, err := client.Normalize([]string{"http://a.example/p?sid=1"})
	expect([]string{"http://a.example/p"}, urls, err)
	visit := func(url string, chain ...string) bool {
		var r request
		client.AbortIfSeen(&r, url, chain...)
		return r.aborted
	}
	expect(false, visit("http://a.example/go?sid=1"), nil)
	expect(true, visit("http://a.example/go?sid=2"), nil)
	expect(false, visit("http://a.example/go", "http://a.example/go?sid=1"), nil)
	// Nobody listens on port 1.
	client.Server = "http://127.0.0.1:1"
	expect(false, visit("http://a.example/go?sid=2"), nil)
}

func expect(expected, found interface{}, err error) {
	if err != nil || !reflect.DeepEqual(expected, found) {
		fmt.Printf("expected %v, found %v, %v\n", expected, found, err)
		os.Exit(1)
	}
}
