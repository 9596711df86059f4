// Rules and a crawl of one small site, whose figures can be counted by hand.

export const evidence = (failed, groups, bound, examples) => ({
  urls: 40, support_pairs: groups, false_pairs: failed, groups, failed_groups: failed, failure_bound: bound,
  kinds: ["digest"], trust: "proven", examples,
});

// The first rule has the id 1bcc19fb.
export const RULES = {
  version: 1,
  method: "by hand",
  sites: {
    "a.example": {
      rules: [
        { change: [{ drop: "q.sid" }], fetchable: true,
          evidence: evidence(0, 40, 0.07, [{ url: "http://a.example/p?id=1&sid=7", duplicate: "http://a.example/p?id=1" }]) },
        { when: { path_0: { is: "list" } }, change: [{ forget: "q.page" }], evidence: evidence(3, 20, 0.35, []) },
        { change: [{ drop: "q.ref" }], fetchable: true, off: { by: "anna", at: "2026-11-16T12:00:00Z", why: "breaks the search" } },
      ],
      refused: [
        { change: [{ drop: "q.print" }], reason: "too few votes", votes: 2, against: 0, missing: 7, merged: 3 },
        { change: [{ drop: "q.id" }], reason: "seen to fail", votes: 40, against: 38 },
      ],
      summary: { urls: 90, labelled: 90, pages: 60, raw_rules: 3, qualified_rules: 3, promise: { lost: 2, pages: 60 } },
    },
  },
};

// 20 pages with 3 sessions each, one URL with a referrer, one to print, and lists of 4 pages that the rules wrongly take for one.
export const CRAWL = [];
for (let id = 0; id < 20; id += 1) {
  for (let sid = 0; sid < 3; sid += 1) CRAWL.push({ url: `http://a.example/p?id=${id}&sid=${sid}`, digest: `p${id}`, size: 1000, title: `Page ${id}` });
}
CRAWL.push({ url: "http://a.example/p?id=3&ref=home", digest: "p3", size: 1000 });
CRAWL.push({ url: "http://a.example/p?id=4&print=1", digest: "p4", size: 1000 });
for (let page = 1; page <= 4; page += 1) CRAWL.push({ url: `http://a.example/list?page=${page}`, digest: `l${page}`, size: 500 });
CRAWL.push({ url: "http://a.example/", digest: "home", size: 700 });

export const HOSTILE = [
  "</script><script>window.broken = 1; alert(1)</script>", "<img src=x onerror=window.broken=1>", "<!--", "\"><svg onload=alert(1)>",
  "javascript:alert(1)", "{{7*7}}", "\u202eevil", "__proto__",
];

// Rules and a crawl in which every text that a stranger could choose is hostile.
export const HOSTILE_RULES = { version: 1, method: HOSTILE[0], sites: { "a.example": { rules: [
  { change: [{ drop: "q.sid" }], fetchable: true, evidence: evidence(0, 9, 0.3, [{ url: HOSTILE[0], duplicate: HOSTILE[1] }]) },
  { change: [{ drop: "q.__proto__" }], off: { by: HOSTILE[0], why: HOSTILE[1] } },
], refused: [{ change: [{ drop: "q.print" }], reason: HOSTILE[0], votes: 2, against: 0, missing: 7 }] } } };
export const HOSTILE_CRAWL = HOSTILE.flatMap((hostile, at) => [1, 2].map((sid) => ({
  url: `http://a.example/${hostile}?id=${at}&sid=${sid}`, title: hostile, digest: `d${at}`,
})));
HOSTILE_CRAWL.push({ url: "http://a.example/?__proto__=1&constructor=2", digest: "x" });
