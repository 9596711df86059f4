/*!
Names of the keys of a set on the server, all of which start with its prefix.

With a time to live, keys are in one set for each period of half that time, which the server removes as a whole. A key is found in the period in
which it was written and in the two after it: for the time to live at least, and for half as long again at most.
*/

/// Periods of a time to live.
const PERIODS: u64 = 2;

/// Names under a prefix.
#[derive(Clone, Debug)]
pub(super) struct Names {
    prefix: String,
    /// Which rules made the keys.
    version: String,
}

/// Where keys are looked up and written at a time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CurrentSets {
    /// Sets that may have a key.
    pub(super) found_in: Vec<String>,
    /// The one of them that a key is added to.
    pub(super) added_to: String,
    /// In how many seconds the server is to remove that one. By its own clock: that of this machine may be wrong.
    pub(super) gone_in: Option<u64>,
    /// Changes when keys are forgotten.
    pub(super) period: u64,
}

/// How rules are called whose fingerprint is this.
pub(super) fn version_of(rules: Option<u128>) -> String {
    rules.map_or("no-rules".into(), |fingerprint| format!("{fingerprint:032x}"))
}

impl Names {
    pub(super) fn new(prefix: &str, version: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), version: version.into() }
    }

    /// Those of other rules.
    pub(super) fn of_rules(&self, fingerprint: u128) -> Self {
        Self { prefix: self.prefix.clone(), version: version_of(Some(fingerprint)) }
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn marker(&self) -> String {
        format!("{}:set", self.prefix)
    }

    pub(super) fn last_rules(&self) -> String {
        format!("{}:rules", self.prefix)
    }

    pub(super) fn versions(&self) -> String {
        format!("{}:versions", self.prefix)
    }

    pub(super) fn sessions(&self) -> String {
        self.of_version("sessions")
    }

    pub(super) fn session(&self, name: &str) -> String {
        self.of_version(&format!("session:{name}"))
    }

    pub(super) fn asker(&self, token: &str) -> String {
        self.of_version(&format!("asker:{token}"))
    }

    fn of_version(&self, name: &str) -> String {
        format!("{}:{}:{name}", self.prefix, self.version)
    }

    /// Where keys are at a time, in a set that remembers them for `ttl` seconds.
    pub(super) fn current_sets(&self, ttl: u64, now: u64) -> CurrentSets {
        let keys = self.of_version("keys");
        if ttl == 0 {
            return CurrentSets { found_in: vec![keys.clone()], added_to: keys, gone_in: None, period: 0 };
        }
        let length = ttl.div_ceil(PERIODS);
        let period = now / length;
        let name = |period: u64| format!("{keys}:{period}");
        // The next one too: the clock of another process may be a little ahead.
        let found_in = (period.saturating_sub(PERIODS)..=period.saturating_add(1)).rev().map(name).collect();
        // After the last period in which it is looked at, even by a clock that is behind.
        let gone_in = Some(period.saturating_add(PERIODS + 2).saturating_mul(length).saturating_sub(now));
        CurrentSets { found_in, added_to: name(period), gone_in, period }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_for_its_time_and_at_most_half_as_long_again() {
        let names = Names::new("crawl", "v");
        let (ttl, written_at) = (100, 1_000_049);
        let current = names.current_sets(ttl, written_at);
        let is_found = |now: u64| names.current_sets(ttl, now).found_in.contains(&current.added_to);
        for now in written_at..=written_at + ttl {
            assert!(is_found(now), "{now}");
        }
        assert!(!is_found(written_at + ttl * 3 / 2));
        // By a clock that is behind by less than a period, also.
        assert!(is_found(written_at - 50));
        assert!(current.gone_in.unwrap() >= ttl * 3 / 2);
    }

    #[test]
    fn any_time_can_be_read_from_a_server() {
        for ttl in [1, 2, 3, u64::MAX] {
            for now in [0, 1, u64::MAX] {
                assert!(Names::new("crawl", "v").current_sets(ttl, now).gone_in.is_some());
            }
        }
    }

    #[test]
    fn without_a_time_to_live_there_is_one_set() {
        let names = Names::new("crawl", version_of(Some(7)));
        let current_sets = names.current_sets(0, 1_000);
        assert_eq!(current_sets.added_to, "crawl:00000000000000000000000000000007:keys");
        assert_eq!(current_sets, names.current_sets(0, 1 << 40));
    }
}
