/*!
Pieces of URLs, appended to a buffer that is used again and again: numbers, digits of many kinds, words.
*/

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Words for slugs, topics and values. A power of two of them, all distinct.
const WORDS: [&str; 64] = [
    "amber", "anchor", "autumn", "basket", "beach", "bridge", "candle", "canyon", "castle", "cedar",
    "cherry", "cloud", "copper", "coral", "cotton", "desert", "eagle", "ember", "falcon", "feather", "field",
    "flame", "forest", "garden", "ginger", "glass", "harbor", "hazel", "honey", "island", "ivory", "jasmine",
    "lake", "lantern", "lemon", "maple", "marble", "meadow", "mirror", "moon", "mountain", "night", "ocean",
    "olive", "orchid", "pearl", "pepper", "planet", "prairie", "quartz", "rain", "raven", "river", "saddle",
    "silver", "spring", "stone", "summer", "thunder", "timber", "valley", "velvet", "willow", "winter",
];

/// How many words there are.
pub(super) const WORD_COUNT: u64 = WORDS.len() as u64;

/// Word `index`, counted round and round.
#[inline]
pub(super) fn word(index: u64) -> &'static str {
    WORDS[(index % WORD_COUNT) as usize]
}

/// Appends to a URL.
pub(super) struct Text<'b> {
    out: &'b mut Vec<u8>,
}

impl<'b> Text<'b> {
    pub(super) fn new(out: &'b mut Vec<u8>) -> Self {
        Self { out }
    }

    #[inline]
    pub(super) fn str(&mut self, text: &str) -> &mut Self {
        self.out.extend_from_slice(text.as_bytes());
        self
    }

    /// A decimal number.
    #[inline]
    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        push_number(self.out, number);
        self
    }

    /// A decimal number of two digits.
    pub(super) fn two_digits(&mut self, number: u64) -> &mut Self {
        self.out.extend_from_slice(&[b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8]);
        self
    }

    /// Sixteen hexadecimal digits.
    #[inline]
    pub(super) fn hex(&mut self, number: u64) -> &mut Self {
        let mut digits = [0; 16];
        for (digit, byte) in digits.chunks_exact_mut(2).zip(number.to_be_bytes()) {
            digit[0] = HEX[usize::from(byte >> 4)];
            digit[1] = HEX[usize::from(byte & 15)];
        }
        self.out.extend_from_slice(&digits);
        self
    }

    /// Sixteen hexadecimal digits in upper case.
    pub(super) fn upper_hex(&mut self, number: u64) -> &mut Self {
        let start = self.out.len();
        self.hex(number);
        self.out[start..].make_ascii_uppercase();
        self
    }

    #[inline]
    pub(super) fn word(&mut self, index: u64) -> &mut Self {
        self.str(word(index))
    }

    /// Two or three words with hyphens between them.
    pub(super) fn slug(&mut self, hash: u64) -> &mut Self {
        self.word(hash).str("-").word(hash >> 8);
        if hash >> 16 & 1 == 1 {
            self.str("-").word(hash >> 17);
        }
        self
    }

    /// Where the next piece starts.
    pub(super) fn position(&self) -> usize {
        self.out.len()
    }

    /// Upper case from `start` on.
    pub(super) fn uppercase_from(&mut self, start: usize) {
        self.out[start..].make_ascii_uppercase();
    }

    /// Upper case for the first letter of each word from `start` on.
    pub(super) fn capitalize_from(&mut self, start: usize) {
        for at in start.max(1)..self.out.len() {
            if matches!(self.out[at - 1], b'/' | b'-') {
                self.out[at].make_ascii_uppercase();
            }
        }
    }
}

/// Appends a decimal number.
#[inline]
pub(super) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// Three different words of a page, and the order of them that belongs to `form`, one of six.
pub(super) fn three_words(hash: u64, form: u64) -> [u64; 3] {
    let first = hash % WORD_COUNT;
    let second = first + 1 + (hash >> 8) % 20;
    let third = second + 1 + (hash >> 16) % 20;
    permuted([first, second, third], form)
}

/// The order of three things that belongs to `form`, one of six.
pub(super) fn permuted<T: Copy>([a, b, c]: [T; 3], form: u64) -> [T; 3] {
    match form % 6 {
        0 => [a, b, c],
        1 => [b, a, c],
        2 => [c, a, b],
        3 => [a, c, b],
        4 => [b, c, a],
        _ => [c, b, a],
    }
}

#[cfg(test)]
mod tests {
    use super::super::chance::mix_two;
    use super::*;

    #[test]
    fn numbers_are_as_the_standard_library_writes_them() {
        for number in [0, 9, 10, 12_345, u64::MAX] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(out, number.to_string().as_bytes());
            out.clear();
            Text::new(&mut out).hex(number);
            assert_eq!(out, format!("{number:016x}").as_bytes());
        }
    }

    #[test]
    fn six_orders_of_three_different_words() {
        for hash in (0..1000).map(|number| mix_two(1, number)) {
            let orders: std::collections::HashSet<_> =
                (0..6).map(|form| three_words(hash, form).map(word)).collect();
            assert_eq!(orders.len(), 6);
        }
    }
}
