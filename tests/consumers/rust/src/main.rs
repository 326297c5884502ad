// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Four threads count under each lock of the crate.
use lockwork::{Mutex, RwLock, SpinLock};
use std::process::ExitCode;
use std::time::Duration;

const THREADS: u64 = 4;
const ROUNDS: u64 = 10_000;

static MUTEX: Mutex<u64> = Mutex::new(0);
static SPIN: SpinLock<u64> = SpinLock::new(0);
static RW: RwLock<u64> = RwLock::new(0);

fn main() -> ExitCode {
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    *MUTEX.lock() += 1;
                    *SPIN.lock() += 1;
                    *RW.write() += 1;
                    let _ = *RW.read();
                }
            });
        }
    });
    let held = MUTEX.lock();
    let late = MUTEX.try_lock_for(Duration::from_millis(1)).is_none();
    let counts = [*held, *SPIN.lock(), *RW.read()];
    println!("{counts:?} {late}");
    if counts == [THREADS * ROUNDS; 3] && late {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
