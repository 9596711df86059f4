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
curl -sS "$server/v1/rules/a.example"
echo
