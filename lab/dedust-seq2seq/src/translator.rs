/*!
A trained model at work on URLs whose templates training has not seen.

What training has seen is in the rules. A translator answers for the rest: templates it does not know are decoded in
batches, and remembered. Nobody has checked these translations against pages: they are proposals, for a crawler that can
afford to try them.
*/

use burn::tensor::Device;
use foldhash::HashMap;

use crate::copying::{Parts, Program, Template, parts_of};
use crate::model::{Network as _, SiteModel};

/// Translates the URLs of one site.
#[derive(Debug)]
pub struct Translator {
    site: Box<str>,
    model: SiteModel,
    device: Device,
    /// Programs by the words of templates; `None` for those that stay as they are.
    programs: HashMap<Vec<u32>, Option<Program>>,
}

impl Translator {
    /// A translator of a site, which is named by its registrable domain.
    pub fn new(site: &str, model: SiteModel, device: Device) -> Self {
        Self { site: site.into(), model, device, programs: HashMap::default() }
    }

    /// The number of templates that are known so far.
    pub fn known(&self) -> usize {
        self.programs.len()
    }

    /// What becomes of each URL; `None` where it stays as it is, or is none of the site.
    pub fn translate(&mut self, urls: &[&[u8]]) -> Vec<Option<String>> {
        let read = |url: &&[u8]| {
            let parts = parts_of(url, &self.site)?;
            Some((Template::of(&self.model.card.language, &parts)?, parts))
        };
        let sources: Vec<Option<(Template, Parts)>> = urls.iter().map(read).collect();
        self.learn_templates(sources.iter().flatten().map(|(template, _)| template));
        let write = |source: &Option<(Template, Parts)>| {
            let (template, parts) = source.as_ref()?;
            self.programs.get(&template.words)?.as_ref()?.write(parts, &self.site)
        };
        sources.iter().map(write).collect()
    }

    /// Decodes the templates that are not known.
    fn learn_templates<'t>(&mut self, templates: impl Iterator<Item = &'t Template>) {
        let mut new: Vec<&Template> =
            templates.filter(|template| !self.programs.contains_key(&template.words)).collect();
        new.sort_by(|a, b| a.words.cmp(&b.words));
        new.dedup_by(|a, b| a.words == b.words);
        let sources: Vec<&[u32]> = new.iter().map(|template| template.words.as_slice()).collect();
        let language = &self.model.card.language;
        for (template, symbols) in new.into_iter().zip(self.model.model.decode(&sources, &self.device)) {
            let program = symbols.and_then(|symbols| Program::read(language, template, &symbols));
            let changes =
                program.filter(|program| Some(program) != Program::identity(language, template).as_ref());
            self.programs.insert(template.words.clone(), changes);
        }
    }
}
