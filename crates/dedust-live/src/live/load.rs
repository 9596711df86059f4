/*!
Sites in memory: read back from their records when they are asked for, and put away when there are too many.
*/

use std::sync::Arc;

use dedust::{ParsedUrl, site_of};
use dedust_learn::support::LinkTargets;

use super::LiveCrawl;
use crate::error::LiveError;
use crate::knowledge::Knowledge;
use crate::record::{Record, Records};
use crate::site::Site;

impl LiveCrawl {
    /// The site of the URL that was parsed, in memory.
    pub(super) fn load_site(&mut self) -> Result<Arc<str>, LiveError> {
        let site = site_of(self.work.url.host());
        let name = std::str::from_utf8(site).ok().and_then(|name| self.sites.get_key_value(name));
        let name = match name {
            Some((name, _)) => Arc::clone(name),
            None => String::from_utf8_lossy(site).into(),
        };
        self.load(&name)?;
        Ok(name)
    }

    pub(super) fn load(&mut self, name: &Arc<str>) -> Result<(), LiveError> {
        self.used += 1;
        if let Some(site) = self.sites.get_mut(name) {
            site.last_used = self.used;
            return Ok(());
        }
        let mut site = Site::new(Arc::clone(name), self.options.audit);
        if self.log.knows(name) {
            self.read_site(&mut site)?;
        }
        site.last_used = self.used;
        site.counted_bytes = site.held_bytes();
        self.held_bytes += site.counted_bytes;
        self.sites.insert(Arc::clone(name), site);
        self.look_at(name);
        Ok(())
    }

    /// Reads a site back from its records.
    fn read_site(&mut self, site: &mut Site) -> Result<(), LiveError> {
        let records = self.log.snapshot(&site.name).read()?;
        let now = self.now();
        let (mut url, mut links) = (ParsedUrl::default(), LinkTargets::default());
        let mut texts: Vec<&[u8]> = Vec::new();
        let mut led: Vec<(u32, Vec<u8>)> = Vec::new();
        let hash = |text: &[u8]| self.hasher.hash(text).to_hash() as u64;
        for record in Records(&records.bytes) {
            let mut hashes = [0, 0];
            let mut is_here = true;
            match record {
                Record::Met { url, epoch, .. } => {
                    hashes = [hash(url), 0];
                    is_here = epoch == self.log.folder.epoch;
                    texts.push(url);
                }
                Record::Again { epoch, .. } => is_here = epoch == self.log.folder.epoch,
                Record::Row { entry, row } if row.clues.redirect.is_some() => {
                    if let Some(text) = texts.get(entry as usize)
                        && url.parse_from(text).is_ok()
                    {
                        links.resolve(&url, &row.clues);
                        if let Some(target) = links.within(&dedust_learn::Clues::default()).redirect {
                            hashes = [hash(target), 0];
                            led.push((entry, target.to_vec()));
                        }
                    }
                }
                Record::Rules { json } => {
                    if let Some(knowledge) = Knowledge::of_json(json, &mut site.audits) {
                        if knowledge.is_renewed {
                            site.budget.renew();
                        }
                        site.knowledge = knowledge;
                        site.doubts = 0;
                    }
                }
                _ => {}
            }
            site.apply(&record, hashes, now.seconds, is_here);
        }
        let normalizer = site.knowledge.normalizer.clone().unwrap_or_else(|| Arc::clone(&self.rules));
        let scratch = &mut self.work.scratch;
        let mut key_of = |text: &[u8]| {
            self.hasher.hash(normalizer.key_with(text, scratch).unwrap_or(text)).to_hash() as u64
        };
        let keys: Vec<u64> = texts.iter().map(|text| key_of(text)).collect();
        let led: Vec<(u32, u64)> = led.iter().map(|(entry, text)| (*entry, key_of(text))).collect();
        site.rekey(&keys, &led);
        Ok(())
    }

    /// Puts sites away that were not asked for longest, while there are too many bytes.
    pub(super) fn put_away(&mut self) {
        if self.held_bytes <= self.options.held_bytes || self.sites.len() < 2 {
            return;
        }
        let mut sites: Vec<(u64, usize, Arc<str>)> = self
            .sites
            .values()
            .filter(|site| !site.is_busy)
            .map(|site| (site.last_used, site.held_bytes(), Arc::clone(&site.name)))
            .collect();
        sites.sort_unstable();
        sites.pop();
        self.held_bytes = self.sites.values().map(Site::held_bytes).sum();
        // To three quarters, so that this is seldom done.
        let wanted = self.options.held_bytes / 4 * 3;
        for (_, bytes, name) in sites {
            if self.held_bytes <= wanted {
                break;
            }
            self.sites.remove(&name);
            self.held_bytes -= bytes;
        }
    }
}
