#!/usr/bin/env bash
# Every endpoint with curl: try.sh [http://127.0.0.1:7007]. The server needs --seen DIR for the third.
set -euo pipefail
server="${1:-http://127.0.0.1:7007}"

# A URL in each line, an answer in each line.
printf 'http://a.example/p?sid=1\nno URL\nhttp://b.example/\n' | curl -sS --data-binary @- "$server/v1/normalize"
printf 'http://a.example/p?sid=1\n' | curl -sS --data-binary @- "$server/v1/keys"

# Only URLs of pages that are new, as `dedust dedup` prints them.
urls=$(printf 'http://a.example/curl?sid=1\nhttp://a.example/curl?sid=2\n')
paste <(curl -sS --data-binary @- "$server/v1/seen" <<<"$urls") - <<<"$urls" | sed -n 's/^new\t//p'

# JSON in and out; a URL with the key of its own redirect is no duplicate.
curl -sS -H 'Content-Type: application/x-ndjson' --data-binary @- "$server/v1/seen" <<'ROWS'
{"url":"http://a.example/curl","chain":["http://a.example/curl?sid=1"]}
ROWS
printf 'http://a.example/p?sid=1\n' | curl -sS --data-binary @- "$server/v1/explain"

# A live crawl, if the server has one (--live STATE): which URLs to fetch, what fetches showed, and what comes back.
if curl -fsS "$server/v1/crawl" 2>/dev/null; then
    printf 'http://a.example/live?sid=1\n' | curl -sS --data-binary @- "$server/v1/crawl/admit"
    curl -sS -H 'Content-Type: application/x-ndjson' --data-binary @- "$server/v1/crawl/observe" <<'ROWS'
{"url":"http://a.example/live?sid=1","status":200,"title":"Live","digest":"7c1f"}
ROWS
    curl -sS "$server/v1/crawl/returned"
fi
curl -sS "$server/v1/rules/a.example"
echo
