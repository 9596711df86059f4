/*!
A deterministic site with a forum, a shop, a wiki and news, for benchmarks: same size, same bytes.

About a quarter of the URLs share their page with another one: session ids in query and path, `www.`, print views,
two ways to write a wiki title, a second address for posts. Every URL is labelled with its page. The rest is what makes
learning hard to do in linear time: many ids, titles and slugs, parameters that matter, pagination.
No URL is taken from a real site.
*/

use std::fmt::Write as _;

/// URLs with the number of their page, in one buffer.
pub struct Site {
    text: String,
    /// Where each URL and its label end.
    ends: Vec<(usize, usize)>,
    /// The number of distinct pages.
    pub pages: usize,
}

const WORDS: [&str; 24] = [
    "garden", "summer", "review", "guide", "winter", "music", "city", "report", "market", "health", "school",
    "travel", "recipe", "coffee", "history", "science", "river", "camera", "phone", "kitchen", "museum",
    "concert", "forest", "bridge",
];

impl Site {
    /// A site of exactly `size` URLs.
    pub fn generate(size: usize) -> Self {
        let mut site =
            Self { text: String::with_capacity(size * 64), ends: Vec::with_capacity(size), pages: 0 };
        while site.ends.len() < size {
            let room = size - site.ends.len();
            site.push_page(room);
        }
        site
    }

    /// The URLs, each with its label.
    pub fn rows(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts.zip(&self.ends).map(|(start, &(url_end, end))| {
            (&self.text.as_bytes()[start..url_end], &self.text.as_bytes()[url_end..end])
        })
    }

    /// The number of URLs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<(usize, usize)>()
    }

    /// The next page: one URL, or, for about one page in nine, two or three.
    fn push_page(&mut self, room: usize) {
        let page = self.pages as u64;
        self.pages += 1;
        let random = mix(page);
        let copies = match random % 100 {
            _ if template(page) >= FIRST_WITHOUT_DUPLICATES => 1,
            0..8 => 1,
            8..50 => 2,
            _ => 3,
        };
        for copy in 0..room.min(copies) {
            // Which spelling of the page comes first differs from page to page.
            let spelling = ((random >> 8) as usize + copy) % 3;
            push_url(&mut self.text, page, spelling);
            let url_end = self.text.len();
            self.text.push_str(&page.to_string());
            self.ends.push((url_end, self.text.len()));
        }
    }
}

/// What kind of page it is: a number below 100, so that kinds have shares in percent.
fn template(page: u64) -> u64 {
    mix(!page) % 100
}

/// Templates below have several spellings of nearly each page; from here on there is one, all of which matters.
const FIRST_WITHOUT_DUPLICATES: u64 = 12;

/// Writes one of three spellings of a page.
fn push_url(text: &mut String, page: u64, spelling: usize) {
    let random = mix(page ^ 0xD1B5_4A32_D192_ED03);
    let token = mix(page * 3 + spelling as u64);
    let (word, other) = (pick(random >> 8), pick(random >> 16));
    let (year, month) = (2005 + (random >> 24) % 20, 1 + (random >> 32) % 12);
    let order = ["price", "name", "date"][(random >> 40) as usize % 3];
    let written = match (template(page), spelling) {
        (0..3, 0) => write!(text, "http://forum.example.org/showthread.php?t={page}"),
        (0..3, _) => write!(text, "http://forum.example.org/showthread.php?t={page}&s={token:016x}"),
        (3..5, 0) => write!(text, "http://forum.example.org/post/{page}"),
        (3..5, _) => write!(text, "http://forum.example.org/showpost.php?p={page}&s={token:016x}"),
        (5..7, 0) => write!(text, "http://example.org/product/{word}-{other}-{page}"),
        (5..7, 1) => write!(text, "http://www.example.org/product/{word}-{other}-{page}"),
        (5..7, _) => write!(text, "http://www.example.org/product/{word}-{other}-{page}?ref={token:x}"),
        (7..9, 0) => write!(text, "http://example.org/user/{page}"),
        (7..9, _) => write!(text, "http://example.org/user/{page};jsessionid={token:016X}"),
        (9..11, 0) => write!(text, "http://wiki.example.org/wiki/{word}_{other}_{page}"),
        (9..11, 1) => write!(text, "http://wiki.example.org/w/index.php?title={word}_{other}_{page}"),
        (9..11, _) => {
            write!(text, "http://wiki.example.org/w/index.php?title={word}_{other}_{page}&printable=yes")
        }
        (11, 0) => write!(text, "http://example.org/news/{year}/{month:02}/{page}"),
        (11, 1) => write!(text, "http://example.org/news/{year}/{month:02}/{page}/print"),
        (11, _) => write!(text, "http://example.org/news/{year}/{month:02}/{page}?from={token:x}"),
        (FIRST_WITHOUT_DUPLICATES..30, _) => {
            write!(text, "http://example.org/shop/{word}?page={page}&sort={order}")
        }
        (30..45, _) => write!(text, "http://example.org/blog/{year}/{month:02}/{word}-{other}-{page}.html"),
        (45..55, _) => write!(text, "http://example.org/search?q={word}+{other}+{page}"),
        (55..70, _) => write!(text, "http://wiki.example.org/w/index.php?title={word}_{other}&oldid={page}"),
        (70..85, _) => {
            write!(text, "http://forum.example.org/forumdisplay.php?f={}&page={page}", random % 90)
        }
        _ => write!(text, "http://static.example.org/{word}/{other}/{token:012x}.jpg"),
    };
    written.expect("a string takes all text");
}

fn pick(random: u64) -> &'static str {
    WORDS[(random % WORDS.len() as u64) as usize]
}

/// The output function of SplitMix64: small, and the same on every machine.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
