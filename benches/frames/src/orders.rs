//! The request handler: looks up a customer's orders, groups them, and answers with JSON.
//!
//! It is written once, for any [`Memory`]. Rows come in pages with an `.await` between two, as from a
//! database, so what it builds lives across them.

use crate::memory::{Memory, Text};
use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use bytes::Bytes;
use std::fmt::Write;

/// Rows between two `.await`s.
const PAGE: u32 = 32;

/// An order as it comes from the database.
struct Order<M: Memory> {
    id: u32,
    item: Text<M>,
    labels: Vec<Text<M>, M>,
    cents: u64,
}

/// The orders of one label.
struct Group<M: Memory> {
    label: Text<M>,
    orders: Vec<u32, M>,
    cents: u64,
}

/// What the query string asks for.
struct Query {
    customer: u32,
    count: u32,
}

/// Reads `customer=7&count=100`.
fn parse<M: Memory>(query: &str, memory: &M) -> Option<Query> {
    let mut pairs: Vec<(Text<M>, u32), M> = Vec::new_in(memory.clone());
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=')?;
        pairs.push((Text::format(memory.clone(), format_args!("{name}")), value.parse().ok()?));
    }
    let find = |name: &str| pairs.iter().find(|(n, _)| *n.0 == *name.as_bytes()).map(|(_, v)| *v);
    Some(Query { customer: find("customer")?, count: find("count")?.min(100_000) })
}

/// One row, each of its parts in memory of its own.
fn row<M: Memory>(customer: u32, n: u32, memory: &M) -> Box<Order<M>, M> {
    let id = customer.wrapping_mul(2_654_435_761).wrapping_add(n.wrapping_mul(40_503));
    let mut labels = Vec::new_in(memory.clone());
    for label in [id % 7, id % 11] {
        labels.push(Text::format(memory.clone(), format_args!("label-{label}")));
    }
    let item =
        Text::format(memory.clone(), format_args!("item {} of customer {customer}", id % 1000));
    Box::new_in(Order { id, item, labels, cents: u64::from(id % 10_000) }, memory.clone())
}

fn group<M: Memory>(orders: &[Box<Order<M>, M>], memory: &M) -> Vec<Group<M>, M> {
    let mut groups: Vec<Group<M>, M> = Vec::new_in(memory.clone());
    for order in orders {
        for label in &order.labels {
            let at = groups.iter().position(|g| g.label.0 == label.0).unwrap_or_else(|| {
                let orders = Vec::new_in(memory.clone());
                groups.push(Group { label: label.clone(), orders, cents: 0 });
                groups.len() - 1
            });
            groups[at].orders.push(order.id);
            groups[at].cents += order.cents;
        }
    }
    groups.sort_by(|a, b| a.label.0.cmp(&b.label.0));
    groups
}

fn text<M: Memory>(text: &Text<M>) -> &str {
    std::str::from_utf8(&text.0).expect("made of strings")
}

fn render<M: Memory>(
    orders: &[Box<Order<M>, M>],
    groups: &[Group<M>],
    memory: &M,
) -> Result<Text<M>, std::fmt::Error> {
    let mut out = Text::new_in(memory.clone());
    out.write_str("{\"orders\":[")?;
    for (i, order) in orders.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(out, "{comma}{{\"id\":{},\"item\":\"{}\",", order.id, text(&order.item))?;
        write!(out, "\"cents\":{}}}", order.cents)?;
    }
    out.write_str("],\"labels\":[")?;
    for (i, group) in groups.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(out, "{comma}{{\"label\":\"{}\",", text(&group.label))?;
        write!(out, "\"orders\":{},\"cents\":{}}}", group.orders.len(), group.cents)?;
    }
    out.write_str("]}")?;
    Ok(out)
}

/// Answers a query, or says that it cannot be read.
///
/// # Errors
/// When the query is not `customer=NUMBER&count=NUMBER`.
pub async fn answer<M: Memory>(query: &str) -> Result<Bytes, &'static str> {
    let memory = M::here();
    let query = parse(query, &memory).ok_or("ask for ?customer=NUMBER&count=NUMBER\n")?;
    let mut orders = Vec::new_in(memory.clone());
    for n in 0..query.count {
        if n % PAGE == PAGE - 1 {
            tokio::task::yield_now().await;
        }
        orders.push(row(query.customer, n, &memory));
    }
    orders.sort_by_key(|order| order.id);
    let groups = group(&orders, &memory);
    tokio::task::yield_now().await;
    let text = render(&orders, &groups, &memory).map_err(|_| "out of memory\n")?;
    Ok(M::into_body(text.0))
}
