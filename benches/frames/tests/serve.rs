//! Real requests over loopback.

use frame_server::client::{Client, request};
use frame_server::serve::{on_arenas, on_heap, serve};
use std::net::SocketAddr;

/// Starts both servers on a thread of their own each: arenas, heap.
fn start() -> [SocketAddr; 2] {
    [on_arenas(), on_heap()].map(|routes| {
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (at, work) = serve(routes, "127.0.0.1:0").await.unwrap();
                tell.send(at).unwrap();
                work.await.unwrap();
            });
        });
        told.recv().unwrap()
    })
}

fn run<F: Future>(work: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[test]
fn arenas_and_heap_give_the_same_answers() {
    let [arenas, heap] = start();
    run(async {
        let mut ours = Client::connect(arenas).await.unwrap();
        let mut theirs = Client::connect(heap).await.unwrap();
        for count in [0, 1, 2, 31, 32, 33, 500, 3000] {
            let ask = request(&format!("/orders?customer=42&count={count}"));
            let (ours, theirs) = (ours.ask(&ask).await.unwrap(), theirs.ask(&ask).await.unwrap());
            assert_eq!((ours.status, theirs.status), (200, 200));
            assert_eq!(ours.body, theirs.body);
            let ids = ours.body.windows(5).filter(|w| w == b"\"id\":").count();
            assert_eq!(ids, count);
        }
    });
}

#[test]
fn a_small_answer_reads_as_written() {
    let [arenas, _] = start();
    run(async {
        let mut client = Client::connect(arenas).await.unwrap();
        let reply = client.ask(&request("/orders?customer=7&count=1")).await.unwrap();
        let id = 7u32.wrapping_mul(2_654_435_761);
        let text = std::str::from_utf8(reply.body).unwrap();
        assert!(
            text.starts_with(&format!("{{\"orders\":[{{\"id\":{id},\"item\":\"item {}", id % 1000))
        );
        assert!(text.ends_with("]}"), "{text}");
    });
}

#[test]
fn many_clients_at_once_get_their_own_answers() {
    let [arenas, _] = start();
    let clients: Vec<_> = (0..8)
        .map(|client| {
            std::thread::spawn(move || {
                run(async {
                    let mut connection = Client::connect(arenas).await.unwrap();
                    for n in 0..300 {
                        let customer = client * 1000 + n;
                        let ask = request(&format!("/orders?customer={customer}&count=40"));
                        let reply = connection.ask(&ask).await.unwrap();
                        let text = std::str::from_utf8(reply.body).unwrap();
                        let own = format!("of customer {customer}\"");
                        assert_eq!(text.matches(&own).count(), 40);
                    }
                });
            })
        })
        .collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
}

#[test]
fn a_bad_query_is_told_what_to_ask() {
    let [arenas, _] = start();
    run(async {
        let mut client = Client::connect(arenas).await.unwrap();
        for path in ["/orders", "/orders?customer=x&count=1", "/orders?count=1"] {
            let reply = client.ask(&request(path)).await.unwrap();
            assert_eq!(reply.status, 400);
            assert!(reply.body.starts_with(b"ask for ?customer="));
        }
    });
}

#[test]
fn a_client_that_hangs_up_half_way_leaves_the_server_serving() {
    let [arenas, _] = start();
    run(async {
        for _ in 0..50 {
            let mut gone = Client::connect(arenas).await.unwrap();
            let ask = request("/orders?customer=1&count=20000");
            let waiting = gone.ask(&ask);
            let _cut = tokio::time::timeout(std::time::Duration::from_millis(1), waiting).await;
        }
        let mut client = Client::connect(arenas).await.unwrap();
        assert_eq!(client.ask(&request("/orders?customer=1&count=1")).await.unwrap().status, 200);
    });
}
