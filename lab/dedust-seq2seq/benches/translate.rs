//! How fast models are trained and decoded, in CPU time on one thread.
//!
//!     cargo bench -p dedust-seq2seq --features neural              # all
//!     cargo bench -p dedust-seq2seq --features neural -- default   # without the paper's variant, which takes minutes
//!
//! The task is made up: 5,000 distinct pairs of templates, in which four of twelve parameters do not matter and one path
//! has two forms. Exact match on held-out pairs is checked before anything is reported.

#![expect(clippy::print_stdout, reason = "a program of its own")]

use cpu_time::ProcessTime;
use dedust_seq2seq::Options;
use dedust_seq2seq::chance::Chance;
use dedust_seq2seq::model::{CopyModel, Epoch, Network, PAPER_UNITS, PaperModel, Schedule, cpu, train};
use dedust_seq2seq::pair::{Pair, Pairs, Symbol};
use dedust_seq2seq::paper::{MAX_ARGUMENTS, SCHEDULE};

const PAIRS: usize = 5_000;
const DECODED: usize = 20_000;
/// Words 1 to 3 are arguments; sections and parameters follow.
const SECTIONS: u32 = 60;
const PARAMS: u32 = 12;
const JUNK: u32 = 4;

fn main() {
    let only = std::env::args().nth(1).filter(|name| !name.starts_with("--"));
    let is_wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let mut chance = Chance::new(7, "pairs");
    let pairs =
        Pairs { train: sample(PAIRS, &mut chance), held_out: sample(500, &mut chance), ..Pairs::default() };
    let unseen = sample(DECODED, &mut chance);
    let words = (MAX_ARGUMENTS as u32 + 1 + SECTIONS + PARAMS) as usize;
    if is_wanted("default") {
        let Options { units, schedule, .. } = Options::default();
        let model = CopyModel::new(words, units, &mut Chance::new(0, "model"), &cpu());
        measure("default", model, &pairs, &schedule, &unseen);
    }
    if is_wanted("paper") {
        let placeholders = |pair: &Pair| number_arguments(pair);
        let pairs = Pairs {
            train: pairs.train.iter().map(placeholders).collect(),
            held_out: pairs.held_out.iter().map(placeholders).collect(),
            ..Pairs::default()
        };
        let unseen: Vec<Pair> = unseen.iter().take(2_000).map(placeholders).collect();
        let model = PaperModel::new(words, PAPER_UNITS, &mut Chance::new(0, "model"), &cpu());
        measure("paper", model, &pairs, &SCHEDULE, &unseen);
    }
}

fn measure<M: Network>(name: &str, model: M, pairs: &Pairs, schedule: &Schedule, unseen: &[Pair]) {
    let started = ProcessTime::now();
    let told = |epoch: &Epoch| {
        let (number, loss, exact) = (epoch.number, epoch.held_out_loss, epoch.exact_match);
        let seconds = started.elapsed().as_secs_f64();
        println!("  epoch {number}: held-out loss {loss:.4}, exact match {exact:.4}, {seconds:.1} s CPU");
    };
    let trained = train(model, pairs, schedule, &mut Chance::new(0, "order"), &cpu(), &told);
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{name}: {PAIRS} pairs, {} epochs, {seconds:.1} s CPU, {:.0} pairs/s; held-out exact match {:.4}",
        trained.epochs,
        (trained.epochs * PAIRS) as f64 / seconds,
        trained.best.exact_match
    );
    let sources: Vec<&[u32]> = unseen.iter().map(|pair| pair.source.as_slice()).collect();
    let started = ProcessTime::now();
    let decoded = trained.model.decode(&sources, &cpu());
    let seconds = started.elapsed().as_secs_f64();
    let right = decoded.iter().zip(unseen).filter(|(symbols, pair)| {
        let same =
            |symbols: &Vec<Symbol>| spelled(symbols, &pair.source) == spelled(&pair.target, &pair.source);
        symbols.as_ref().is_some_and(same)
    });
    let (right, all) = (right.count(), unseen.len());
    println!("{name}: {all} unseen templates decoded, {:.0}/s CPU; {right} right", all as f64 / seconds);
}

/// Words, and places of arguments: a word that is copied is that word.
fn spelled(symbols: &[Symbol], source: &[u32]) -> Vec<Symbol> {
    let spell = |symbol: &Symbol| match *symbol {
        Symbol::Copy(place) if !(1..=3).contains(&source[usize::from(place)]) => {
            Symbol::Word(source[usize::from(place)])
        }
        symbol => symbol,
    };
    symbols.iter().map(spell).collect()
}

/// Templates with some parameters, and what remains of them.
fn sample(count: usize, chance: &mut Chance) -> Vec<Pair> {
    let section = MAX_ARGUMENTS as u32 + 1;
    let mut pairs = Vec::with_capacity(count);
    while pairs.len() < count {
        let chosen = chance.number() % (1 << PARAMS);
        let which = (chance.number() % u64::from(SECTIONS)) as u32;
        // A section with a number becomes the one with the even number before it.
        let mut source = vec![section + which, 2];
        let mut target = vec![Symbol::Word(section + which - which % 2), Symbol::Copy(1)];
        for param in (0..PARAMS).filter(|param| chosen & (1 << param) != 0).take(5) {
            source.extend([section + SECTIONS + param, 3]);
            if param >= JUNK {
                target.extend([
                    Symbol::Word(section + SECTIONS + param),
                    Symbol::Copy(source.len() as u16 - 1),
                ]);
            }
        }
        pairs.push(Pair { source, target, weight: 1.0 });
    }
    pairs
}

/// The same pair with placeholders for arguments.
fn number_arguments(pair: &Pair) -> Pair {
    let mut count = 0;
    let source: Vec<u32> = pair
        .source
        .iter()
        .map(|&word| {
            let is_argument = (1..=3).contains(&word);
            count += u32::from(is_argument);
            if is_argument { count } else { word }
        })
        .collect();
    let word = |symbol: &Symbol| match *symbol {
        Symbol::Copy(place) => Symbol::Word(source[usize::from(place)]),
        word => word,
    };
    Pair { target: pair.target.iter().map(word).collect(), source: source.clone(), weight: pair.weight }
}
