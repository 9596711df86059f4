/*!
`rules add`: a rule by hand. Whoever adds it vouches for it, so it is pinned.
*/

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use dedust::rules::{Change, Rule, SiteRules};

use super::args::AddArgs;
use super::select::refusal;
use crate::ExitStatus;
use crate::failure::{Refusal, refuse};
use crate::line_source::name_of;
use crate::printer::Printer;
use crate::rule_file;

/// Bytes of JSON that are read of `--json`; a rule has some hundred.
const MAX_BYTES: u64 = 32 << 20;

/// Adds rules to a site.
pub(super) fn run(args: &AddArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    rule_file::check_rewritable(&args.rules)?;
    let mut rules = rule_file::load(&args.rules, false)?;
    let decision = args.decision.checked()?;
    let added = match &args.json {
        Some(path) => read(path)?,
        None => args.drop.iter().map(|part| drop_of(part, args.fetchable)).collect::<Result<_, _>>()?,
    };
    let is_new_site = rules.site(&args.site).is_none();
    let site = rules.site(&args.site).cloned().unwrap_or_default();
    if let SiteRules::Mirror(mirror) = &site {
        return refuse(
            format!("`{}` {mirror}, and has no rules of its own", args.site),
            format!("add the rule to {}, or learn again with --no-mirrors", mirror.of),
        );
    }
    let mut site_rules = site.rules().to_vec();
    let mut refused = site.refused().to_vec();
    let mut told = Vec::new();
    for mut rule in added {
        if let Some(known) = site_rules.iter().find(|known| known.says_same(&rule)) {
            let id = known.id();
            let verb = if known.off.is_some() { "on" } else { "pin" };
            return refuse(
                format!("`{}` has this rule already, as {id}", args.site),
                format!("dedust rules {verb} {} {} {id}", name_of(&args.rules), args.site),
            );
        }
        if rule.off.is_none() && rule.pinned.is_none() {
            rule.pinned = Some(Box::new(decision.clone()));
        }
        refused.retain(|refused| !refused.to_rule(Default::default()).says_same(&rule));
        told.push(format!("{} added: {rule}", rule.id()));
        site_rules.push(rule);
    }
    rules.insert(&args.site, site.with_refused(refused)).map_err(|error| {
        Refusal::new(error.to_string(), "name the site by its registrable domain, such as example.org")
    })?;
    let replaced = rules.replace_rules(&args.site, site_rules);
    replaced.map_err(|error| refusal(error, &rules))?;
    rule_file::rewrite(&args.rules, &rules)?;
    told.iter().for_each(|line| printer.note(line));
    let name = name_of(&args.rules);
    match is_new_site {
        true => printer.note(format_args!("{name} has the new site {}", args.site)),
        false => printer.note(format_args!("written to {name}")),
    }
    Ok(ExitStatus::Success)
}

/// The rule that drops a part.
fn drop_of(part: &str, fetchable: bool) -> Result<Rule, Refusal> {
    let spot = serde_json::from_value(part.into()).map_err(|error| {
        Refusal::new(
            format!("--drop {part}: {error}"),
            "parts are named as q.sid, mp.s, path_0, last_0, sub_0, port or tslash; docs/rules.md has all of them",
        )
    })?;
    Ok(Rule { fetchable, ..Rule::new(Change::Drop(spot)) })
}

/// One rule, or a list.
fn read(path: &Path) -> anyhow::Result<Vec<Rule>> {
    let name = name_of(path);
    let mut text = String::new();
    let length = dedust_io::open_text(path)?
        .take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read {name}"))?;
    if length as u64 > MAX_BYTES {
        let problem = format!("{name} has more than {} MiB", MAX_BYTES >> 20);
        return refuse(problem, "give one rule, or a list of some");
    }
    let is_list = text.trim_start().starts_with('[');
    let rules = if is_list {
        serde_json::from_str(&text)
    } else {
        serde_json::from_str(&text).map(|rule| vec![rule])
    };
    rules.map_err(|error| {
        Refusal::new(
            format!("{name} has no rule: {error}"),
            "a rule looks like this: {\"change\": [{\"drop\": \"q.sid\"}]}; docs/rules.md has all of them",
        )
        .into()
    })
}
