/*!
An observation that is kept until it is known which ones are learned from.
*/

use dedust_learn::{Clues, MainClues, Sketch};

/// One URL seen once, with what was known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedObservation {
    url: Box<[u8]>,
    time: Option<Box<[u8]>>,
    cluster: Option<Box<[u8]>>,
    canonical: Option<Box<[u8]>>,
    redirect: Option<Box<[u8]>>,
    digest: Option<Box<[u8]>>,
    text_digest: Option<Box<[u8]>>,
    main: Option<Box<SavedMain>>,
    title: Option<Box<[u8]>>,
    simhash: Option<u64>,
    size: Option<u64>,
    status: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SavedMain {
    digest: Box<[u8]>,
    layout: Option<u64>,
    sketch: Sketch,
}

impl SavedObservation {
    pub(super) fn new(url: &[u8], clues: &Clues<'_>, time: Option<&[u8]>) -> Self {
        let Clues { cluster, canonical, redirect, digest, text_digest, main, simhash, title, status, size } =
            *clues;
        let owned = |bytes: Option<&[u8]>| bytes.map(Into::into);
        Self {
            url: url.into(),
            time: owned(time),
            cluster: owned(cluster),
            canonical: owned(canonical),
            redirect: owned(redirect),
            digest: owned(digest),
            text_digest: owned(text_digest),
            main: main.map(|MainClues { digest, layout, sketch }| {
                Box::new(SavedMain { digest: digest.into(), layout, sketch })
            }),
            title: owned(title),
            simhash,
            size,
            status,
        }
    }

    /// The URL as met.
    pub fn url(&self) -> &[u8] {
        &self.url
    }

    /// When it was met.
    pub fn time(&self) -> Option<&[u8]> {
        self.time.as_deref()
    }

    /// What was known of its page.
    pub fn clues(&self) -> Clues<'_> {
        Clues {
            cluster: self.cluster.as_deref(),
            canonical: self.canonical.as_deref(),
            redirect: self.redirect.as_deref(),
            digest: self.digest.as_deref(),
            text_digest: self.text_digest.as_deref(),
            main: self.main.as_ref().map(|main| MainClues {
                digest: &main.digest,
                layout: main.layout,
                sketch: main.sketch,
            }),
            simhash: self.simhash,
            title: self.title.as_deref(),
            status: self.status,
            size: self.size,
        }
    }
}
