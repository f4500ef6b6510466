//! The load on both servers, in turns within one process: requests a second, latency, processor time
//! of the server and allocations a request.
//!
//! `load [ROUNDS] [MILLISECONDS]`: how many pairs of turns for each size (9), and how long a turn
//! is (400).

use frame_server::client::{Client, request};
use frame_server::serve::{on_arenas, on_heap, serve};
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Connections at once.
const CLIENTS: usize = 8;
/// Orders a request.
const SIZES: [u32; 4] = [1, 10, 100, 1000];

#[cfg(feature = "mimalloc")]
use mimalloc::MiMalloc as Heap;
#[cfg(not(feature = "mimalloc"))]
use std::alloc::System as Heap;

/// The heap, counting what server threads allocate while `COUNTING` is set; turns that are timed do
/// not count.
struct Counted;

static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static SERVES: Cell<bool> = const { Cell::new(false) };
}

#[global_allocator]
static GLOBAL: Counted = Counted;

fn count() {
    if COUNTING.load(Relaxed) && SERVES.get() {
        ALLOCATIONS.fetch_add(1, Relaxed);
    }
}

// SAFETY: the heap's own.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { Heap.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { Heap.dealloc(block, layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { Heap.realloc(block, layout, size) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { Heap.alloc_zeroed(layout) }
    }
}

/// A server on a thread of its own.
struct Server {
    at: SocketAddr,
    clock: libc::clockid_t,
}

impl Server {
    fn start(routes: axum::Router) -> Server {
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            SERVES.set(true);
            let mut clock = 0;
            // SAFETY: of the calling thread, into our variable.
            unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let (at, work) = serve(routes, "127.0.0.1:0").await.expect("a port");
                tell.send(Server { at, clock }).expect("the main thread waits");
                work.await.expect("the server runs for ever");
            });
        });
        told.recv().expect("the server starts")
    }

    /// Processor time that the server has used.
    fn processor_time(&self) -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the clock of a thread that runs as long as the process.
        unsafe { libc::clock_gettime(self.clock, &raw mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

/// What one turn gave.
struct Turn {
    a_second: f64,
    server_us: f64,
    latencies: Vec<u32>,
}

/// Asks a server for a while, on all connections at once.
async fn turn(
    server: &Server,
    clients: &mut [Client],
    ask: &[u8],
    length: usize,
    time: Duration,
) -> Turn {
    let (begin, before) = (Instant::now(), server.processor_time());
    let until = begin + time;
    let all = clients.iter_mut().map(|client| async move {
        let mut latencies = Vec::with_capacity(1 << 16);
        while Instant::now() < until {
            let sent = Instant::now();
            let reply = client.ask(ask).await.expect("the server answers");
            assert!(reply.status == 200 && reply.body.len() == length);
            latencies.push(sent.elapsed().as_nanos() as u32);
        }
        latencies
    });
    let latencies: Vec<u32> = join_all(all).await.concat();
    let asked = latencies.len() as f64;
    Turn {
        a_second: asked / begin.elapsed().as_secs_f64(),
        server_us: (server.processor_time() - before).as_secs_f64() * 1e6 / asked,
        latencies,
    }
}

/// Runs futures at once on this thread.
async fn join_all<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = all.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|cx| {
        let mut pending = false;
        for (future, output) in &mut running {
            if output.is_none() {
                match future.as_mut().poll(cx) {
                    std::task::Poll::Ready(value) => *output = Some(value),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        if pending { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    running.into_iter().filter_map(|(_, output)| output).collect()
}

/// Allocations of the server a request, on the heap.
async fn allocations(client: &mut Client, ask: &[u8]) -> f64 {
    const ASKED: u64 = 200;
    ALLOCATIONS.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    for _ in 0..ASKED {
        client.ask(ask).await.expect("the server answers");
    }
    COUNTING.store(false, Relaxed);
    ALLOCATIONS.load(Relaxed) as f64 / ASKED as f64
}

/// The middle one.
fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

/// The median of a paired ratio with its 95 % bootstrap interval.
fn ratio(ratios: &[f64]) -> String {
    let mut seed = 88_172_645_463_325_252_u64;
    let mut random = move |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n as u64) as usize
    };
    let mut medians: Vec<f64> = (0..2000)
        .map(|_| median(&ratios.iter().map(|_| ratios[random(ratios.len())]).collect::<Vec<_>>()))
        .collect();
    medians.sort_by(f64::total_cmp);
    format!("{:.2} [{:.2}, {:.2}]", median(ratios), medians[50], medians[1949])
}

/// A row of the table.
fn row(name: &str, size: u32, turns: &mut [Turn], allocations: f64) {
    let mut latencies: Vec<u32> = turns.iter_mut().flat_map(|t| t.latencies.drain(..)).collect();
    latencies.sort_unstable();
    let at = |share: f64| f64::from(latencies[(latencies.len() as f64 * share) as usize]) / 1e3;
    let of = |what: fn(&Turn) -> f64| median(&turns.iter().map(what).collect::<Vec<_>>());
    println!(
        "{size:>6} {name:8} {:>10.0} {:>10.1} {:>9.0} {:>9.0} {:>9.0} {allocations:>12.1}",
        of(|t| t.a_second),
        of(|t| t.server_us),
        at(0.5),
        at(0.99),
        at(0.999),
    );
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|n| n.parse::<u64>().ok());
    let rounds = numbers.next().unwrap_or(9);
    let time = Duration::from_millis(numbers.next().unwrap_or(400));
    let servers = [Server::start(on_arenas()), Server::start(on_heap())];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let heap = if cfg!(feature = "mimalloc") { "mimalloc" } else { "malloc" };
    println!(
        "{CLIENTS} connections, {rounds} turns of {} ms each; the heap is {heap}",
        time.as_millis()
    );
    println!(
        "{:>6} {:8} {:>10} {:>10} {:>9} {:>9} {:>9} {:>12}",
        "orders", "server", "req/s", "cpu us/req", "p50 us", "p99 us", "p99.9 us", "allocs/req"
    );
    runtime.expect("a runtime").block_on(async {
        for size in SIZES {
            let ask = request(&format!("/orders?customer=42&count={size}"));
            let mut clients = [Vec::new(), Vec::new()];
            let mut length = 0;
            for (server, clients) in servers.iter().zip(&mut clients) {
                for _ in 0..CLIENTS {
                    let mut client = Client::connect(server.at).await.expect("the server listens");
                    length = client.ask(&ask).await.expect("the server answers").body.len();
                    clients.push(client);
                }
            }
            let mut turns = [Vec::new(), Vec::new()];
            for round in 0..=rounds as usize {
                for way in [round % 2, (round + 1) % 2] {
                    let turn = turn(&servers[way], &mut clients[way], &ask, length, time).await;
                    // The first round warms up.
                    if round > 0 {
                        turns[way].push(turn);
                    }
                }
            }
            let [arenas, heap] = &turns;
            let pairs = || arenas.iter().zip(heap);
            let faster: Vec<_> = pairs().map(|(a, h)| a.a_second / h.a_second).collect();
            let cheaper: Vec<_> = pairs().map(|(a, h)| h.server_us / a.server_us).collect();
            for (way, name) in ["arenas", "heap"].into_iter().enumerate() {
                let allocations = allocations(&mut clients[way][0], &ask).await;
                row(name, size, &mut turns[way], allocations);
            }
            println!("{size:>6} arenas / heap: req/s {}, cpu {}", ratio(&faster), ratio(&cheaper));
        }
    });
}
