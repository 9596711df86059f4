/*!
What is promised of keys and canonical URLs, for the targets that check it.
*/

use dedust::{Normalizer, Scratch};

/// Panics unless `url` fails as a whole, or has a key and a canonical URL that keep the promises.
pub fn check_promises(normalizer: &Normalizer, url: &[u8], scratch: &mut Scratch) {
    let Ok(key) = normalizer.key(url) else {
        assert!(normalizer.normalize(url).is_err(), "the key and the URL fail together");
        return;
    };
    let canonical = normalizer.normalize(url).expect("a URL that has a key");
    assert_eq!(normalizer.key(&canonical), Ok(key.clone()), "a canonical URL keeps the key");
    assert_eq!(normalizer.normalize(&canonical), Ok(canonical.clone()), "and stays as it is");

    assert_eq!(normalizer.key_with(url, scratch), Ok(key.as_bytes()));
    assert_eq!(normalizer.normalize_with(url, scratch), Ok(canonical.as_bytes()));
    let explanation = normalizer.explain(url).expect("a URL that has a key");
    assert_eq!((explanation.key, explanation.canonical), (key, canonical));
}
