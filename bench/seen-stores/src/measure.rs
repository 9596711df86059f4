/*!
What the operating system knows of this process and its files.
*/

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use cpu_time::{ProcessTime, ThreadTime};

use crate::Outcome;

/// Wall time, and CPU time of all threads, less what the calling thread spent on other work.
pub(crate) struct Clock {
    wall: Instant,
    cpu: ProcessTime,
    other_wall: Duration,
    other_cpu: Duration,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu: ProcessTime::now(),
            other_wall: Duration::ZERO,
            other_cpu: Duration::ZERO,
        }
    }

    /// Does work that is not to be counted. What other threads do at the same time is.
    pub(crate) fn leave_out(&mut self, work: impl FnOnce()) {
        let (wall, cpu) = (Instant::now(), ThreadTime::now());
        work();
        self.other_wall += wall.elapsed();
        self.other_cpu += cpu.elapsed();
    }

    pub(crate) fn stop(self) -> Times {
        let wall = self.wall.elapsed().saturating_sub(self.other_wall).as_secs_f64();
        Times { wall, cpu: self.cpu.elapsed().saturating_sub(self.other_cpu).as_secs_f64() }
    }
}

/// Seconds.
pub(crate) struct Times {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// A figure of `/proc/self/status`, in MB.
pub(crate) fn memory_megabytes(figure: &str) -> Outcome<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(figure)?.strip_prefix(':')?.trim().strip_suffix(" kB"));
    let kibibytes: f64 = value.ok_or(format!("no {figure} in /proc/self/status"))?.trim().parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}

/// Bytes that all files of a folder take on the disk, room that was never written left out.
pub(crate) fn disk_bytes(folder: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { disk_bytes(&entry.path())? } else { metadata.blocks() * 512 };
    }
    Ok(bytes)
}
