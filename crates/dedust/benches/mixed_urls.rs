/*!
A deterministic list of URLs as a broad crawl meets them, for benchmarks: same seed, same bytes.

About nine in ten are in normal form already. The rest have what link extraction leaves in: capital letters in
hosts, default ports, fragments, dot segments, lower-case or needless escapes, spaces, characters outside ASCII,
international host names. No URL is taken from a real site.
*/

/// Generates `count` URLs.
pub fn mixed_urls(count: usize, seed: u64) -> Vec<String> {
    let mut random = Random { state: seed };
    (0..count).map(|_| random.url()).collect()
}

/// SplitMix64: small, and the same on every machine.
struct Random {
    state: u64,
}

const WORDS: [&str; 48] = [
    "news", "article", "blog", "product", "garden", "summer", "review", "best", "guide", "winter", "music",
    "city", "report", "market", "health", "school", "travel", "recipe", "coffee", "history", "science",
    "river", "mountain", "football", "election", "budget", "camera", "phone", "laptop", "fashion", "house",
    "kitchen", "weather", "museum", "library", "concert", "festival", "ocean", "forest", "railway", "bridge",
    "energy", "climate", "teacher", "student", "doctor", "village", "island",
];
const TOP_LEVEL: [&str; 10] = ["com", "com", "com", "org", "net", "de", "co.uk", "fr", "io", "info"];
const EXTENSIONS: [&str; 5] = [".html", ".htm", ".php", ".aspx", ".jpg"];
const PARAMETERS: [&str; 14] = [
    "id", "page", "q", "lang", "sort", "category", "view", "start", "action", "ref", "item", "year", "tag",
    "sid",
];
const TRACKING: [&str; 4] =
    ["utm_source=newsletter", "utm_medium=email", "utm_campaign=spring_sale_2024", "gclid=CjwKCAjw9e-3BhBc"];
/// Characters outside ASCII, as they are typed and as they are escaped.
const FOREIGN: [(&str, &str); 6] = [
    ("münchen", "m%C3%BCnchen"),
    ("café", "caf%C3%A9"),
    ("новости", "%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8"),
    ("日本語", "%E6%97%A5%E6%9C%AC%E8%AA%9E"),
    ("niño", "ni%C3%B1o"),
    ("中文", "%E4%B8%AD%E6%96%87"),
];
const INTERNATIONAL_HOSTS: [&str; 3] = ["bücher.example", "пример.example", "www.例え.example"];

impl Random {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// True in `share` of a thousand cases.
    fn happens(&mut self, share: u64) -> bool {
        self.below(1000) < share
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn url(&mut self) -> String {
        let mut url = String::with_capacity(160);
        url.push_str(if self.happens(5) {
            "HTTP://"
        } else if self.happens(700) {
            "https://"
        } else {
            "http://"
        });
        self.push_host(&mut url);
        self.push_path(&mut url);
        if self.happens(450) {
            self.push_query(&mut url);
        }
        if self.happens(25) {
            url.push_str("#section-");
            url.push_str(self.pick(&WORDS));
        }
        url
    }

    fn push_host(&mut self, url: &mut String) {
        if self.happens(4) {
            url.push_str(self.pick(&INTERNATIONAL_HOSTS));
            return;
        }
        let start = url.len();
        url.push_str(if self.happens(600) { "www." } else { "" });
        url.push_str(self.pick(&WORDS));
        url.push_str(if self.happens(300) { "-" } else { "" });
        url.push_str(self.pick(&WORDS));
        url.push('.');
        url.push_str(self.pick(&TOP_LEVEL));
        if self.happens(12) {
            let upper = url[start..].to_ascii_uppercase();
            url.replace_range(start.., &upper);
        }
        if self.happens(6) {
            url.push_str(if url.starts_with("https") { ":443" } else { ":80" });
        } else if self.happens(5) {
            url.push_str(":8080");
        }
    }

    fn push_path(&mut self, url: &mut String) {
        for _ in 0..self.below(4) {
            url.push('/');
            if self.happens(8) {
                url.push_str("../");
            }
            url.push_str(self.pick(&WORDS));
        }
        if self.happens(80) {
            url.push_str(&format!("/{}/{:02}", 2005 + self.below(20), 1 + self.below(12)));
        }
        url.push('/');
        if self.happens(60) {
            let (typed, escaped) = self.pick(&FOREIGN);
            url.push_str(if self.happens(250) { typed } else { escaped });
        } else if self.happens(450) {
            for _ in 0..3 + self.below(6) {
                url.push_str(self.pick(&WORDS));
                url.push('-');
            }
            url.push_str(&self.below(1_000_000).to_string());
        } else {
            url.push_str(self.pick(&WORDS));
        }
        if self.happens(12) {
            url.push_str(self.pick(&["%7Ehome", " copy", "%c3%a9t%c3%a9", "(1)", "a%2Fb"]));
        }
        if self.happens(350) {
            url.push_str(self.pick(&EXTENSIONS));
        } else if self.happens(300) {
            url.push('/');
        }
    }

    fn push_query(&mut self, url: &mut String) {
        let mut separator = '?';
        let mut push = |url: &mut String, parameter: &str| {
            url.push(separator);
            separator = '&';
            url.push_str(parameter);
        };
        for _ in 0..1 + self.below(4) {
            let name = self.pick(&PARAMETERS);
            let value = match self.below(10) {
                0..=4 => self.below(100_000).to_string(),
                5..=6 => self.pick(&WORDS).to_owned(),
                7 => format!("{}+{}", self.pick(&WORDS), self.pick(&WORDS)),
                8 => format!("{}%20{}", self.pick(&WORDS), self.pick(&WORDS)),
                _ => format!("{:016x}", self.next()),
            };
            push(url, &format!("{name}={value}"));
        }
        if self.happens(150) {
            for tracking in &TRACKING[..1 + self.below(4) as usize] {
                push(url, tracking);
            }
        }
        if self.happens(20) {
            push(url, "next=http%3A%2F%2Fwww.example.com%2Fa%2Fb%3Fc%3Dd");
        }
        if self.happens(5) {
            push(url, "title=it's \"here\"");
        }
    }
}
