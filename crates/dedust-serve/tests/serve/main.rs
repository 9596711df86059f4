/*!
Asks a real server on a free port of the loopback interface.
*/
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod batches;
mod deciding;
mod described;
mod hostile;
mod learning;
mod live;
mod page;
mod reloading;
mod seen;
mod service;
mod stopping;
