//! Serves from request arenas: `curl 'http://127.0.0.1:8080/orders?customer=7&count=3'`.
//! An argument gives another address.

use frame_server::serve::{on_arenas, serve};

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| String::from("127.0.0.1:8080"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (at, work) = serve(on_arenas(), &address).await?;
        println!("serving http://{at}/orders?customer=7&count=3");
        work.await
    })
}
