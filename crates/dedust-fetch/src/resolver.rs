/*!
Which addresses of a host are connected to?
*/

use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::allowed_host::AllowedHosts;

/// Resolves names as the system does, and drops addresses that are not allowed.
#[derive(Debug)]
pub(crate) struct CheckedResolver {
    pub(crate) allowed_hosts: AllowedHosts,
}

/// A host has no address that may be connected to.
#[derive(Debug, thiserror::Error)]
#[error("not a public address")]
pub(crate) struct NotPublic;

impl Resolver for CheckedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = DefaultResolver::default().resolve(uri, config, timeout)?;
        let name = uri.host().unwrap_or_default();
        let mut allowed = self.empty();
        for address in found.iter().filter(|address| self.allowed_hosts.allows(name, **address)) {
            allowed.push(*address);
        }
        if allowed.is_empty() { Err(ureq::Error::Other(Box::new(NotPublic))) } else { Ok(allowed) }
    }
}
