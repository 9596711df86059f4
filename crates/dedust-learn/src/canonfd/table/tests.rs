use dedust::rules::{Area, Change, Mapped, ParamName, Spelling, Spot, UrlPart, Value};

use super::Table;
use super::make::goes_alone;
use crate::canonfd::draft::Draft;
use crate::corpus::Corpus;
use crate::{Clues, Crawl, EvidenceKinds};

fn site_of(urls: &[&str]) -> Corpus {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for url in urls {
        let _ = crawl.observe(format!("http://{url}").as_bytes(), &Clues::default());
    }
    crawl.into_corpora().remove(0)
}

/// In arithmetic rows move to where they move when the rule is made to the parts of each; how many do.
fn moves_alike(table: &Table<'_>, change: Change) -> usize {
    let rule = Draft::everywhere(vec![change]);
    let (by_parts, _) = table.moves_of(&rule, None, table.concerned(&rule, None).0);
    assert_eq!(table.moves(&rule), by_parts, "{rule:?}");
    by_parts.len()
}

fn make(table: &mut Table<'_>, change: Change) {
    let rule = Draft::everywhere(vec![change]);
    let moves = table.moves(&rule);
    table.apply(&rule, &moves);
}

#[test]
fn spellings_are_changed_before_and_after_another_rule() {
    use Spelling::{Composed, Lowercase, PlusAsSpace, Underscored, Unescaped, Unpadded};
    let site = site_of(&[
        "a.example/News/007?Q=A+b&q=%C3%84",
        "a.example/news/7?q=a%20b&q=a%CC%88",
        "a.example/NEWS/a%3Ab/x%20y?tag=Aa&tag=007",
        "a.example/a_b/A/A?q",
        "a.example/stays",
        "a.example/%C3%A9/e%CC%81/;x=A?z=000",
        "a.example/A?Q=A+b;q=B",
    ]);
    let mut table = Table::new(&site);
    let areas = [
        Area::Path,
        Area::Params,
        Area::Key(UrlPart::PathSegment(1)),
        Area::Key(UrlPart::QueryParam(ParamName { name: "q".into(), occurrence: 2 })),
    ];
    let mut moved = 0;
    for _ in 0..2 {
        for to in [Lowercase, Unescaped, PlusAsSpace, Underscored, Unpadded, Composed] {
            moved += areas
                .iter()
                .map(|of| moves_alike(&table, Change::Fold { of: of.clone(), to }))
                .sum::<usize>();
        }
        make(&mut table, Change::Fold { of: Area::Path, to: Unescaped });
    }
    assert!(moved > 20, "{moved}");
}

/// Also where others move up, or a separator goes with the last parameter.
#[test]
fn keys_are_taken_away() {
    let site = site_of(&[
        "a.example/p?q=1&q=2&q=3&x=1",
        "a.example/p?q=1&x=1",
        "a.example/p?q=1;x=2",
        "a.example/p?x=1;q=1;q=1",
        "m.www.a.example/p?x=2",
        "www.a.example/p;v=1;v=2?q=2",
        "a.example/stays",
    ]);
    let mut table = Table::new(&site);
    let drop = |key: &UrlPart| Change::Drop(Spot::Key(key.clone()));
    let none = |key: &UrlPart| Change::Map {
        of: key.clone(),
        values: vec![Mapped { is: Value::from("1"), becomes: None }],
    };
    let keys: Vec<UrlPart> = table.keys().iter().filter(|key| goes_alone(key)).cloned().collect();
    let moved: usize =
        keys.iter().map(|key| moves_alike(&table, drop(key)) + moves_alike(&table, none(key))).sum();
    assert!(moved > 20, "{moved}");
    // That pairs add up to form ids is asserted where rows are changed.
    keys.iter().for_each(|key| make(&mut table, drop(key)));
}
