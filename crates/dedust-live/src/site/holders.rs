/*!
Who holds which page, after keys have changed.
*/

use super::{Entry, Recent, Site, State};

impl Site {
    /// Gives entries from the first on other keys, and finds out who holds them. Those that were skipped and whose page nobody holds come
    /// back.
    pub(crate) fn rekey(&mut self, keys: &[u64], led: &[(u32, u64)]) {
        for (entry, &key) in self.entries.iter_mut().zip(keys) {
            entry.key = key;
        }
        for (entry, key) in led {
            if let Some(led) = self.led.get_mut(entry) {
                led.key = *key;
            }
        }
        self.find_holders();
    }

    /// Gives one entry, or the URL that it leads to, another key. To be followed by [`Site::rekey`].
    pub(crate) fn set_key(&mut self, what: Recent, key: u64) {
        match what {
            Recent::Url(entry) => self.entries[entry as usize].key = key,
            Recent::Target(entry) => {
                if let Some(led) = self.led.get_mut(&entry) {
                    led.key = key;
                }
            }
        }
    }

    fn find_holders(&mut self) {
        self.holders.clear();
        self.gone.clear();
        self.orphans.clear();
        let all = 0..self.len();
        for entry in all.clone() {
            let Entry { key, state, .. } = self.entries[entry as usize];
            match state {
                State::Shown => self.hold_if_absent(entry),
                State::Gone => *self.gone.entry(key).or_default() += 1,
                _ => {}
            }
        }
        for entry in all.clone() {
            if matches!(self.entries[entry as usize].state, State::Waiting | State::Released) {
                self.hold_if_absent(entry);
            }
        }
        for entry in all.clone() {
            if self.entries[entry as usize].state == State::Led {
                let target = self.led.get(&entry).map(|led| led.target);
                let next = target.and_then(|target| self.entry_of(target));
                if let Some(next) = next.filter(|&next| self.is_own_target(entry, next))
                    && matches!(self.entries[next as usize].state, State::Skipped | State::Returning)
                    && self.holder_of(self.entries[entry as usize].key).is_none()
                {
                    self.set_state(next, State::Returning);
                    self.hold(next);
                }
                self.hold_if_absent(entry);
            }
        }
        for entry in all.clone() {
            if self.entries[entry as usize].state == State::Gone {
                self.hold_if_absent(entry);
            }
        }
        for entry in all {
            self.settle(entry);
        }
    }

    fn is_own_target(&self, entry: u32, next: u32) -> bool {
        self.entries[entry as usize].key == self.entries[next as usize].key
    }

    /// Has a skipped entry come back if nobody holds its page, and one that was to come back stay if somebody does.
    pub(super) fn settle(&mut self, entry: u32) {
        let Entry { key, state, .. } = self.entries[entry as usize];
        if !matches!(state, State::Skipped | State::Returning) {
            return;
        }
        let holder = self.holder_of(key);
        let is_held = holder.is_some_and(|holder| {
            holder != entry
                && match self.entries[holder as usize].state {
                    State::Gone => self.gone.get(&key).is_some_and(|&count| count >= 2),
                    State::Failed | State::Skipped => false,
                    _ => true,
                }
        });
        match (is_held, holder == Some(entry)) {
            (true, _) => self.set_state(entry, State::Skipped),
            (false, true) if state == State::Returning => {}
            (false, _) => {
                self.set_state(entry, State::Returning);
                self.hold(entry);
            }
        }
    }

    fn hold_if_absent(&mut self, entry: u32) {
        if self.holder_of(self.entries[entry as usize].key).is_none() {
            self.hold(entry);
        }
    }
}
