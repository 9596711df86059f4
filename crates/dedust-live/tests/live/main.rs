//! Crawls of simulated sites, of which some change, lie or attack.

mod attacks;
mod crawler;
mod restarts;
