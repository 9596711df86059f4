/*!
Which rules are made to a [`EditedUrl`]? All that concern it, in order; only those that are triggered are asked.
*/

use super::change::{CannotChange, Changing};
use super::edited_url::{EditedUrl, Located, raw};
use super::{
    EXCEPT_PARAMS, FETCHABLE, IS_ALONE, IS_CLOSED, IS_LAST, MAY_FAIL, NEEDS_LABELS, RuleMask, RuleProgram,
    StoredRule, StoredSpot, StoredTest, code,
};
use crate::encoding::{Cursor, array_at};
use crate::program::class_code::is_in_class;
use crate::url::ParsedUrl;

/// Which rules are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of them, for a key.
    All,
    /// Those whose results can be fetched, for a canonical URL.
    Fetchable,
}

/// What came of making rules: masks of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Those that changed something.
    pub(super) changed: RuleMask,
    /// Those that must be asked once more.
    pub(super) again: RuleMask,
    /// Those that must not have changed anything: a rule that is no part of the scope would have seen it.
    pub(super) conflicts: RuleMask,
    /// The last rule of those that concern the URL was asked.
    is_done: bool,
}

/// What came of one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    /// Its changes were made.
    pub(crate) is_made: bool,
    /// They changed something.
    pub(crate) is_changed: bool,
    /// No later rule is to be made.
    pub(crate) is_last: bool,
}

/// What was read of a program; `None` when it is damaged.
pub(super) type Read<T> = Option<T>;

impl EditedUrl {
    /// Whether no rule whose result can be fetched may concern this URL.
    #[inline]
    pub(crate) fn stays(&self, program: &RuleProgram<'_>) -> bool {
        self.candidates(program) & program.fetchable() == 0
    }

    /// Rules that may concern the URL as it is.
    #[inline]
    fn candidates(&self, program: &RuleProgram<'_>) -> RuleMask {
        if self.parts.path_is_forgotten {
            // Its segments are there and not there.
            return self.triggered;
        }
        self.triggered & program.with_depth(self.parts.segments.len())
    }

    /// Makes all rules of a scope, or those of a mask and, once one of them has changed something, all behind it.
    #[inline]
    pub(super) fn run(
        &mut self,
        url: &ParsedUrl,
        program: &RuleProgram<'_>,
        scope: Scope,
        asked: RuleMask,
    ) -> Outcome {
        let all = if scope == Scope::All { RuleMask::MAX } else { program.matters() };
        let mut asked = asked & all;
        let mut outcome = Outcome::default();
        let mut left = asked;
        loop {
            let candidates = self.candidates(program) & left;
            if candidates == 0 {
                return outcome;
            }
            let bit = candidates.trailing_zeros();
            for number in program.sharing(bit) {
                self.run_one(url, program, (number, bit), scope, &mut outcome);
                if outcome.is_done {
                    return outcome;
                }
            }
            asked = if outcome.changed == 0 { asked } else { all };
            left = asked & (RuleMask::MAX << bit << 1);
        }
    }

    /// Makes one rule, if it is of the scope.
    #[inline]
    fn run_one(
        &mut self,
        url: &ParsedUrl,
        program: &RuleProgram<'_>,
        (number, bit): (usize, u32),
        scope: Scope,
        outcome: &mut Outcome,
    ) -> Read<()> {
        let (rule, mut cursor) = program.rule(number)?;
        let is_of_scope = scope == Scope::All || rule.flags & FETCHABLE != 0;
        if !is_of_scope && rule.flags & IS_ALONE != 0 {
            return Some(());
        }
        if rule.flags & NEEDS_LABELS != 0 {
            self.ensure_labels(url, program);
        }
        if !self.all_hold(url, program, rule, &mut cursor)? {
            return Some(());
        }
        outcome.is_done = rule.flags & IS_LAST != 0;
        if !is_of_scope {
            outcome.conflicts |= rule.conflicts;
            return Some(());
        }
        if let Ok(true) = self.make(url, program, rule, cursor)? {
            outcome.changed |= 1 << bit;
            outcome.again |= rule.again;
        }
        Some(())
    }

    /// Makes the rule with a number, whether it waits for anything or not.
    pub(crate) fn run_only(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>, number: usize) -> Made {
        let mut made = || {
            let (rule, mut cursor) = program.rule(number)?;
            if !self.all_hold(url, program, rule, &mut cursor)? {
                return None;
            }
            let changed = self.make(url, program, rule, cursor)?;
            let (is_made, is_changed) = (changed.is_ok(), changed.unwrap_or(false));
            Some(Made { is_made, is_changed, is_last: rule.flags & IS_LAST != 0 })
        };
        made().unwrap_or_default()
    }

    /// Whether the rule with a number is the last for this URL.
    pub(super) fn ends_at(&self, url: &ParsedUrl, program: &RuleProgram<'_>, number: usize) -> bool {
        let ends = || {
            let (rule, mut cursor) = program.rule(number)?;
            Some(rule.flags & IS_LAST != 0 && self.all_hold(url, program, rule, &mut cursor)?)
        };
        ends().unwrap_or(false)
    }

    /// Whether all tests of a rule are true of the URL, and it has no other parts if the rule is closed.
    #[inline]
    fn all_hold(
        &self,
        url: &ParsedUrl,
        program: &RuleProgram<'_>,
        rule: StoredRule,
        cursor: &mut Cursor<'_>,
    ) -> Read<bool> {
        for _ in 0..rule.tests {
            if !self.holds(url, program, cursor)? {
                return Some(false);
            }
        }
        if rule.flags & IS_CLOSED == 0 { Some(true) } else { self.has_no_others(url, rule, cursor) }
    }

    /// Whether there are no parts but those that a closed rule asks for, whose tests are true. The scheme is always there.
    #[inline(never)]
    fn has_no_others(&self, url: &ParsedUrl, rule: StoredRule, cursor: &mut Cursor<'_>) -> Read<bool> {
        let parts = &self.parts;
        let mut count = parts.labels.len()
            + parts.segments.len()
            + parts.path_params.len()
            + usize::from(parts.port.is_some())
            + usize::from(parts.hashbang.is_some())
            + usize::from(parts.has_slash);
        if rule.flags & EXCEPT_PARAMS == 0 {
            count += parts.params.len() + usize::from(parts.separator != b'&');
        }
        let mut asked_for = usize::from(cursor.u16()?);
        for _ in 0..cursor.u16()? {
            asked_for += usize::from(self.get(url, StoredSpot::read(cursor)?).is_some());
        }
        Some(count == asked_for && !parts.path_is_forgotten)
    }

    /// Makes the changes of a rule: whether they changed anything.
    #[inline]
    fn make<'p>(
        &mut self,
        url: &ParsedUrl,
        program: &RuleProgram<'p>,
        rule: StoredRule,
        mut cursor: Cursor<'p>,
    ) -> Read<Result<bool, CannotChange>> {
        if rule.flags & MAY_FAIL != 0 {
            self.before.copy_from(&self.parts);
        }
        let (room, written) = (self.room, self.written.len());
        let mut change = Changing { edited: self, url, program, is_changed: false };
        for _ in 0..rule.changes {
            match change.make(&mut cursor) {
                Some(Ok(())) => {}
                Some(Err(CannotChange)) | None => {
                    if rule.flags & MAY_FAIL != 0 {
                        std::mem::swap(&mut self.parts, &mut self.before);
                    }
                    self.room = room;
                    self.written.truncate(written);
                    return Some(Err(CannotChange));
                }
            }
        }
        Some(Ok(change.is_changed))
    }

    /// Whether the next test is true of the URL.
    #[inline(always)]
    fn holds(&self, url: &ParsedUrl, program: &RuleProgram<'_>, cursor: &mut Cursor<'_>) -> Read<bool> {
        let test = StoredTest::read(cursor)?;
        let value = self.get(url, test.spot);
        match test.code {
            code::IS => Some(value.is_some_and(|value| program.is_text(test.number, value))),
            code::IS_NOT => Some(!value.is_some_and(|value| program.is_text(test.number, value))),
            code::ABSENT => Some(value.is_none()),
            _ => holds_of_many(program, test, value, cursor),
        }
    }
}

/// Whether a test is true of a value that has a class, or is one of several.
#[inline(never)]
fn holds_of_many(
    program: &RuleProgram<'_>,
    test: StoredTest,
    value: Option<Located<'_>>,
    cursor: &mut Cursor<'_>,
) -> Read<bool> {
    let count = test.number as usize;
    Some(match test.code {
        code::ONE_OF => find_entry::<1>(program, count, cursor, value)?.is_some(),
        code::NOT => find_entry::<1>(program, count, cursor, value)?.is_none(),
        code::ANY => {
            let is_in_class = is_in_class(cursor, value.and_then(raw))?;
            value.is_some() && is_in_class
        }
        code::ANY_BUT => {
            let is_in_class = is_in_class(cursor, value.and_then(raw))?;
            let is_listed = find_entry::<1>(program, count, cursor, value)?.is_some();
            if value.is_some() { is_in_class && !is_listed } else { test.is_optional }
        }
        _ => return None,
    })
}

/// Tables of no more entries are searched from first to last.
const MAX_SCANNED: usize = 8;

/// The entry for a value in the table that comes next, after the first of its `N` texts.
pub(super) fn look_up<'p, const N: usize>(
    program: &RuleProgram<'_>,
    cursor: &mut Cursor<'p>,
    value: Option<Located<'_>>,
) -> Read<Option<Cursor<'p>>> {
    let count = cursor.u32()? as usize;
    find_entry::<N>(program, count, cursor, value)
}

/// The entry for a value in a table of so many entries.
#[inline]
fn find_entry<'p, const N: usize>(
    program: &RuleProgram<'_>,
    count: usize,
    cursor: &mut Cursor<'p>,
    value: Option<Located<'_>>,
) -> Read<Option<Cursor<'p>>> {
    let table = cursor.take(count.checked_mul(4 * N)?)?;
    let Some(value) = value else { return Some(None) };
    let number = |index: usize| array_at(table, 4 * N * index).map(|bytes| u32::from_le_bytes(*bytes));
    let entry = |index: usize| Some(Some(Cursor::new(table, 4 * N * index + 4)));
    if count <= MAX_SCANNED {
        for index in 0..count {
            if program.is_text(number(index)?, value) {
                return entry(index);
            }
        }
        return Some(None);
    }
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        match program.text(&mut Cursor::new(table, 4 * N * middle))?.cmp(&raw(value)) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return entry(middle),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Some(None)
}
