/*!
What `--help` says beyond the list of options: examples, and the meaning of inputs, figures and JSON.

Prose is one line per paragraph, which is wrapped to the terminal; examples are at most 80 columns wide.
*/

use dedust_io::Format;

/// After the help of the whole command.
pub(crate) fn about() -> String {
    let formats = Format::list();
    format!(
        r#"From a crawl to canonical URLs:
  dedust learn crawl.jsonl.gz -o rules.json     # how each site spells its URLs
  dedust normalize rules.json urls.txt          # URL in, canonical URL out
  dedust normalize rules.json urls.txt --key    # equal keys, equal pages
  dedust normalize rules.json crawl.parquet -o out.parquet   # two columns more
  dedust dedup rules.json urls.txt --seen seen  # URLs of pages not met before
  dedust groups rules.json crawl.jsonl.gz       # which URLs are taken for one
  dedust report rules.json crawl.jsonl.gz -o report.html   # a page to look at
  dedust evaluate rules.json labelled.jsonl.gz  # what is saved, what is lost
  dedust explain rules.json 'http://a.example/p?id=1&sid=9'

Every command reads every format: {formats}, plain or compressed with gzip or zstd, recognised by content; from files, folders, 'patterns/*.gz', @lists and `-`, which is standard input. Text may be UTF-8 or UTF-16. Data goes to standard output, everything else to standard error.

Exit codes: 0 done; 1 ran, and the answer is no; 2 could not run; 130 interrupted."#
    )
}

/// Observations, wherever they are read.
pub(crate) fn input() -> String {
    format!("{}\n\n{EVIDENCE_COLUMNS}", files("observations"))
}

/// URLs, wherever they are read.
pub(crate) fn urls() -> String {
    files("URLs")
}

/// What files may be and hold.
fn files(rows: &str) -> String {
    let formats = Format::list();
    format!(
        r#"Files or folders with {rows}: {formats}; plain, gzip or zstd

A folder stands for all files in it and below, except those that start with . or _; 'a/**/*.parquet' in quotes for all that match, @FILE for the paths that FILE names, one per line, and `-` for standard input."#
    )
}

const EVIDENCE_COLUMNS: &str = r#"Only the column `url` is required. Duplicates are recognised by `cluster` (or `page`), `canonical`, `redirect`, `redirected_from`, `digest`, `text_digest`, and `simhash` with `title`; `status`, `time` and `truncated` are used too, all others are ignored. Names that Common Crawl, Screaming Frog, Nutch and Scrapy give to these columns are known; other names are said with --column."#;

/// What `--column` means.
pub(crate) const COLUMN: &str = r#"A column under another name, such as digest=content_digest; may be given again

COLUMN is one of url, cluster, page, canonical, redirect, redirected_from, digest, text_digest, simhash, title, size, status, mime, time, truncated and lines; NAME is the name it has in the table. Without a name, as in digest=, the column is not used. Names of well-known tools need not be given:

common-crawl    the columnar index: content_digest, fetch_status, fetch_redirect, ...; redirects are in the subset crawldiagnostics, so read it together with warc; digests of truncated pages do not count, and robotstxt is passed over
screaming-frog  exports: Address, Status Code, Canonical Link Element 1, ...
nutch-crawldb   `readdb -dump` as text, CSV or JSON: Signature, Status name, redirects among the metadata, ...
scrapy          feeds as JSON, JSON Lines or CSV: response_url, body_hash, redirect_urls, ...
heritrix        crawl.log, which needs no columns; so do indexes of wget

What is read as what is said on standard error, together with the columns that are not used."#;

/// Kinds of evidence, wherever they are chosen.
pub(crate) const EVIDENCE: &str = r#"What makes two URLs duplicates: `auto` for all there is, or some of these, joined by commas

cluster    an explicit label (column `cluster` or `page`)
canonical  rel=canonical leads to one URL, and the titles do not differ
redirect   redirects lead to one URL
digest     the hash of the body is the same
signature  the hash of the text is the same (column `text_digest`)
main       the text without what repeats on the site is the same, and the title, or, if it is long, the template; of pages only
simhash    at most 3 of 64 bits differ, and the title is the same
shingles   at least 95 % of the runs of three words are the same, and the title; of pages only
size       the size is the same: often wrong, so not part of `auto`"#;

pub(crate) const MODE: &str = "How much proof canonfd asks for before it believes that two ways to write a URL mean the same page

strict    at most 5 % of votes fail, and 2 % where much could be lost, by groups of URLs that had no part in finding the
          rule and whatever is known of such rules elsewhere
balanced  at most 5 % fail, by what is known of such rules beforehand and by what the site shows; up to 15 % for rules that are
          known to be right elsewhere or can do little harm
paper     at most a share of --max-fpr fails, however little was seen, as in the published methods";

/// What `--max-loss` means.
pub(crate) const MAX_LOSS: &str = "Share of a site's pages, from 0 to 1, that one rule of canonfd may lose

A rule of an unknown family that forgets values, such as dropping a parameter, must be proven well enough that with 95 %
confidence it loses no more than this share of the site's pages, or two pages on a small site. So a rule that joins many URLs
needs more proof than one that joins few. No more is asked for than that 2 % of the votes fail, and no less than 5 %: that much is
wrong with the votes of any crawl. Families that are known to be right elsewhere, and rules that only write the same in another way,
have limits of their own (docs/canonfd.md). Rules that are not proven are kept in the rule file, and are not applied.";

/// What `--prefer` means.
pub(crate) const PREFER: &str = "The form to write where a site has several: https, http, www or bare; SITE=FORM for one site

https  rather than http
http   rather than https
www    www.example.org rather than example.org
bare   example.org rather than www.example.org

Forms are joined by commas, and the option may be given again: --prefer https,bare --prefer example.org=www. Only canonfd
chooses. What is merged does not depend on it: the form is written where both were proven to show the same pages, and where enough
URLs in the preferred one were seen alive. Otherwise the other one is kept, and the report says so. Without this option, the form is
written that redirects and canonical links of the site lead to, or that shows more pages; of equal ones https.";

/// What `--mirror` means.
pub(crate) const MIRROR: &str = "Take one site for another that shows the same pages, such as old.example=new.example; may be given again

Without this option a site is taken for another only if it says so itself, by redirects or canonical links under the same paths,
and if its pages are seen to be the same: who copies a site does not own it.";

/// What `--trust-mirrors` means.
pub(crate) const TRUST_MIRRORS: &str = "Apply mirrors too, which take URLs of one domain for those of another

All other rules stay within their site, so a rule file of somebody else can do no more than merge pages of a site. A mirror in it
could send the URLs of any site to any other domain. Without this option mirrors are left out, with a warning. Use it for rules that
you learned yourself or whose source you trust.";

/// What `--trust-hosts` means.
pub(crate) const TRUST_HOSTS: &str = "Take all hosts of a registrable domain to have one owner, so that what they show is enough to join them

By default a.example.org and b.example.org are joined only if they lead to each other by redirects or canonical links: on a domain
that rents out names they belong to different people.";

/// What `--variant` may be.
pub(crate) const VARIANT: &str = "Which model seq2seq trains [default: copy]

copy    a small model that copies parts of URLs; its translations are used where pages it did not learn from agree
paper   the model of the SIGIR 2017 paper, slow and unchecked, to be compared with; no weights are written";

/// After the help of `learn`.
pub(crate) const LEARN: &str = r#"Examples:
  dedust learn crawl.jsonl.gz -o rules.json
  dedust learn crawl.warc.gz index.cdx.gz pages.parquet -o rules.json
  dedust learn access.log --host http://www.example.com -o rules.json
  dedust learn monday.csv tuesday.csv -o rules.json --force
  dedust learn crawl.jsonl.gz -o rules.json --prefer https,bare
  zcat crawl.gz | dedust learn - -o - --evidence canonical,digest > rules.json

The crawl may hold any number of sites, in any order; each gets its own rules, or is found to show the pages of another (canonfd). The same observations give the same bytes, in any order and on any number of threads. RULES is written when all is done, or not at all.

A crawl of any size is read once. What exceeds --memory is put on disk, in the folder RULES.unfinished, together with the rules of sites as they are learned; if the run is interrupted, the same command with --resume goes on from there. Where reading ends early, by Ctrl-C or a connection that breaks, inputs that were read to their ends are not read again, and of the next only the rows that are missing are used; this takes inputs that exceed --memory or come from an object store, since others are read again in no time. Archives are read from the start, and so is everything after a process was killed while it read. Of a site with more than 50,000 URLs a sample is learned from, --sample of its URLs but at least 50,000 and at most --max-sample. URLs that rules may bring together are drawn together, so that duplicates stay in sight, and so do the pages that a wrong rule would confuse.

The report names rules by their places, those that may lose most first. A rule is risky if URLs speak against it and, with 95 % confidence by all votes on it, it may lose more pages than --max-loss allows for one rule, and more than two. With --verbose, it also shows what was considered and refused.

With --format json, one line per site, then one for all:
  {"type":"site","site":"a.example","urls":900,"labelled":900,"pages":300,
   "rules":2,"saved":590,"saved_without_rules":4,"fpr":0.0,
   "promise":{"lost":4,"pages":300},"canonical":{"alive":296,"unmet":4,"wrong":0}}
  {"type":"total","sites":1,"urls":900,...}
`labelled` counts the URLs whose page is known, `pages` their distinct pages, `saved` the URLs that need not be fetched, `saved_without_rules` those of them that safe normalization alone saves; `fpr` is the share of different pages among the pairs of URLs that get one key; `promise` how many of the pages are expected to be merged wrongly at most, with 95 % confidence; `canonical` how many canonical URLs show their page, were fetched by nobody, and redirect, fail or show another page."#;

/// After the help of `cluster`.
pub(crate) const CLUSTER: &str = r#"Examples:
  dedust cluster crawl.warc.gz -o labelled.jsonl
  dedust cluster crawl.warc.gz -o labelled.jsonl --evidence redirect,main
  dedust evaluate --labels truth.jsonl.gz labelled.jsonl   # are they right?
  dedust learn labelled.jsonl -o rules.json

Pages are read from WARC and ARC files. Of each page the title, the text, `rel=canonical` and a refresh are read, and what is left of its text without what repeats on its site: menus, side bars, trails, dates, counters. Pages with fewer than 64 characters of text say nothing.

Every row of the input is written, in its order, with its columns and
  cluster      the number of its page, the same for all URLs that show it; null where nothing is known
  evidence     the kinds that tie the URL to others, joined by `+`
  main_digest  the hash of its main text

A cluster is suspected to be a soft error, or a page to log in, if it stands under ten paths or more without the site saying that these are one page.

With --format json, one line for each of the largest clusters and of those suspected, then one for all:
  {"type":"cluster","cluster":4,"urls":112,"paths":103,"title":"Log In",
   "evidence":"main","example":"http://a.example/p?do=login","suspect":true}
  {"type":"total","urls":2381,"labelled":2380,"clusters":1405,
   "duplicates":975,"evidence":{"main":1020,"redirect":44},"suspects":2,
   "suspect_urls":208}"#;

/// How `evaluate` is called.
pub(crate) const EVALUATE_USAGE: &str = "dedust evaluate [OPTIONS] <RULES> <LABELLED>...
       dedust evaluate [OPTIONS] --labels <TRUTH> <LABELLED>...";

/// After the help of `normalize`.
pub(crate) const NORMALIZE: &str = r#"Examples:
  zcat urls.gz | dedust normalize rules.json
  dedust normalize rules.json crawl.parquet -o with-keys.parquet
  dedust normalize rules.json cc-index/ -o with-keys/    # crawl=../subset=../*.parquet too
  dedust normalize rules.json export.csv --column url=Link -o with-keys.csv
  dedust normalize rules.json index.cdxj.gz > with-keys.cdxj
  dedust normalize rules.json crawl.warc.gz --key     # one key per page
  dedust normalize rules.json urls.txt --check || echo "not all are canonical"
  # the first URL of each page:
  dedust normalize rules.json urls.txt --key --format tsv | awk -F'\t' '!s[$2]++'

A list of URLs gives one line for each line, in the same order. Blank lines stay blank, lines that are no URLs are passed through, and both keep their bytes; so do line ends. A canonical URL can be fetched; a key cannot, but brings more URLs together. A line of more than 16 MiB is no URL, and its result in tsv is empty. If most lines are no URLs, the input is refused.

A table gives a table of the same format with the columns `dedust_key` and `dedust_url`, and all else as it was: JSON Lines, CSV, TSV, Parquet, and Arrow files in a build with that feature. Lines of a CDXJ index get both as keys, those of a CDX index as the fields U and A of its header. Of Parquet only the column of URLs is decoded, the bytes of the others are copied. A row whose URL is none keeps its values and gets none; a row that cannot be read is left out; both are counted and shown. Several files of one format become one table if they have the same columns. Compressed text comes out plain.

A file is written when all of it is done, or not at all. Where OUT ends in `/` or is a folder, each input becomes a file of its own, at the same place below OUT as it has below the folder that you named; this keeps partitions such as crawl=2024/subset=warc.

All other formats, and tables with --format text, tsv or json, give one line per URL.

With --format json, one object per line:
  {"type":"url","input":"http://a.example/p?id=1&sid=9",
   "canonical":"http://a.example/p?id=1","site":"a.example","rules":[0]}
"key" takes the place of "canonical" with --key; "site" and "rules", counted from 0, are there where rules change the URL or its key, "error" where the line is no URL. A blank line is {"type":"blank"}."#;

/// After the help of `dedup`.
pub(crate) const DEDUP: &str = r#"Examples:
  dedust dedup rules.json urls.txt > one-url-per-page.txt
  dedust dedup rules.json index.cdxj > one-capture-per-page.cdxj
  dedust dedup rules.json crawl/ --format text > one-url-per-page.txt
  extract-links | dedust dedup rules.json --seen seen | fetch
  extract-links | dedust dedup rules.json --seen redis://db.example/crawl | fetch
  dedust dedup rules.json /dev/null --seen seen --stats
  dedust dedup rules.json urls.txt --shadow new.json > /dev/null   # what would new.json do?

A URL is printed, as it came, if no URL with its key came before it: in this input or, with --seen, in any that the same folder was used for. Order is kept. Blank lines and lines that are no URLs are left out, and so are URLs of schemes other than http and https (--schemes). Of JSON Lines, CSV, TSV, CDX and CDXJ, whole rows are printed as they came, with the header; of other formats the URLs. Where rows are printed, one whose status is that of a redirect or an error hides no page: of such rows, too, one is printed for each key. Reading a list from a pipe, every line is answered as soon as it is there.

With --seen, what was printed is never printed again: the key is written before the URL is, so that nothing is forgotten when the command is killed. URLs that were being printed at that moment count as seen; the next run says how many they may be. Keys depend on the rules: pages whose key another rule file changes are met again. One process at a time may use DIR. It takes 16 bytes of disk and 6.4 bytes of memory for a URL; without --seen the set is in memory alone, in 20 to 40 bytes.

The file SEEN in DIR holds a random secret that keys are hashed with, so that nobody can make a URL that is taken for the page of another site. Keep it private, and with the other files: without it the folder is of no use.

After a loss of power without --sync, the end of the last log may be damaged. It is cut off with a warning, and URLs that were printed last may be printed once more. `dedust seen check DIR` tells what else may be wrong.

With --seen redis://HOST:PORT/PREFIX, any number of processes share a set on a server that speaks the protocol of Redis (6.2 or newer, Valkey, Kvrocks). A URL is printed by exactly one of them. If the connection breaks, it is made again for up to a minute; where an answer was lost, URLs are printed rather than left out, and a warning counts them. A process that is killed takes the new URLs of one batch with it, unless it had a --session that is cancelled. docs/shared-seen-set.md says what is promised.

With --format json, one object per new URL, and the figures of --stats as the last:
  {"type":"url","input":"http://a.example/p?id=1&sid=9",
   "key":"http://a.example/p?id=1&sid=*"}
  {"type":"stats","lines":9,"urls":8,"new":5,"bad":1,"other_schemes":0,
   "seen":1205,"recent":5,"runs":2,"disk_bytes":21000,"index_bytes":7800,"merges":1}
With --shadow, these come before:
  {"type":"shadow_rule","site":"a.example","index":0,"id":"1bcc19fb",
   "rule":"`sid` does not matter","left_out":2,
   "examples":[{"url":..,"duplicate":..}]}
  {"type":"shadow","printed":5,"left_out":2,"kept":0}
`left_out` counts URLs that were printed and would not have been, `kept` those that were not and would have been. `seen` counts the keys of the set, `recent` those in memory and in logs; `runs` are the sorted files with the others, `merges` those of this run, `index_bytes` the memory they take. With a server, `asked`, `unconfirmed` and `reconnects` are there instead: keys that it was asked for, keys whose answer was lost, and connections that were made again."#;

/// After the help of `serve`.
#[cfg(feature = "serve")]
pub(crate) const SERVE: &str = r#"Examples:
  dedust serve rules.json                          # http://127.0.0.1:7007/
  dedust serve rules.json --seen seen              # with /v1/seen
  dedust serve rules.json crawl.warc.gz            # the page shows the crawl
  curl --data-binary @urls.txt localhost:7007/v1/keys
  curl localhost:7007/openapi.json                 # what else there is

POST /v1/normalize, /v1/keys, /v1/seen and /v1/explain take a URL in each line, or JSON in each line with Content-Type: application/x-ndjson, and answer each line by a line. docs/service.md has examples in several languages.

The rule file is loaded again when it changes, or on SIGHUP; a file that cannot be used is reported, and the rules before it are kept. SIGTERM and Ctrl-C stop the server when the requests that it has are answered.

Changes (decisions about rules, learning) need the token that is printed at the start, as the header `Authorization: Bearer TOKEN`. Set DEDUST_TOKEN to choose it. The address is printed on standard output, everything else on standard error; -v logs each request."#;

/// What `--public` means.
#[cfg(feature = "serve")]
pub(crate) const PUBLIC: &str = "Listen also where other machines can connect

Without it only addresses of this machine itself are listened on. With it, whoever can connect can have URLs normalized and read all rules; changes and /v1/seen need the token. Nothing is encrypted: put a proxy with TLS in front. Requests must name the server by an address, by localhost, or by a name that --host gives.";

/// After the help of `seen` and its verbs.
pub(crate) const SEEN: &str = r#"Examples:
  dedust seen check seen                # after a crash, a full disk, a copy
  dedust seen repair seen               # if the check found damage
  dedust seen list redis://db.example/crawl             # whose keys, which sessions
  dedust seen commit redis://db.example/crawl 2026-11   # of dedup --session 2026-11
  dedust seen cancel redis://db.example/crawl 2026-11

On a server, `list` prints the fingerprints of rules that have keys there, and the sessions that are open. `commit` ends a session: what was printed in it counts as seen for all. If it is cut off, commit again. `cancel` ends one as if it had never been: no page of it is hidden. A session for which nobody has asked for seven days is gone as if it were cancelled. `forget` removes the keys of rules that are not used any more.

The folder holds the file SEEN, logs with the keys that came last, and runs, which are sorted files with all others. No other process may use it in the meantime. `check` prints a line for each file, and exits with 1 if one is damaged or missing. `repair` prints what it did, and does this:

  the end of a log is damaged    cut off, as `dedup` does by itself
  a log or a run is damaged      written again with the keys that can be read;
                                 a copy of the damaged file is kept as
                                 NAME.damaged, and can be removed
  a log or a run is missing      replaced by an empty one

A damaged run takes 16 bytes of memory for each of its keys while it is repaired. Keys that are lost are new once more: their URLs are printed a second time, and no URL is left out that was never printed. If the file SEEN itself is damaged, the secret in it is gone, and with it the use of all keys: put it back from a copy, or start with a new folder.

With --format json, one object per file, and the set as the last:
  {"type":"file","name":"log-00000005","keys":1203,"fault":"tail","cut_bytes":412}
  {"type":"set","keys":7341235,"whole":false}
`fault` is null, "tail", "damaged" or "missing"; `cut_bytes` counts the bytes at the end of a log that are cut off."#;

/// Where `dedup` remembers what was seen.
pub(crate) const SEEN_PLACE: &str = "Remember what was seen, for the next time too. DIR is a folder, for one process at a time; it is made if it is not there. redis://[USER:PASSWORD@]HOST[:PORT]/PREFIX[?db=NUMBER] is a set on a server, for any number of processes at the same time; rediss:// connects with TLS, and checks the server by the certificates of the system, or of the file that SSL_CERT_FILE names. All keys of the server that belong to the set start with PREFIX. Other users of this machine may see the command line, and a password in it";

/// What `dedup --session` does.
pub(crate) const SESSION: &str = "The crawl that this is a part of, on a server. Processes that give the same name share what they see; other sessions do not see it, and are not kept from printing the same pages. `dedust seen commit URL NAME` makes it count for all, `dedust seen cancel URL NAME` forgets it, so that a crawl that failed hides no page. Without --session, what is printed counts as seen at once";

/// What `dedup --ttl` does.
pub(crate) const TTL: &str = "How long a new set on a server remembers a page, such as 12h or 30d: so long at least, and half as long again at most. After that the page is printed once more. All processes must give the same, or none. Clocks of machines may differ by less than half of it [default: for good]";

/// What `--patience` does.
pub(crate) const PATIENCE: &str = "How long a server of seen pages that does not answer is waited for: when it is connected to first, and each time it goes away. With 0s, a wrong address is told at once; a job that starts with its server, or outlives its restarts, may need 10m [default: 60s; serve: 20s]";

/// What `dedup --shadow` does.
pub(crate) const SHADOW: &str = "Rules on trial: tell at the end how many of the printed URLs they would have left out too, by site and rule, with some pairs of URLs. What is printed stays the same, and so does the folder of --seen. Only URLs of this run are compared. Takes 20 to 40 bytes of memory for a URL, and 16 MiB for pairs";

/// What `learn --keep` does.
pub(crate) const KEEP: &str = "Keep what people and `validate` said about these earlier rules. Rules that are off stay off, whether they are learned again or not; pinned ones stay applied; verdicts of `validate` stay with rules that say the same. Where a pinned rule and a learned one cannot stand together, the learned one is left out with a warning. Rules are learned with the options of these rules (--method, --evidence, --prefer, ...), unless others are given. May be the file of -o, with --force";

/// After the help of `rules` and its verbs.
pub(crate) const RULES: &str = r#"Examples:
  dedust rules list rules.json                      # every rule, what it saves and risks
  dedust rules list rules.json --sort risk --format json
  dedust rules show rules.json a.example 1bcc
  dedust rules off rules.json a.example 1bcc19fb --why "breaks the search"
  dedust rules on rules.json a.example 1bcc19fb
  dedust rules pin rules.json a.example --all --by anna
  dedust rules add rules.json a.example --drop q.sid --fetchable --why "a session id"
  echo '{"change": [{"fold": {"of": "path", "to": "lowercase"}}]}' |
    dedust rules add rules.json a.example --json -
  dedust rules diff old.json new.json urls.txt.gz   # exits with 1 if anything differs
  dedust rules merge ours.json theirs.json -o rules.json --prefer first
  dedust rules lint rules.json                      # exits with 1 if there are errors

A rule is named by its site and its id: eight hexadecimal digits that depend on what it says alone, so that they are the same when it is learned again. The beginning of an id is enough if no other rule of the site has it.

A rule that is off stays in the file and is not applied. A pinned one stays when the rules are learned again with `learn --keep`, even if the new crawl does not prove it, and is applied even if `validate` refuted it. Rules that are added are pinned. Who decided, when and why is in the file. A file is changed as a whole or not at all; rules that cannot stand together are refused.

`diff` compares rules by what they say: `-` is in the first file alone, `+` in the second alone, `~` in both with another state; evidence is not compared. With URLs it also prints those that have another key, the first 20 or, with --format json, all. `merge` unites the rules of a site that both files have: a rule that is off in one of them is off, unless it is pinned in the other. Rules that cannot stand together, or hold on different hosts, are named; then nothing is written and the exit code is 1, unless --prefer says which file counts for such a site. `lint` prints every problem with its line, not only the first.

With --format json, `list` prints one object per rule, then one for all:
  {"type":"rule","site":"a.example","id":"1bcc19fb","index":0,
   "rule":"`sid` does not matter","applied":true,"state":"applied",
   "trust":"proven","fetchable":true,"urls":90,"groups":20,
   "failed_groups":0,"failure_bound":0.1391}
  {"type":"total","rules":1,"applied":1,"off":0,"pinned":0}
and `show` one object per rule, in which "rule" is as in the rule file."#;
/// After the help of `groups`.
pub(crate) const GROUPS: &str = r#"Examples:
  dedust groups rules.json crawl.warc.gz
  dedust groups rules.json crawl.jsonl.gz --min-size 10 --all
  dedust groups rules.json crawl.parquet --format jsonl -o groups.jsonl
  dedust groups rules.json crawl.cdxj --format csv -o groups.csv

A group is all distinct URLs of one key. Those that save most bytes come first, then those of most URLs, then those met first. `first` is the URL that was met first, which a crawler would fetch; what a group saves are the others, and their bytes where the crawl has sizes. The canonical URL is one that was fetched and showed the page, else that of most URLs of the group; of several that as many have it is the shortest, then the first by its bytes. As text, the first 20 groups are shown with 5 URLs each; with --all, and in the other formats, all of them.

A group is joined by the rules without which its URLs would have several keys. Where any one of several rules is enough, all that changed a URL of the group are named. Rules count from 0; `dedust explain` says more about them.

Memory depends on the number of distinct URLs: about 200 bytes for each, of the usual length. A crawl that needs more than --memory is refused.

With --format jsonl, one line per group, then one for all:
  {"type":"group","key":..,"canonical":..,"canonical_urls":1,"urls":3,
   "bytes_saved":8192,"safe_duplicates":0,
   "rules":[{"site":"a.example","index":0,"id":"1bcc19fb","rule":".."}],
   "members":[{"url":"..","bytes":4096},..]}
  {"type":"total","urls":..,"keys":..,"groups":..,"duplicates":..,
   "safe_duplicates":..,"bytes":..,"bytes_saved":..,"safe_bytes_saved":..,
   "sizes_unknown":..}
`safe_duplicates` are URLs that safe normalization alone makes the same as one before them. With --format csv there is one row per URL, with the columns group, urls, url, bytes, first, canonical, key and rules, such as `a.example#0`."#;

/// After the help of `report`.
pub(crate) const REPORT: &str = r#"Examples:
  dedust report rules.json crawl.warc.gz -o report.html
  dedust report rules.json crawl.jsonl.gz -o report.html --force
  dedust report rules.json -o report.html               # the rules alone
  dedust report rules.bin crawl.parquet -o report.html  # compiled rules

The page is one file that opens from disk and asks the network for nothing. It says what the rules save and risk, and shows each rule with its evidence, its bound and examples; which duplicates are left, and why; the pattern tree of the site; groups of duplicates; and which parameters matter where. Rules can be switched off in it to see what they save, and URLs can be tried: the normalizer is part of the page.

Which pages URLs show is decided from the crawl as `dedust learn` does. Without such evidence the page shows what is merged, and not whether that is right. Without a crawl it shows what the rule file says of itself. Of compiled rules no more is known than what they do.

Up to 40 sites are shown in full, the worst first: those with most duplicates left. All others are in the table of sites. Figures hold for all URLs of the crawl; switches and the list of URLs that a rule changes need the URLs in the page, which are left out where they would take more than 2 MB. The page then says which figures are estimates.

For the learning curve, rules are learned from 10, 30, 60 and 100 % of each site's URLs, with the defaults of `dedust learn`, and tried on all of them. --learning-curve ROWS says up to how many rows of the crawl that is done."#;

/// After the help of `collect`.
pub(crate) const COLLECT: &str = r#"Examples:
  dedust collect sites.parquet -o rules.bin     # a table of dedust.spark.learn
  dedust collect rules-*.json -o rules.json     # of `merge --part`

Each row of a table has the rules of one site, in a column `rules`: Parquet, JSON Lines, and Arrow where dedust was built with it. A row without rules is one of a site where learning failed: it is counted. The same sites give the same bytes, in any order."#;

/// What `--part` means.
pub(crate) const PART: &str = "Read one of several parts of the inputs, such as 3/8, into the folder RULES; `merge` learns from all of them

For crawls that one process should not read alone: give each of N processes, on one machine or on many with a disk in common, the
same inputs and options and a part of its own. Of all files, part I reads each N-th. Then `dedust merge` learns from all parts; the rules
are the same as those of one process, unless archives are read, where what repeats on a site is found in each part. With `merge`,
--part learns a part of the sites, and `dedust collect` puts their rules into one file.";

/// After the help of `merge`.
pub(crate) const MERGE: &str = r#"Examples, in a batch array of 8 and after it:
  dedust learn --part $SLURM_ARRAY_TASK_ID/8 crawl/ -o parts/$SLURM_ARRAY_TASK_ID
  dedust merge parts -o rules.json

Options are those of `learn`, and must be the same as for the parts. The rules are the same as without parts. Where learning takes long, too, let each process learn a part of the sites, and put them together:
  dedust merge parts --part $SLURM_ARRAY_TASK_ID/8 -o rules-$SLURM_ARRAY_TASK_ID.json
  dedust collect rules-*.json -o rules.json"#;

/// After the help of `compile`.
pub(crate) const COMPILE: &str = r#"Examples:
  dedust compile rules.json -o rules.bin
  dedust normalize rules.bin urls.txt
  dedust compile rules.bin --check || echo "compile it again"

Every command that applies rules takes either form. Compiled rules need no decoding: those of a million sites are read into memory and checked in some hundredths of a second. They hold no evidence, so keep the rule file for `explain` and `validate`. The same rules give the same bytes.

The file is never trusted: each block of it has a checksum, and a command refuses a file with a damaged block before it prints anything. A command that runs keeps the rules that it has read, and warns if the file changes. Replace a file that is in use by renaming a new one, as --force does and `mv` on one disk: a command that starts while `cp` overwrites the file refuses it."#;

/// What `--errors` means.
pub(crate) const ERRORS: &str = "Show pages that are merged wrongly or lost, by the rules that do it

Of the URLs of one key the first is fetched. Each other page among them is merged, wrongly by the labels of the crawl: it is
shown with the URL that is fetched in its place, with the rules that changed each, and with what the crawl says of both. It is
lost if each of its URLs is known to show something else than the first of its key. A wrong merge is charged to the last rule
without which the two URLs would have different keys. Canonical URLs that redirect, fail or show another page follow, by the last rule that wrote them. Needs memory for all URLs of the input and what is known of them.";

/// After the help of `evaluate`.
pub(crate) const EVALUATE: &str = r#"Examples:
  dedust evaluate rules.json labelled.jsonl.gz
  dedust evaluate rules.json labelled.csv --min-recall 0.999 --max-fpr 0.01
  dedust evaluate rules.json labelled.jsonl.gz --errors --limit 20
  dedust evaluate --labels truth.jsonl.gz crawl.warc.gz --min-precision 0.97

A crawler that fetches the first URL of each key gets `recall` of all pages, and `precision` of what it fetches are pages it did not have. The other figures:
  compression    share of URLs that need not be fetched
  achievable     the compression of a perfect normalization
  dup-reduction  share of the duplicates that are gone
  fpr            share of different pages among pairs of URLs with one key
  F1             harmonic mean of precision and recall
  keep-all F1    that of doing nothing at all
  URL F1         F1 by canonical URL instead of key
  live           share of canonical URLs that are alive
`micro` pools all URLs, `macro` averages over sites. Limits are checked on `micro`. A canonical URL is alive if it was fetched and showed the page, unmet if nobody has fetched it, and wrong if it redirects, fails or shows another page. Where the URL itself redirects or fails, a canonical URL that does so is not counted.

What rules promise to lose at most is compared with what they lose here: pages that are not fetched, and known to show something else than what is fetched instead. Labels of a crawl tell more pages apart, such as a redirect from the page that it leads to: `recall` is by labels. Where pages have labels of their own (`cluster`, `page`), both are the same.

With --format json, one line per site, then one each for micro and macro:
  {"type":"site","site":"a.example","urls":..,"pages":..,"canonical":..,
   "covered":..,"lost":..,
   "compression":..,"achievable":..,"dup_reduction":..,"fpr":..,
   "support_pairs":..,"false_pairs":..,"precision":..,"recall":..,"f1":..,
   "live":..,"canonical_urls":{..},"changed":..,"keep_all_f1":..,"url":{"canonical":..,..}}
  {"type":"micro","unlabelled":0,"urls":..,..}
  {"type":"macro","sites":1,"compression":..,..}
The outer figures are by key, those under "url" by canonical URL. Under "canonical_urls" are "alive", "unmet" and "wrong", and of these "redirects", "fails" and "other_page". With --errors also one line per rule, each followed by its pairs, and one for all:
  {"type":"rule_errors","site":..,"index":0,"id":..,"rule":..,"pages_lost":..,"pages_merged":..,..}
  {"type":"wrong_merge","key":..,"fetched":{"url":..,"canonical":..,
   "rules":[0],"title":..,..},"merged":{..},"is_lost":true,"evidence":["the digests differ"]}
  {"type":"errors","pages_lost":..,"pages_merged":..,"urls_merged":..,
   "pages_split":..,"keys_too_many":..}
  {"type":"canonical_errors","site":..,"index":0,"id":..,"rule":..,"redirects":..,..}
  {"type":"wrong_canonical","url":..,"canonical":..,"fate":"redirects","seen":{"status":301,..}}
The last two are one line per rule that writes wrong canonical URLs, each followed by these. "index", "id" and "rule" are left out where safe normalization alone is wrong; "pages_split" are pages that have several keys.

With --labels TRUTH no rules are looked at, but which URLs are said to show the same page, by the evidence in LABELLED:
  pair precision  share of the pairs in one cluster that are one page
  pair recall     share of the pairs that are one page in one cluster
  wrong           share of the URLs in a cluster mostly of another page
and with --format json one line:
  {"type":"labels","urls":..,"labelled":..,"pages":..,"clusters":..,
   "tied_pairs":..,"false_pairs":..,"duplicate_pairs":..,
   "pair_precision":..,"pair_recall":..,"wrong":..,"wrong_share":..,
   "not_in_truth":..}"#;

/// After the help of `explain`.
pub(crate) const EXPLAIN: &str = r#"Examples:
  dedust explain rules.json 'http://a.example/p?id=1&sid=9'
  dedust explain rules.json three-urls.csv
  head -3 urls.txt | dedust explain rules.json -

In what a rule says, {q.id} is the value of the parameter `id`; of one that writes whole URLs, `~` is the site's domain, <digits> any value of that class, <digits?> one that may be missing, and * a value that does not matter. Rules count from 0.

With --format json, one line per URL:
  {"type":"explanation","input":..,"safe":..,"site":..,"site_rules":..,
   "rules":[..],"off":[..],"refused":[..],"key":..,"canonical":..}
  {"type":"error","input":..,"error":..}
"rules" are those that change the URL or its key, in order: "index", "id", what the "rule" does in words, whether it is "fetchable", and "evidence" as in the rule file. "off" are those that would, had nobody turned them off, and "refused" those that would, had they been believed; all are left out where there are none."#;

/// After the help of `tree`.
#[cfg(feature = "lab")]
pub(crate) const TREE: &str = r#"Examples:
  dedust tree crawl.jsonl.gz --site a.example --depth 3
  dedust tree crawl.jsonl.gz --format dot | dot -Tsvg > tree.svg

With --format json, one line per node, parents before children:
  {"type":"node","site":"a.example","id":4,"parent":1,"depth":2,
   "key":"q.id","value":"<digits>","urls":900,"labelled":900,"pages":300,
   "split_key":null,"pattern":"http://~/p?id=<digits>&sid=<hex?>"}
`key` and `value` lead from the parent to the node; `value` is null where the key is absent. `split_key` is where the children of the node differ, null for a leaf."#;

/// After the help of `man`.
pub(crate) const MAN: &str = r#"Examples:
  dedust man | man -l -
  dedust man -o ~/.local/share/man/man1

With -o there is a page for each command: `man dedust-learn` shows that of `dedust learn`."#;

/// After the help of `completions`.
pub(crate) const COMPLETIONS: &str = r#"Examples:
  dedust completions bash -o ~/.local/share/bash-completion/completions/dedust
  dedust completions zsh -o ~/.zfunc/_dedust       # a folder in $fpath
  dedust completions fish -o ~/.config/fish/completions/dedust.fish"#;

/// Of `dedup --rekey`.
pub(crate) const REKEY: &str = "Rules have changed: make the set anew, from the URLs that were printed before; may be given again

A set holds hashes of keys, from which no URL can be recovered. With other rules, a page may have another key, and would be printed once more. Give the URLs that were printed so far, in any format: the set is made anew from them and takes the place of the old one when it is done. Without INPUT, nothing else is done.";
