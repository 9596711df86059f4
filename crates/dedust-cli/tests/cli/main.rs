/*!
Drives the real binary: exit code, standard output and standard error of every command.

Each test works in a folder of its own, which is the binary's working directory, so that messages name files without
their path.
*/
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod budgeting;
mod clustering;
mod columns;
mod command_line;
mod comparing;
mod compiling;
mod deciding;
mod deduplicating;
mod every_format;
mod grouping;
mod hostile_input;
mod hostile_output;
mod hostile_rules;
mod learning;
mod looking;
mod normalizing;
mod reading;
mod reporting;
mod sandbox;
mod spreading;
mod tables;
mod unproven;
mod validating;
