/*!
The numbers by which the learner decides what is tried, what is believed and how much work is done, with what they mean.

They say how much is tried, which confidence is asked for, and on how little a statement may be based. What differs from site to
site, such as how much two fetches of a page differ, is estimated on the site. Shares within one comparison, such as "more often
than not", stand where they are used; what is known of families of edits is in `canonfd/families.rs`.
*/

/// All of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    pub(crate) suggest: Suggest,
    pub(crate) search: Search,
    pub(crate) work: Work,
    pub(crate) vote: Vote,
    pub(crate) proof: Proof,
    pub(crate) refine: Refine,
    pub(crate) observed: Observed,
    pub(crate) hosts: Hosts,
    pub(crate) likeness: Likeness,
    pub(crate) mirrors: Mirrors,
}

/// The numbers that are used.
pub(crate) const THRESHOLDS: Thresholds = Thresholds {
    suggest: Suggest {
        min_support: 3,
        min_values: 3,
        max_defaults: 12,
        members_per_cluster: 8,
        max_clusters: 4_000,
        parts_at_once: 4_096,
        max_draft_size: 64,
        min_counted: 0.6,
        max_times: 1000,
        max_params: 8,
        max_segments: 6,
        rare_one_in: 20,
        max_frequent: 4,
    },
    search: Search {
        max_rounds: 8,
        max_suggestions: 300,
        max_asked_for_noise: 100,
        min_agreeing_for_noise: 30,
        doubtful_one_in: 20,
        min_votes_of_part: 10,
        max_other_values: 30,
        enough_votes: 300,
        max_known_votes: 3_000,
        max_refused: 20,
        max_examples: 1000,
        max_duplicates_of_example: 16,
    },
    work: Work { work_per_byte: 60, min_work: 100_000, work_at_once: 16 },
    vote: Vote { max_votes_of_group: 4, max_contradictions: 3, max_rows_of_label: 64, likely_wrong: 0.6 },
    proof: Proof {
        limit: 0.05,
        least_limit: 0.02,
        least_loss: 2.0,
        trusted_limit: 0.1,
        cheap_limit: 0.15,
        min_cheap_votes: 100,
        cheap_share: 0.001,
        max_noise: 0.15,
        max_contested: 0.3,
        min_contested_votes: 20,
        max_doubt: 0.05,
        min_pages: 5,
        max_groups_per_page: 4,
        min_chosen_votes: 10,
        max_missing: 2_000,
        min_fetchable: 3,
        fetchable_one_in: 10,
    },
    refine: Refine {
        max_contexts: 8,
        max_suspect: 0.25,
        min_volatile: 3,
        min_far_failures: 5,
        max_sections: 50,
        min_section_urls: 3,
        max_exceptions: 3,
    },
    observed: Observed { max_tables: 64, max_entries: 1000 },
    hosts: Hosts { min_hosts: 3, max_hosts: 1000, min_links: 10, max_self_links: 0.1 },
    likeness: Likeness {
        max_entries: 1 << 16,
        max_pairs_per_page: 8,
        max_pairs_per_template: 64,
        min_differing: 5,
        min_different: 20,
        far_pairs: 5,
        strong_ratio: 10.0,
        max_mistaken: 0.05,
        max_noise: 0.15,
        max_distance: 64,
        sampled_pairs: 20,
        max_far_share: 0.1,
        min_resemblance: 0.7,
        max_leaders: 16,
        max_pairs: 1 << 20,
    },
    mirrors: Mirrors {
        max_sightings: 1 << 20,
        min_pages: 20,
        min_declared: 20,
        max_denied: 0.1,
        max_failure: 0.15,
        max_doubt: 0.3,
        max_paths: 20,
        min_exception_failures: 5,
        max_exceptions: 16,
        min_coverage: 0.5,
    },
};

/// Which edits are tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suggest {
    /// Rows that must have a value, or clusters that must suggest an edit, before it is looked at.
    pub(crate) min_support: usize,
    /// Values that must be seen of a key before it is forgotten whatever its value is.
    pub(crate) min_values: usize,
    /// Values of one key that are tried as defaults, most frequent first.
    pub(crate) max_defaults: usize,
    /// URLs of a cluster that are compared.
    pub(crate) members_per_cluster: usize,
    /// Clusters that are compared at a time; once edits have brought those together, others are.
    pub(crate) max_clusters: usize,
    /// Parts of URLs that are compared at a time, about.
    pub(crate) parts_at_once: usize,
    /// Things that a suggested edit may ask for and change: nobody could read one with more.
    pub(crate) max_draft_size: usize,
    /// The share of numbers that a way of counting must explain: labels may be wrong, and the votes decide.
    pub(crate) min_counted: f64,
    /// The largest factor between two ways of counting.
    pub(crate) max_times: i64,
    /// Parameters in which two URLs may differ for their difference to suggest anything, and those that are the same of which that
    /// may depend.
    pub(crate) max_params: usize,
    /// Segments in which two URLs may differ for their difference to suggest anything.
    pub(crate) max_segments: usize,
    /// A value is rare if more than so many times as many rows have the key.
    pub(crate) rare_one_in: usize,
    /// Of keys with so few values, none is.
    pub(crate) max_frequent: usize,
}

/// In which order edits are tried, and when to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// Times that edits are looked for.
    pub(crate) max_rounds: usize,
    /// Suggestions that are tried in one round.
    pub(crate) max_suggestions: usize,
    /// Suggestions that are asked how many labels are wrong.
    pub(crate) max_asked_for_noise: usize,
    /// Groups that must agree for an edit to tell how many labels are wrong.
    pub(crate) min_agreeing_for_noise: u64,
    /// An edit is doubtful if more than one vote in so many is against it.
    pub(crate) doubtful_one_in: u64,
    /// Votes that tell whether a rare part of an edit fails.
    pub(crate) min_votes_of_part: u64,
    /// Other values of a key that are asked.
    pub(crate) max_other_values: usize,
    /// Votes that are enough to tell.
    pub(crate) enough_votes: u64,
    /// Edits whose votes are remembered until the next edit is made, so that they need not be counted again.
    pub(crate) max_known_votes: usize,
    /// Refused edits that are remembered: of those that have too few votes, and of the others.
    pub(crate) max_refused: usize,
    /// Groups of an edit that are looked at for examples.
    pub(crate) max_examples: usize,
    /// Duplicates of a URL of which the one is taken that differs least from it.
    pub(crate) max_duplicates_of_example: usize,
}

/// How much work is done for a site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// Work that may be done to choose edits for each byte of the URLs of a site, in units of some ten nanoseconds. Most real
    /// sites take less than 50.
    pub(crate) work_per_byte: u64,
    /// Work that may be done on any site.
    pub(crate) min_work: u64,
    /// Candidates are judged together as long as they take no more than one part in so many of the work that is left: what is
    /// tried with exceptions and conditions takes more.
    pub(crate) work_at_once: u64,
}

/// What the groups that an edit joins say of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vote {
    /// The most votes that one group has for it.
    pub(crate) max_votes_of_group: u64,
    /// A label that contradicts its company so often, and more often than not, is not heard.
    pub(crate) max_contradictions: u32,
    /// Rows of a label that are looked at.
    pub(crate) max_rows_of_label: usize,
    /// For each label that is provably wrong, so many more are likely to be: pages with a label of their own that should
    /// share one.
    pub(crate) likely_wrong: f64,
}

/// When an edit is believed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    /// The share of failing votes that is put up with.
    pub(crate) limit: f64,
    /// The same for edits that forget values and join many URLs, at least: so often labels are wrong anywhere.
    pub(crate) least_limit: f64,
    /// Pages that such an edit may lose on any site: with less, nothing could be proven on a small one.
    pub(crate) least_loss: f64,
    /// The same for edits of a family, where wrong ones fail nearly always and right ones as often as labels are wrong, and
    /// for edits that can do little harm.
    pub(crate) trusted_limit: f64,
    /// The same for edits with many votes that lose next to nothing where they fail: pages that changed between two fetches.
    pub(crate) cheap_limit: f64,
    /// Votes from which on that can be told.
    pub(crate) min_cheap_votes: u64,
    /// Next to nothing, as a share of the URLs of a site.
    pub(crate) cheap_share: f64,
    /// The most that is put up with on top of that for wrong labels.
    pub(crate) max_noise: f64,
    /// More votes against an edit than this are not all mistaken, unless more labels than that are wrong everywhere.
    pub(crate) max_contested: f64,
    /// Votes from which on that can be told.
    pub(crate) min_contested_votes: u64,
    /// The chance that an edit fails more often than it may.
    pub(crate) max_doubt: f64,
    /// Pages that must agree, for an edit without a family.
    pub(crate) min_pages: u64,
    /// Agreeing groups for each page that they show. More than that is one empty page, shown for every value of a key that
    /// would matter if there were anything to show.
    pub(crate) max_groups_per_page: u64,
    /// Votes of groups held out that an edit needs which was chosen for what was seen.
    pub(crate) min_chosen_votes: u64,
    /// Votes that are said to be missing, at most.
    pub(crate) max_missing: u64,
    /// Groups that must be seen in the form that an edit writes, before that is taken for a URL to fetch.
    pub(crate) min_fetchable: u64,
    /// The same as a share: one group in so many.
    pub(crate) fetchable_one_in: u64,
}

/// Of an edit that fails, what is tried with exceptions and conditions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refine {
    /// Conditions under which a failing edit is tried again.
    pub(crate) max_contexts: usize,
    /// An edit that fails more often is not easily believed anywhere.
    pub(crate) max_suspect: f64,
    /// Groups that must agree of pages that show something else from one visit to the next.
    pub(crate) min_volatile: u64,
    /// Groups that must fail for a segment deep in the path to be an exception.
    pub(crate) min_far_failures: u64,
    /// Sections of a site; where there are more, they are names of pages.
    pub(crate) max_sections: usize,
    /// URLs of a section that an edit would change, so that something could have been seen there.
    pub(crate) min_section_urls: u64,
    /// Exceptions that an edit may have.
    pub(crate) max_exceptions: usize,
}

/// How much is written of duplicates that were observed and follow no rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    /// Tables of a site, the largest.
    pub(crate) max_tables: usize,
    /// Entries of one edit.
    pub(crate) max_entries: usize,
}

/// On which hosts an edit holds, and when hosts are one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hosts {
    /// Hosts that must speak for an edit before it is made on all.
    pub(crate) min_hosts: usize,
    /// Hosts of a site that are named, those with most URLs.
    pub(crate) max_hosts: usize,
    /// Pages of a host that must lead to the same path of another.
    pub(crate) min_links: u64,
    /// For each of them, the links that may lead to the host itself.
    pub(crate) max_self_links: f64,
}

/// How alike two pages must look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Likeness {
    /// Observations that are remembered.
    pub(crate) max_entries: usize,
    /// Pairs of one page that are compared.
    pub(crate) max_pairs_per_page: usize,
    /// Pairs of one template that are compared.
    pub(crate) max_pairs_per_template: usize,
    /// *Same* pairs that must differ before S(d) is known.
    pub(crate) min_differing: usize,
    /// *Different* pairs that must be known.
    pub(crate) min_different: usize,
    /// A set of names is left out where more than one pair in so many is as far apart as different pages.
    pub(crate) far_pairs: usize,
    /// The likelihood ratio from which on a difference shows one page: "strong" on the scale of Jeffreys.
    pub(crate) strong_ratio: f64,
    /// The share of different pages that may differ slightly.
    pub(crate) max_mistaken: f64,
    /// The most that is excused, however little is known of the site.
    pub(crate) max_noise: f64,
    /// Distances are from 0 to this.
    pub(crate) max_distance: u32,
    /// Pairs of rows compared in a large component.
    pub(crate) sampled_pairs: usize,
    /// The share of pairs that may have little in common.
    pub(crate) max_far_share: f64,
    /// The least resemblance of two versions of a page.
    pub(crate) min_resemblance: f64,
    /// Kinds of texts that are told apart among rows with something in common.
    pub(crate) max_leaders: usize,
    /// Pairs that are gathered before they are tied.
    pub(crate) max_pairs: usize,
}

/// When a site is a mirror of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mirrors {
    /// Sightings that are remembered, of all sites together.
    pub(crate) max_sightings: usize,
    /// Pages that two sites must have in common.
    pub(crate) min_pages: u64,
    /// Links by which a site must declare itself a mirror.
    pub(crate) min_declared: u64,
    /// For each of them, the links that may say something else.
    pub(crate) max_denied: f64,
    /// The most, with 95 % confidence, of the paths in common under which two sites may show different pages: about what wrong
    /// labels come to.
    pub(crate) max_failure: f64,
    /// The share of the paths in common that may differ, those with labels that may belong elsewhere among them.
    pub(crate) max_doubt: f64,
    /// A page that one site shows under more paths is an error, or its path does not tell what it is.
    pub(crate) max_paths: usize,
    /// Failures that an exception needs.
    pub(crate) min_exception_failures: u64,
    /// Exceptions that a mirror may have.
    pub(crate) max_exceptions: usize,
    /// The share of a mirror's paths that must be seen at the original.
    pub(crate) min_coverage: f64,
}
