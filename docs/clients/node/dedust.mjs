// Asks a server of `dedust serve`. Node 18 or newer; Crawlee is not needed to load it.

/** @param {string} server such as http://127.0.0.1:7007 */
export function dedust(server = 'http://127.0.0.1:7007') {
    const lines = async (path, urls) => {
        // A line break would make two lines of one URL.
        const body = urls.map((url) => `${url.replace(/[\r\n]/g, '')}\n`).join('');
        const response = await fetch(server + path, {
            method: 'POST', body, headers: { 'content-type': 'text/plain' }, signal: AbortSignal.timeout(30_000),
        });
        const text = await response.text();
        if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
        const answers = text.split('\n').slice(0, -1);
        if (answers.length !== urls.length) throw new Error(`${path}: ${answers.length} answers to ${urls.length} URLs`);
        return answers;
    };
    return {
        /** A canonical URL for each URL; '' for what is no URL. At most 10,000 at a time. */
        normalize: (urls) => lines('/v1/normalize', urls),
        /** A key for each URL: equal keys, equal pages. */
        keys: (urls) => lines('/v1/keys', urls),
        /** 'new', 'seen' or 'error' for each URL. Those that are new count as seen from now on. */
        seen: (urls) => lines('/v1/seen', urls),
        /**
         * Requests for Crawlee, which fetches one of those with the same uniqueKey:
         * `await crawler.addRequests(await dedust().requests(urls))`.
         * If the server cannot be asked, they are what Crawlee makes of the URLs itself.
         */
        async requests(urls) {
            let keys = [];
            try {
                keys = await lines('/v1/keys', urls);
            } catch (error) {
                console.error(`dedust: ${error.message}; going on without keys`);
            }
            return urls.map((url, at) => (keys[at] ? { url, uniqueKey: keys[at] } : { url }));
        },
    };
}
