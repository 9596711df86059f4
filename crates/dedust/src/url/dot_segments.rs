/*!
Removes `.` and `..` from a path that already lies in its buffer.

Escapes are expected to be normalized before, so a dot written `%2e` is a dot here. Empty segments count as
segments: `/a//..` is `/a/`. Nothing else about slashes is changed.
*/

/// Removes the dot segments of `buffer[start..]`, which is empty or starts with `/`, in place.
///
/// With `drive_letters`, as in `file:` URLs, a first segment such as `C|` becomes `C:` and `..` does not remove it.
pub(super) fn remove(buffer: &mut Vec<u8>, start: usize, drive_letters: bool) {
    let end = buffer.len();
    let mut read = start;
    let mut write = start;
    while read < end {
        let name = read + 1;
        let next = memchr::memchr(b'/', &buffer[name..]).map_or(end, |n| name + n);
        let keeps_slash = match &buffer[name..next] {
            b"." => next == end,
            b".." => {
                let kept_drive = drive_letters && is_drive_letter(&buffer[start..write]);
                if !kept_drive {
                    write = start + memchr::memrchr(b'/', &buffer[start..write]).unwrap_or(0);
                }
                next == end
            }
            _ => {
                buffer.copy_within(read..next, write);
                if drive_letters && write == start && is_drive_letter(&buffer[start..start + next - read]) {
                    buffer[start + 2] = b':';
                }
                write += next - read;
                false
            }
        };
        if keeps_slash {
            // At most as much is written as was read, and `read` has a slash here.
            buffer[write] = b'/';
            write += 1;
        }
        read = next;
    }
    buffer.truncate(write);
}

fn is_drive_letter(segment: &[u8]) -> bool {
    matches!(segment, [b'/', letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(path: &str, drive_letters: bool) -> String {
        let mut buffer = format!("http://a{path}").into_bytes();
        remove(&mut buffer, 8, drive_letters);
        String::from_utf8(buffer.split_off(8)).unwrap()
    }

    #[test]
    fn dots_are_resolved() {
        for (path, expected) in [
            ("/", "/"),
            ("/.", "/"),
            ("/..", "/"),
            ("/../../x", "/x"),
            ("/a/./b/../c", "/a/c"),
            ("/a/b/..", "/a/"),
            ("/a/b/.", "/a/b/"),
            ("/a/b//..", "/a/b/"),
            ("////../..", "//"),
            ("/...", "/..."),
            ("/.a/..b/c..", "/.a/..b/c.."),
            ("/a//b/", "/a//b/"),
            ("", ""),
        ] {
            assert_eq!(removed(path, false), expected, "{path}");
        }
    }

    #[test]
    fn drive_letters_survive() {
        assert_eq!(removed("/C|/a/../../b", true), "/C:/b");
        assert_eq!(removed("/./c|", true), "/c:");
        assert_eq!(removed("/CD|/..", true), "/");
        assert_eq!(removed("/C|/..", false), "/");
    }
}
