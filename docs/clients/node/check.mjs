// Asks the server whose address is the first argument, for the test. With a second argument, Crawlee's own list of requests is used too.
import assert from 'node:assert/strict';
import { dedust } from './dedust.mjs';

const client = dedust(process.argv[2]);
const urls = ['http://a.example/p?sid=1', 'no URL', 'http://b.example/?sid=1'];
assert.deepEqual(await client.normalize(urls), ['http://a.example/p', '', 'http://b.example/?sid=1']);
assert.deepEqual(await client.keys(['http://a.example/p?sid=1']), ['http://a.example/p']);
assert.deepEqual(await client.seen(['http://a.example/node?sid=1', 'http://a.example/node']), ['new', 'seen']);
const requests = await client.requests(['http://a.example/p?sid=1', 'http://a.example/p?sid=2', 'http://a.example/q']);
assert.deepEqual(requests.map((request) => request.uniqueKey), ['http://a.example/p', 'http://a.example/p', 'http://a.example/q']);
// Nobody listens on port 1.
assert.deepEqual(await dedust('http://127.0.0.1:1').requests(['http://a.example/']), [{ url: 'http://a.example/' }]);
if (process.argv[3]) {
    const { createRequire } = await import('node:module');
    const { RequestList } = createRequire(process.argv[3])('@crawlee/core');
    const list = await RequestList.open(null, requests);
    assert.equal(list.length(), 2, 'Crawlee fetches one of those with the same key');
}
