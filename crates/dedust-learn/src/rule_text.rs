/*!
Rules in words, for lessons and reports: `q.page is 1, no path_2: drop q.page`.

What must be true of a URL comes first, then a colon, then what is changed, in order. `{q.t}` is the value of a key,
`{path_1.digits[-1] * 20 - 20}` what is made of it, `{path_2..}` the path from a segment on.
*/

use dedust::rules::{
    Area, Change, Closed, Count, Mapped, PathPart, Replace, Rule, Source, Spelling, Test, Value,
};

/// The rule on one line.
pub fn rule_text(rule: &Rule) -> String {
    let mut when: Vec<String> =
        rule.when.iter().map(|(spot, test)| test_text(&spot.to_string(), test)).collect();
    match rule.closed {
        Closed::No => {}
        Closed::ExceptParams => when.push("nothing else but parameters".into()),
        _ => when.push("nothing else".into()),
    }
    let mut change: Vec<String> = rule.change.iter().map(change_text).collect();
    if rule.last {
        change.push("end".into());
    }
    match when.is_empty() {
        true => change.join(", "),
        false => format!("{}: {}", when.join(", "), change.join(", ")),
    }
}

fn test_text(spot: &str, test: &Test) -> String {
    match test {
        Test::Is(value) => format!("{spot} is {}", value_text(value)),
        Test::OneOf(values) => format!("{spot} is {}", values_text(values)),
        Test::Not(values) => format!("{spot} is not {}", values_text(values)),
        Test::Any(any) => format!("{spot} is <{any}>"),
        Test::Absent => format!("no {spot}"),
        other => format!("{spot} {other:?}"),
    }
}

fn value_text(value: &Value) -> String {
    match value.as_text() {
        Some("") => "empty".into(),
        _ => value.to_string(),
    }
}

fn values_text(values: &[Value]) -> String {
    values.iter().map(value_text).collect::<Vec<_>>().join(" or ")
}

fn change_text(change: &Change) -> String {
    match change {
        Change::Drop(spot) => format!("drop {spot}"),
        Change::Forget(spot) => format!("forget {spot}"),
        Change::ForgetPath => "forget the path".into(),
        Change::Map { of, values } => {
            let mapped = |Mapped { is, becomes }: &Mapped| {
                format!("{} as {}", value_text(is), becomes.as_deref().unwrap_or("none"))
            };
            format!("{of} {}", values.iter().map(mapped).collect::<Vec<_>>().join(" and "))
        }
        Change::Fold { of, to } => {
            let of = match of {
                Area::Path => "the path".into(),
                Area::Params => "all parameters".into(),
                Area::Key(key) => key.to_string(),
                other => format!("{other:?}"),
            };
            let to = match to {
                Spelling::Lowercase => "in lower case",
                Spelling::Unescaped => "unescaped",
                Spelling::PlusAsSpace => "with + as %20",
                Spelling::Underscored => "with _ for spaces",
                Spelling::Unpadded => "without leading zeros",
                Spelling::Composed => "with composed accents",
                _ => "in another spelling",
            };
            format!("{of} {to}")
        }
        Change::Set { key, to } if to.is_empty() => format!("{key} without value"),
        Change::Set { key, to } => format!("{key} = {}", to.iter().map(source_text).collect::<String>()),
        Change::Path(parts) => {
            let parts: Vec<String> = parts.iter().map(part_text).collect();
            format!("path = /{}", parts.join("/"))
        }
        Change::Unrepeat => "repeated directories once".into(),
        Change::UnrepeatParams => "repeated parameters once".into(),
        Change::SplitParams => "; separates parameters".into(),
        Change::Order(keys) => {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            format!("order {}", keys.join(" "))
        }
        Change::Replace(list) => list.iter().map(replace_text).collect::<Vec<_>>().join(", "),
    }
}

fn replace_text(Replace { from, to, at_start, at_end }: &Replace) -> String {
    let (start, end) = (if *at_start { "^" } else { "" }, if *at_end { "$" } else { "" });
    format!("{start}{from}{end} -> {start}{to}{end}")
}

fn part_text(part: &PathPart) -> String {
    match part {
        PathPart::Text(text) => text.to_string(),
        PathPart::Segments { from, but_last: 0 } => format!("{{path_{from}..}}"),
        PathPart::Segments { from, but_last } => format!("{{path_{from}..but last {but_last}}}"),
        PathPart::First(count) => format!("{{first {count}}}"),
        PathPart::Last(count) => format!("{{last {count}}}"),
        PathPart::Value { from, split: None } => source_text(from),
        PathPart::Value { from, split: Some(split) } => format!("{} split at {split}", source_text(from)),
        other => format!("{other:?}"),
    }
}

fn source_text(source: &Source) -> String {
    let Source { prefix, of, part, count, table, suffix } = source;
    let Some(of) = of else { return format!("{prefix}{suffix}") };
    let mut value = of.to_string();
    if let Some(part) = part {
        value += &format!(".{part}");
    }
    if let Some(Count { times, plus }) = count {
        value += &format!(" * {times} {} {}", if *plus < 0 { '-' } else { '+' }, plus.abs());
    }
    if !table.is_empty() {
        let rows: Vec<String> = table.iter().map(|(from, to)| format!("{from}={to}")).collect();
        value += &format!(" by {}", rows.join(" "));
    }
    format!("{prefix}{{{value}}}{suffix}")
}
