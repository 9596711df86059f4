/*!
The normalizer as a WebAssembly module: what a page calls, and how bytes cross the border.

The page asks for an input buffer of some length ([`dedust_input`]), writes into it, calls one of the other functions, and reads
the output where [`dedust_output`] and [`dedust_output_length`] say. Functions return 1, or 0 if they failed; the output is then why.
One page, one thread, one state.

There is no unsafe code but the attribute by which functions keep their names: buffers are vectors that only this module
resizes, and what the page writes into them lies between two calls.
*/
#![expect(
    unsafe_code,
    reason = "a page finds functions by their names, which the attribute `no_mangle` keeps"
)]

mod state;

use std::cell::RefCell;

use self::state::State;

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for an input, and says where.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Where the output of the last call is.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// How long it is.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_output_length() -> usize {
    OUTPUT.with_borrow(Vec::len)
}

fn call(run: impl FnOnce(&mut State, &[u8], &mut Vec<u8>) -> Result<(), String>) -> u32 {
    STATE.with_borrow_mut(|state| {
        INPUT.with_borrow(|input| {
            OUTPUT.with_borrow_mut(|output| {
                output.clear();
                let outcome = run(state, input, output);
                if let Err(message) = &outcome {
                    output.clear();
                    output.extend_from_slice(message.as_bytes());
                }
                u32::from(outcome.is_ok())
            })
        })
    })
}

/// Takes the rule file in the input; mirrors are applied if `trusts_mirrors` is not 0.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_load_rules(trusts_mirrors: u32) -> u32 {
    call(|state, input, _| state.load_rules(input, trusts_mirrors != 0))
}

/// Takes the compiled rules in the input.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_load_compiled(trusts_mirrors: u32) -> u32 {
    call(|state, input, _| state.load_compiled(input, trusts_mirrors != 0))
}

/// Takes the URLs in the input, each ended by a line feed.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_load_urls() -> u32 {
    call(|state, input, _| state.load_urls(input))
}

/// Turns rules off and on: lines of a site, a place in its list and 0 or 1, with tabs between. Rules that are not named are as the rule
/// file has them.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_switch() -> u32 {
    call(|state, input, _| state.switch(input))
}

/// The numbers of the groups of `count` URLs from `start` on, as numbers of four bytes. Groups are counted from 0 when `start` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_groups(start: usize, count: usize) -> u32 {
    call(|state, _, output| state.groups(start, count, output))
}

/// Of `count` URLs from `start` on, the numbers of those that a rule changes, as numbers of four bytes. The input is a site, a tab and the
/// rule's place in its list.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_changed(start: usize, count: usize) -> u32 {
    call(|state, input, output| state.changed(input, start, count, output))
}

/// What is done to the URL in the input, step by step, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_explain() -> u32 {
    call(|state, input, output| state.explain(input, output))
}

/// The keys of the URLs in the input, one per line; an empty line for what is no URL.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_keys() -> u32 {
    call(|state, input, output| state.keys(input, output))
}

/// The canonical URLs of the URLs in the input, one per line; an empty line for what is no URL.
#[unsafe(no_mangle)]
pub extern "C" fn dedust_canonical() -> u32 {
    call(|state, input, output| state.canonical(input, output))
}
