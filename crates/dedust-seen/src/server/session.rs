/*!
The end of a session: its keys join those of all, or go.

Keys are moved some at a time, each time in one transaction, so that a key is always in the session or in the set, and a commit that is cut
off can be made again. The server is not kept from answering others, as it would be by one command for all keys.
*/

use redis::{RedisError, pipe};

use super::link::Link;
use super::names::Names;
use super::set::now;
use crate::error::ServerError;

/// Keys that are moved at a time.
const MOVED: usize = 4096;

/// Moves the keys of a session to those of all. Says how many there were.
pub(super) fn commit(link: &mut Link, names: &Names, name: &str, ttl: u64) -> Result<u64, ServerError> {
    let session = names.session(name);
    // From now on it must not run out.
    link.run(|connection, _| redis::cmd("PERSIST").arg(&session).query::<i64>(connection))?;
    // Kvrocks has cursors that are no numbers.
    let (mut cursor, mut moved) = (b"0".to_vec(), 0_u64);
    loop {
        let current = names.current_sets(ttl, now());
        let (next, removed, is_empty) = link.run(|connection, _| {
            let mut scan = redis::cmd("SSCAN");
            scan.arg(&session).arg(&cursor).arg("COUNT").arg(MOVED);
            let (next, keys): (Vec<u8>, Vec<Vec<u8>>) = scan.query(connection)?;
            let mut removed = 0;
            // A small set comes as a whole, whatever COUNT says.
            for keys in keys.chunks(MOVED) {
                let mut pipe = pipe();
                pipe.atomic().cmd("SADD").arg(&current.added_to).arg(keys).ignore();
                if let Some(seconds) = current.gone_in {
                    pipe.cmd("EXPIRE").arg(&current.added_to).arg(seconds).ignore();
                }
                pipe.cmd("SREM").arg(&session).arg(keys);
                let (count,): (u64,) = pipe.query(connection)?;
                removed += count;
            }
            let left: u64 = redis::cmd("SCARD").arg(&session).query(connection)?;
            Ok::<_, RedisError>((next, removed, left == 0))
        })?;
        cursor = next;
        moved += removed;
        if is_empty {
            break;
        }
    }
    forget_name(link, names, name)?;
    Ok(moved)
}

/// Removes the keys of a session. Says how many there were.
pub(super) fn cancel(link: &mut Link, names: &Names, name: &str) -> Result<u64, ServerError> {
    let session = names.session(name);
    let (count,) = link.run(|connection, _| {
        let mut pipe = pipe();
        pipe.atomic().cmd("SCARD").arg(&session).cmd("UNLINK").arg(&session).ignore();
        pipe.query::<(u64,)>(connection)
    })?;
    forget_name(link, names, name)?;
    Ok(count)
}

fn forget_name(link: &mut Link, names: &Names, name: &str) -> Result<(), ServerError> {
    link.run(|connection, _| redis::cmd("SREM").arg(names.sessions()).arg(name).query::<()>(connection))
}
