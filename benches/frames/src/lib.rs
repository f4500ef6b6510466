//! An HTTP server that answers from request arenas, the same server on the heap, and a client.
//!
//! | module | what it keeps |
//! | --- | --- |
//! | [`memory`] | where a request's values live: its arena, or the heap |
//! | [`orders`] | the request handler, the same code for both |
//! | [`serve`] | the two servers |
//! | [`client`] | a keep-alive connection that asks and checks |

pub mod client;
pub mod memory;
pub mod orders;
pub mod serve;
