// Asks a server of `dedust serve`. The standard library is all it needs.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"time"
)

// Client asks the server at Server, such as http://127.0.0.1:7007. Safe to be used by many goroutines.
type Client struct {
	Server string
	HTTP   http.Client
}

// NewClient has a limit on time.
func NewClient(server string) *Client {
	return &Client{Server: server, HTTP: http.Client{Timeout: 30 * time.Second}}
}

// Request is what *colly.Request has.
type Request interface {
	Abort()
}

// AbortIfSeen ends a request whose page was seen before. With colly:
//
//	c.OnRequest(func(r *colly.Request) { client.AbortIfSeen(r, r.URL.String()) })
//
// and colly.AllowURLRevisit(), so that it does not compare URLs itself. colly calls it again after a redirect: the URLs that led
// to this one are the chain, and a URL with the key of one of them is no duplicate.
func (c *Client) AbortIfSeen(r Request, url string, chain ...string) {
	isDuplicate, err := c.IsDuplicate(url, chain...)
	if err != nil {
		log.Printf("dedust: %v; going on with %s", err, url)
		return
	}
	if isDuplicate {
		r.Abort()
	}
}

// Keys has a key for each URL: equal keys, equal pages. Empty for what is no URL.
func (c *Client) Keys(urls []string) ([]string, error) {
	return c.lines("/v1/keys", "text/plain", urls)
}

// Normalize has a canonical URL for each URL. Empty for what is no URL.
func (c *Client) Normalize(urls []string) ([]string, error) {
	return c.lines("/v1/normalize", "text/plain", urls)
}

// IsDuplicate says whether the page was seen before. It is from now on.
func (c *Client) IsDuplicate(url string, chain ...string) (bool, error) {
	row, err := json.Marshal(struct {
		URL   string   `json:"url"`
		Chain []string `json:"chain,omitempty"`
	}{url, chain})
	if err != nil {
		return false, err
	}
	answers, err := c.lines("/v1/seen", "application/x-ndjson", []string{string(row)})
	if err != nil {
		return false, err
	}
	return answers[0] == "seen", nil
}

func (c *Client) lines(path, contentType string, lines []string) ([]string, error) {
	var body strings.Builder
	for _, line := range lines {
		// A line break would make two lines of one URL.
		body.WriteString(strings.NewReplacer("\r", "", "\n", "").Replace(line))
		body.WriteByte('\n')
	}
	request, err := http.NewRequest("POST", c.Server+path, strings.NewReader(body.String()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Accept", "text/plain")
	response, err := c.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return nil, fmt.Errorf("%s: %s: %s", path, response.Status, text)
	}
	answers := make([]string, 0, len(lines))
	scanner := bufio.NewScanner(response.Body)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		answers = append(answers, scanner.Text())
	}
	if err := scanner.Err(); err != nil {
		return nil, err
	}
	if len(answers) != len(lines) {
		return nil, fmt.Errorf("%s: %d answers to %d lines", path, len(answers), len(lines))
	}
	return answers, nil
}
