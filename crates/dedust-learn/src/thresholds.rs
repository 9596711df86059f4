/*!
The numbers by which the learner decides what it tries, what it believes and how much work it does. Each says what it decides, and why
it has its value.

What differs from site to site, such as how much two fetches of a page differ, is estimated on the site. "More often than not" stands
where it is used.
*/

/// Which rules write canonical URLs.
pub(crate) mod canonical {
    /// Canonical URLs that must be alive before a rule writes others like them: one may be a stray link.
    pub(crate) const MIN_ALIVE: u64 = 3;
    /// Values of a part that a narrowed rule names. Nobody could read more.
    pub(crate) const MAX_VALUES: usize = 16;
    /// Names of files at the root of a site behind which no slash is written. Sites have few.
    pub(crate) const MAX_FILES: usize = 64;
    /// How often a rule is narrowed. Nobody could read more tests.
    pub(crate) const MAX_NARROWED: usize = 2;
    /// Canonical URLs that are compared of one URL. A rule more doubles them.
    pub(crate) const MAX_LEAVES: usize = 256;
    /// Canonical URLs of a site that are kept beside its rules.
    pub(crate) const MAX_OBSERVED: usize = 10_000;
    /// Rounds in which rules are turned on and off.
    pub(crate) const MAX_ROUNDS: usize = 8;
    /// Rules that are made to URLs. On large sites it bounds the URLs, which come in an order that says nothing.
    pub(crate) const MAX_WORK: usize = 1_000_000;
    /// URLs that are looked at however many rules there are.
    pub(crate) const MIN_ROWS: usize = 1_000;
}

/// Which rules are tried.
pub(crate) mod suggest {
    /// Rows with a value, or clusters that suggest a rule, before that is tried. Two may agree by chance.
    pub(crate) const MIN_SUPPORT: usize = 3;
    /// Distinct values of a parameter of an unknown name, before it is dropped whatever its value is. With fewer, the values that were
    /// not seen are most.
    pub(crate) const MIN_VALUES: usize = 3;
    /// Values of a key that are tried as its default, the most frequent first. A default is frequent, or it saves little.
    pub(crate) const MAX_DEFAULTS: usize = 12;
    /// URLs of a cluster that are compared. More of them repeat the same differences.
    pub(crate) const MEMBERS_PER_CLUSTER: usize = 8;
    /// Clusters that are compared in a round. Those that no rule has joined by then come in the next round.
    pub(crate) const MAX_CLUSTERS: usize = 4_000;
    /// Parts of URLs that are compared at once, about. Suggestions take memory for each part, so this bounds it.
    pub(crate) const PARTS_AT_ONCE: usize = 4_096;
    /// Tests and changes of a suggested rule. Nobody could read one with more.
    pub(crate) const MAX_DRAFT_SIZE: usize = 64;
    /// Parameters in which two URLs may differ to suggest a rule, and equal ones that it may depend on. URLs that differ in more have
    /// little in common.
    pub(crate) const MAX_PARAMS: usize = 8;
    /// The same for path segments, which are fewer.
    pub(crate) const MAX_SEGMENTS: usize = 6;
    /// A value is rare if less than one row in so many of those with its key has it.
    pub(crate) const RARE_ONE_IN: usize = 20;
    /// No value is rare of a key with at most so many: all of them can be tried.
    pub(crate) const MAX_FREQUENT: usize = 4;

    /// Rows with a value before a rule may depend on it. With fewer, the groups that would be left could not prove the rule.
    pub(crate) const MIN_CONTEXT_ROWS: usize = 10;
    /// Rows with a segment before it may be replaced by another, as for [`MIN_SUPPORT`].
    pub(crate) const MIN_SEGMENT_ROWS: usize = 3;
    /// Rows with a segment before it counts as part of how the site is built. On a small site, a share alone would let any segment
    /// through.
    pub(crate) const MIN_CONSTANT_ROWS: usize = 5;
    /// One row in so many must have such a segment: names of pages are rarer.
    pub(crate) const CONSTANT_ONE_IN: usize = 20;
    /// The same for a segment without digits, which is a page's identifier less often.
    pub(crate) const CONSTANT_WORD_ONE_IN: usize = 200;
    /// Segments at the end of a path that are kept while those before them are left out. Longer ends are described as the segments that
    /// are left out.
    pub(crate) const MAX_END_SEGMENTS: usize = 3;
    /// Fixed segments around a value that moves into the path. With more, the value is rather a coincidence.
    pub(crate) const MAX_FIXED_SEGMENTS: usize = 3;
    /// Bytes of a parameter's value before it is looked for in the path. Shorter ones are found by chance.
    pub(crate) const MIN_MOVED_BYTES: usize = 2;
    /// Parameters that the parts of another URL are derived from: what would be derived from more is rather found by chance.
    pub(crate) const MAX_DERIVED_PARAMS: usize = 2;
    /// Bytes of the fixed text before a value, as `(S(` in `(S(9f3e))`. A longer text is a name.
    pub(crate) const MAX_FRAME_BYTES: usize = 8;
    /// Fixed bytes around a number that is read from another value. With more, the text is a name with a number in it.
    pub(crate) const MAX_AROUND_NUMBER: usize = 24;
    /// Digits of a number that is computed with. Times [`MAX_TIMES`], it fits into 64 bits.
    pub(crate) const MAX_DIGITS: usize = 12;

    /// Distinct numbers that a way of counting must explain. A line goes through any two, and through a third by chance.
    pub(crate) const MIN_COUNTED_NUMBERS: usize = 4;
    /// The share of numbers that it must explain. Labels may be wrong, and the votes decide later.
    pub(crate) const MIN_COUNTED: f64 = 0.6;
    /// The largest factor between two ways of counting: entries of a page are hundreds at most.
    pub(crate) const MAX_TIMES: i64 = 1_000;
    /// Clusters that say that a value stands for another. One may be labelled wrongly.
    pub(crate) const MIN_TRANSLATING_CLUSTERS: usize = 2;
    /// The share of the clusters with a value that must agree on what it stands for.
    pub(crate) const MIN_TRANSLATED: f64 = 0.7;
    /// Entries of a table of values that stand for others. Fewer are written as single rules.
    pub(crate) const MIN_TRANSLATION_ENTRIES: usize = 3;
    /// Entries of the largest such table, as for [`super::observed::MAX_ENTRIES`].
    pub(crate) const MAX_TRANSLATION_ENTRIES: usize = 1_000;
    /// The share of its entries that must have a name of their own. Many values with one name were forgotten, not translated.
    pub(crate) const MIN_TRANSLATED_NAMES: f64 = 0.8;

    /// The share of the values of a key that must look random before they can be sessions. Some identifiers look like words.
    pub(crate) const MIN_RANDOM: f64 = 0.8;
    /// Bytes of a value with digits and letters before it looks random: `page2` does not.
    pub(crate) const MIN_RANDOM_BYTES: usize = 8;
}

/// In which order rules are tried, and when the search stops.
pub(crate) mod search {
    /// Rounds of suggestions, each of them on what the rules of the last made of the URLs. It bounds the time.
    pub(crate) const MAX_ROUNDS: usize = 8;
    /// Suggestions that are tried in a round, those of most clusters first. Others come in the next round.
    pub(crate) const MAX_SUGGESTIONS: usize = 300;
    /// Suggestions that are asked how many labels are wrong. The first tell as much as all.
    pub(crate) const MAX_ASKED_FOR_NOISE: usize = 100;
    /// Groups that must agree to a rule before it tells how many labels are wrong. Of fewer, the share of failures means little.
    pub(crate) const MIN_AGREEING_FOR_NOISE: u64 = 30;
    /// Rules that tell fail at most so many times as often as those that fail less, ...
    pub(crate) const NOISE_FACTOR: f64 = 2.0;
    /// ... and this share more: a rule that fails much more often is wrong itself.
    pub(crate) const NOISE_MARGIN: f64 = 0.05;
    /// How much more labels are wrong than the rules that fail least show: the least of several shares is less than their mean.
    pub(crate) const NOISE_OF_LEAST: f64 = 1.5;
    /// Where pages are known by what they show, at most so many times the labels that are provably wrong are taken to be.
    pub(crate) const WRONG_PER_PROVEN: f64 = 2.0;
    /// A rule is tried after others if more than one vote in so many is against it: the others may explain these votes.
    pub(crate) const DOUBTFUL_ONE_IN: u64 = 20;
    /// Votes that tell whether a part of a rule fails that is known to fail rarely.
    pub(crate) const MIN_VOTES_OF_PART: u64 = 10;
    /// Votes before a rule that most are against is not tried again.
    pub(crate) const MIN_HOPELESS_VOTES: u64 = 10;
    /// Other values of a key that are asked when one is taken for none. The most frequent tell as much as all.
    pub(crate) const MAX_OTHER_VALUES: usize = 30;
    /// Votes that are enough to know a share: its standard error is below 3 %.
    pub(crate) const ENOUGH_VOTES: u64 = 300;
    /// Rules whose votes are remembered until the next rule is made. It bounds memory.
    pub(crate) const MAX_KNOWN_VOTES: usize = 3_000;
    /// Refused rules that are written of each kind: those with too few votes, and the others. People read them.
    pub(crate) const MAX_REFUSED: usize = 20;
    /// Groups of a rule that are searched for examples. Three are written.
    pub(crate) const MAX_EXAMPLES: usize = 1_000;
    /// Duplicates of a URL of which the one is taken that differs least from it.
    pub(crate) const MAX_DUPLICATES_OF_EXAMPLE: usize = 16;
    /// Pairs of URLs beyond which nobody counts in how many two differ: such examples come last.
    pub(crate) const MAX_COMPARED_PAIRS: usize = 64;
}

/// How much work is done for a site, in units of some ten nanoseconds: about what each step takes. It is counted, not measured, so that every machine learns the same.
pub(crate) mod work {
    /// Work that may be done for each byte of the URLs of a site. Most real sites take less than 50.
    pub(crate) const PER_BYTE: u64 = 60;
    /// Work that may be done for any site: on a small one, a bound by its bytes would end the search early.
    pub(crate) const MIN: u64 = 100_000;
    /// Candidates are judged together while they take at most one part in so many of the work that is left: what is tried with
    /// exceptions and conditions takes more than they do.
    pub(crate) const AT_ONCE_ONE_IN: u64 = 16;
    /// Tables of observed duplicates may take one part in so many on top, since the search may have used up all.
    pub(crate) const OBSERVED_ONE_IN: u64 = 4;
    /// The work of a rule, however few rows it concerns.
    pub(crate) const PER_RULE: usize = 300;
    /// Pairs of a URL up to which they count as few: one among them is found sooner.
    pub(crate) const FEW_PAIRS: usize = 16;
    /// The work of taking apart a URL with few pairs, for each.
    pub(crate) const PER_PAIR_OF_FEW: usize = 4;
    /// The same for a URL with more pairs.
    pub(crate) const PER_PAIR_OF_MANY: usize = 10;
    /// Pairs that are one unit of work where a rule is tried by arithmetic.
    pub(crate) const PAIRS_PER_UNIT: usize = 8;
    /// The work of joining a row to others.
    pub(crate) const PER_MOVE: u64 = 8;
    /// The work of counting a pair of a URL in a group.
    pub(crate) const PER_COMPANION: u64 = 3;
    /// The work of looking at a pair of a form.
    pub(crate) const PER_PAIR_OF_FORM: u64 = 4;
    /// Rows of several pairs are put in order by marking them if they are more than one in so many: below, sorting them is faster.
    pub(crate) const MARKED_ONE_IN: usize = 64;
}

/// What the groups that a rule joins say of it.
pub(crate) mod vote {
    /// Votes of one group for a rule: a page with a thousand URLs must not outvote a site.
    pub(crate) const MAX_OF_GROUP: u64 = 4;
    /// Groups that a label must contradict, and more often than not, before it is not heard. A label of two pages contradicts by
    /// chance.
    pub(crate) const MIN_CONTRADICTIONS: u32 = 3;
    /// Rows of a label that are looked at. It bounds the work for pages with very many URLs.
    pub(crate) const MAX_ROWS_OF_LABEL: usize = 64;
    /// For each label that is provably wrong, so many others are likely to be: pages with a label of their own that should share one.
    pub(crate) const LIKELY_WRONG: f64 = 0.6;
    /// Labels of a group from which on, if most of its votes differ, no label counts as wrong: it is the rule that is wrong.
    pub(crate) const MIN_INCOHERENT_LABELS: usize = 4;
    /// Labels against a rule in one group that may be wrong. More are not wrong together.
    pub(crate) const MAX_LOOSE_LABELS: u64 = 2;
    /// So many groups of [`HELD_OUT_OF`] have no part in choosing rules. The others must be enough to choose by.
    pub(crate) const HELD_OUT: u64 = 2;
    /// See [`HELD_OUT`].
    pub(crate) const HELD_OUT_OF: u64 = 5;
}

/// When a rule is believed.
pub(crate) mod proof {
    /// One minus the confidence of a stated failure bound, by convention.
    pub(crate) const DOUBT_OF_BOUND: f64 = 0.05;
    /// Standard deviations above its mean below which a normal variable is with 95 % confidence.
    pub(crate) const NORMAL_95: f64 = 1.645;
    /// The share of false pairs up to which learners with such a limit believe a rule, unless the user says otherwise.
    pub(crate) const MAX_FALSE_PAIR_RATE: f64 = 0.05;
    /// The share of the pages of a site that one rule may lose, unless the user says otherwise.
    pub(crate) const MAX_LOSS: f64 = 0.005;
    /// The share of votes that may be against a rule: about what wrong labels come to.
    pub(crate) const LIMIT: f64 = 0.05;
    /// The same for rules that forget values and join many URLs, at least: on any site some labels are wrong.
    pub(crate) const LEAST_LIMIT: f64 = 0.02;
    /// Pages that such a rule may lose on any site. With less, nothing could be proven on a small one.
    pub(crate) const LEAST_LOSS: f64 = 2.0;
    /// The limit for rules of a known family, where wrong ones fail nearly always and right ones as often as labels are wrong, and for
    /// rules that can do little harm.
    pub(crate) const TRUSTED_LIMIT: f64 = 0.1;
    /// The limit for rules with many votes that lose next to nothing where they fail: pages that changed between two fetches.
    pub(crate) const CHEAP_LIMIT: f64 = 0.15;
    /// Votes from which on that can be told.
    pub(crate) const MIN_CHEAP_VOTES: u64 = 100;
    /// Next to nothing, as a share of the URLs of a site.
    pub(crate) const CHEAP_SHARE: f64 = 0.001;
    /// The most that is added to the limit for wrong labels. With more, wrong rules could not be told from right ones.
    pub(crate) const MAX_NOISE: f64 = 0.15;
    /// For each label that is provably wrong, so many labels are taken to be: others are wrong that nobody can tell.
    pub(crate) const WRONG_PER_PROVEN: f64 = 2.0;
    /// If a larger share of votes is against a rule, believed or not, they are not all mistaken, ...
    pub(crate) const MAX_CONTESTED: f64 = 0.3;
    /// ... unless more labels are wrong everywhere: then this share, ...
    pub(crate) const CONTESTED_MARGIN: f64 = 0.1;
    /// ... and so many times the share of wrong labels.
    pub(crate) const CONTESTED_PER_WRONG: f64 = 1.2;
    /// Votes from which on a rule can be contested. Of fewer, a share says little.
    pub(crate) const MIN_CONTESTED_VOTES: u64 = 20;
    /// The chance that a rule which is believed fails more often than its limit, by convention.
    pub(crate) const MAX_DOUBT: f64 = 0.05;
    /// Agreeing groups for each page that they show. With more, it is one empty page that is shown for every value of a key.
    pub(crate) const MAX_GROUPS_PER_PAGE: u64 = 4;
    /// Votes of groups held out for a rule that was chosen for what was seen. One family's good name is no proof of them.
    pub(crate) const MIN_CHOSEN_VOTES: u64 = 10;
    /// Missing votes that are stated, at most: nobody fetches more pages for one rule.
    pub(crate) const MAX_MISSING: u64 = 2_000;
    /// Groups that must be seen in the form that a rule writes, before that is taken for a URL to fetch: one may be a stray link.
    pub(crate) const MIN_FETCHABLE: u64 = 3;
    /// The same as a share: one group in so many.
    pub(crate) const FETCHABLE_ONE_IN: u64 = 10;
    /// Examples that are written for a rule. People read them.
    pub(crate) const EXAMPLES: usize = 3;
}

/// What is known of rules before a site has said anything: the parameters of a Beta distribution of how often they fail, as failing and
/// holding groups that were seen elsewhere. With 12 holding groups, 26 on the site prove a rule; with 50, none is needed.
pub(crate) mod families {
    /// Of tracking and session parameters: right on nearly all sites.
    pub(crate) const TRACKING: (f64, f64) = (0.5, 50.0);
    /// Of return addresses, views, referrals, schemes and hosts: right on most sites.
    pub(crate) const USUAL: (f64, f64) = (0.5, 30.0);
    /// Of first pages and spellings, of which some sites make a difference.
    pub(crate) const SPELLING: (f64, f64) = (0.5, 20.0);
    /// Of pages that ask to log in, which show one page whatever their URL says.
    pub(crate) const LOGIN: (f64, f64) = (0.5, 60.0);
    /// Of all others.
    pub(crate) const OTHER: (f64, f64) = (0.5, 12.0);
    /// Of parameters that decide what is shown on most sites: twice as many are expected to fail.
    pub(crate) const RELEVANT: (f64, f64) = (1.0, 12.0);
    /// The largest correlation of failures within a value that counts: beyond, nothing would be known of the next value.
    pub(crate) const MAX_CORRELATION: f64 = 0.5;
    /// Pages that must agree, for a rule without a family: an empty page agrees with itself.
    pub(crate) const MIN_PAGES: u64 = 5;
    /// The same where something is known of the rule.
    pub(crate) const MIN_PAGES_OF_KNOWN: u64 = 2;
    /// The same for referrals, whose names other things have too.
    pub(crate) const MIN_PAGES_OF_REFERRAL: u64 = 3;
    /// The same for pages that ask to log in: a site has one.
    pub(crate) const MIN_PAGES_OF_LOGIN: u64 = 1;
}

/// Of a rule that fails, what is tried with exceptions and conditions.
pub(crate) mod refine {
    /// Agreeing groups of a rule that fails before conditions are looked for. What fewer have in common is chance.
    pub(crate) const MIN_AGREEING: u64 = 3;
    /// Votes against a rule for each agreeing group. With more, it is not refined.
    pub(crate) const AGAINST_PER_AGREEING: u64 = 10;
    /// Conditions under which a failing rule is tried again. It bounds the work.
    pub(crate) const MAX_CONTEXTS: usize = 8;
    /// Agreeing groups with a value before that may be a condition.
    pub(crate) const MIN_CONTEXT_GROUPS: u64 = 3;
    /// For each failing group with the value, so many must agree.
    pub(crate) const AGREEING_PER_FAILING: u64 = 10;
    /// If a rule fails more often, less is believed of it under any condition.
    pub(crate) const MAX_SUSPECT: f64 = 0.25;
    /// Groups that must agree of pages that show something else from one visit to the next.
    pub(crate) const MIN_VOLATILE: u64 = 3;
    /// For each contradicting group of such pages, so many more.
    pub(crate) const VOLATILE_PER_CONTRADICTION: u64 = 10;
    /// Groups that must fail for a value to be an exception: one label may be wrong.
    pub(crate) const MIN_FAILURES: u64 = 2;
    /// The same for a segment deep in the path, of which there are many.
    pub(crate) const MIN_FAR_FAILURES: u64 = 5;
    /// The same where a value fails more often than others, but not most of the time.
    pub(crate) const MIN_SURPRISING_FAILURES: u64 = 3;
    /// The chance of so many failures by chance, at most. Very many values are looked at.
    pub(crate) const MAX_CHANCE: f64 = 0.001;
    /// The share of failures that is expected of any value, at least: on any site some labels are wrong.
    pub(crate) const LEAST_EXPECTED: f64 = 0.02;
    /// Exceptions of a rule. What needs more is no rule.
    pub(crate) const MAX_EXCEPTIONS: usize = 3;
}

/// How much is written of duplicates that were observed and follow no rule.
pub(crate) mod observed {
    /// Tables of a site, the largest first. A rule file must not grow with the crawl.
    pub(crate) const MAX_TABLES: usize = 64;
    /// Entries of one rule. A larger table is written as several.
    pub(crate) const MAX_ENTRIES: usize = 1_000;
}

/// At which places of a site a rule holds.
pub(crate) mod scope {
    /// Places of a kind, as hosts or sections, that must speak for a rule before it is made at all. Two may be built alike by chance.
    pub(crate) const MIN_PLACES: usize = 3;
    /// URLs of a section that a rule would change, so that something could have been seen there.
    pub(crate) const MIN_CHANGED: u64 = 3;
    /// Sections that a rule names. Nobody could read more.
    pub(crate) const MAX_NAMED: usize = 64;
}

/// Which hosts are named, and when hosts are one.
pub(crate) mod hosts {
    /// Hosts of a site that are named, those with most URLs. A rule file must not grow with the crawl.
    pub(crate) const MAX: usize = 1_000;
    /// Pages of a host that must lead to the same path of another: single links are mistakes.
    pub(crate) const MIN_LINKS: u64 = 10;
    /// For each of them, the links that may lead to the host itself.
    pub(crate) const MAX_SELF_LINKS: f64 = 0.1;
}

/// What of the evidence for duplicates is followed.
pub(crate) mod labels {
    /// The most bits in which the fingerprints of near duplicates differ, as in Manku, Jain and Das Sarma, WWW 2007.
    pub(crate) const MAX_HAMMING_BITS: u32 = 3;
    /// Redirects that are followed from one URL. It bounds the work, and longer chains are mistakes.
    pub(crate) const MAX_REDIRECTS: usize = 8;
    /// The share of canonical links that must be right before one is believed of a page of which nothing else was seen.
    pub(crate) const MIN_RIGHT_CLAIMS: f64 = 0.9;
    /// Pages that are told apart among rows that claim to be one. It bounds the work.
    pub(crate) const MAX_CLAIMED_PAGES: usize = 16;
}

/// How the search for near fingerprints is divided. The result is the same with any numbers.
pub(crate) mod near_pairs {
    /// Sets up to this size are compared pair by pair: sorting them into tables costs more.
    pub(crate) const MAX_PAIRWISE: usize = 64;
    /// How often a long run is cut into blocks again. Each time multiplies the tables by the number of blocks.
    pub(crate) const MAX_DEPTH: usize = 4;
}

/// How alike two pages must look.
pub(crate) mod likeness {
    /// Observations that are remembered. It bounds memory.
    pub(crate) const MAX_ENTRIES: usize = 1 << 16;
    /// Pairs of one page that are compared: a page must not decide for a site.
    pub(crate) const MAX_PAIRS_PER_PAGE: usize = 8;
    /// Pairs of one template that are compared, for the same reason.
    pub(crate) const MAX_PAIRS_PER_TEMPLATE: usize = 64;
    /// Pairs of one page that must differ before it is known how much pages differ from themselves.
    pub(crate) const MIN_DIFFERING: usize = 5;
    /// Pairs of different pages that must be known: with 20, one is the 5 % of [`MAX_MISTAKEN`].
    pub(crate) const MIN_DIFFERENT: usize = 20;
    /// One pair of different pages in so many is less far apart than what is called far.
    pub(crate) const FAR_ONE_IN: usize = 4;
    /// A set of names is left out where more than one pair in so many is far apart.
    pub(crate) const FAR_PAIRS: usize = 5;
    /// The likelihood ratio from which on a difference shows one page: "strong" on the scale of Jeffreys.
    pub(crate) const STRONG_RATIO: f64 = 10.0;
    /// The share of different pages that may differ slightly.
    pub(crate) const MAX_MISTAKEN: f64 = 0.05;
    /// The share of slight differences that is excused, at most, however little is known of the site. As for
    /// [`crate::thresholds::proof::MAX_NOISE`].
    pub(crate) const MAX_NOISE: f64 = 0.15;
    /// Distances are from 0 to this: the bits of a fingerprint.
    pub(crate) const MAX_DISTANCE: u32 = 64;
    /// Pairs of rows that are compared in a large component.
    pub(crate) const SAMPLED_PAIRS: usize = 20;
    /// The share of these pairs that may have little in common.
    pub(crate) const MAX_FAR_SHARE: f64 = 0.1;
    /// The least resemblance of two versions of a page.
    pub(crate) const MIN_RESEMBLANCE: f64 = 0.7;
    /// Kinds of texts that are told apart among rows with something in common. It bounds the work.
    pub(crate) const MAX_LEADERS: usize = 16;
    /// Pairs that are gathered before they are tied. It bounds memory.
    pub(crate) const MAX_PAIRS: usize = 1 << 20;
    /// Bands of a sketch. Texts agree in one with a probability of 0.9999 at a resemblance of 0.9, and of 0.06 at 0.5.
    pub(crate) const BANDS: usize = 16;
}

/// When a site is a mirror of another.
pub(crate) mod mirrors {
    /// Sightings that are remembered, of all sites together. It bounds memory.
    pub(crate) const MAX_SIGHTINGS: usize = 1 << 20;
    /// Sightings that are put aside before they are sorted in.
    pub(crate) const MAX_UNSORTED: usize = 1 << 19;
    /// Pages that two sites must have in common. Smaller sites share a few by chance, such as a page of their software.
    pub(crate) const MIN_PAGES: u64 = 20;
    /// Links by which a site must declare itself a mirror.
    pub(crate) const MIN_DECLARED: u64 = 20;
    /// For each of them, the links that may say something else.
    pub(crate) const MAX_DENIED: f64 = 0.1;
    /// The most, with 95 % confidence, of the paths in common under which two sites may show different pages: about what wrong
    /// labels come to.
    pub(crate) const MAX_FAILURE: f64 = 0.15;
    /// The share of the paths in common that may differ, those with labels that may belong elsewhere among them.
    pub(crate) const MAX_DOUBT: f64 = 0.3;
    /// A page that one site shows under more paths is an error, or its path does not tell what it is.
    pub(crate) const MAX_PATHS: usize = 20;
    /// Failures of a section before it is an exception: labels may be wrong.
    pub(crate) const MIN_EXCEPTION_FAILURES: u64 = 5;
    /// Exceptions that a mirror may have.
    pub(crate) const MAX_EXCEPTIONS: usize = 16;
    /// The share of a mirror's paths that must be seen at the original.
    pub(crate) const MIN_COVERAGE: f64 = 0.5;
}

/// What is kept of a crawl.
pub(crate) mod crawl {
    /// The bytes of the longest URL that is learned from: common servers refuse longer ones.
    pub(crate) const MAX_URL_BYTES: usize = 8_192;
    /// Its most path segments and parameters. Some rules compare all parts of a URL with each other.
    pub(crate) const MAX_URL_PARTS: usize = 256;
    /// Parts that a crawl is dealt out to: each is a file that is open while the crawl is read, and one at a time is read back.
    pub(crate) const PARTS: usize = 256;
    /// Bytes of a part that are read at once.
    pub(crate) const BLOCK_BYTES: usize = 1 << 20;
}

/// How large sites are sampled.
pub(crate) mod sample {
    /// The share of a site's observations to learn from, unless the user says otherwise. More take longer, and give few more rules.
    pub(crate) const SHARE: f64 = 0.2;
    /// The most of them, unless the user says otherwise.
    pub(crate) const MAX_ROWS: u64 = 100_000;
    /// A site of up to so many observations is learned from whole, since that takes little time.
    pub(crate) const SMALL_SITE_ROWS: u64 = 50_000;
    /// Bytes of the URLs of a site that are learned from: memory is bounded for long URLs, too.
    pub(crate) const MAX_SITE_BYTES: u64 = 64 << 20;
    /// Parts of the URLs of a site that are learned from: each is held in several tables.
    pub(crate) const MAX_SITE_PARTS: u64 = 4 << 20;
    /// Parts of each of them, on average. Of URLs that have more, which hardly any site has, fewer are learned from: so memory depends
    /// on the number of URLs, and not on how many parts somebody puts into them.
    pub(crate) const MAX_PARTS_OF_URL: u64 = 32;
    /// As many parts are learned from in any case.
    pub(crate) const MIN_SITE_PARTS: u64 = 1 << 16;

    /// Observations of a large site that tell how its URLs are grouped, about.
    pub(crate) const PILOT_ROWS: u64 = 20_000;
    /// The most of them, since single pages may have very many.
    pub(crate) const MAX_PILOT_ROWS: usize = 40_000;
    /// URLs of a page that are compared with each other there.
    pub(crate) const PILOT_MEMBERS: usize = 8;
    /// A key varies within pages if its values differ there at least this often, compared with any two URLs.
    pub(crate) const MIN_VARIATION: f64 = 0.05;
    /// Pages in which a key must vary: single labels are wrong.
    pub(crate) const MIN_VARYING_PAGES: u32 = 5;

    /// How much more than is wanted each of several processes draws of a large site, about. Groups come in all sizes, so that twice as
    /// much may not be enough; then the site is drawn again.
    pub(crate) const DRAWN_FOR_WANTED: f64 = 2.0;
    /// How much more is drawn if that was not enough.
    pub(crate) const WIDER: u64 = 16;
    /// URLs of a key that are compared when rules of a sample are held against the whole site.
    pub(crate) const MAX_OF_KEY: usize = 8;
}
