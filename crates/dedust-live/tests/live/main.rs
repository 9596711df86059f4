/*!
Crawls of simulated sites, of which some change, lie or attack.
*/
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod attacks;
mod crawler;
mod restarts;
