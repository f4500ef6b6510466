//! Parses, validates and prints a document again and again, as a server does with requests:
//! `documents fresh|kept ROUNDS`, with a context for each document or one that is reset. Prints nanoseconds=, for one
//! document. The same file before and after the port.

use graphql_query::ast::{ASTContext, Document, ParseNode, PrintNode};
use graphql_query::validate::{DefaultRules, ValidateNode};
use std::time::Instant;

const QUERY: &str = include_str!("../fixture/kitchen_sink.graphql");

fn document(ctx: &ASTContext) -> usize {
    let document = Document::parse(ctx, QUERY).expect("it is GraphQL");
    let valid = document.validate::<DefaultRules>(ctx).is_ok();
    document.print().len() + usize::from(valid)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, how, rounds] = &arguments[..] else { panic!("usage: documents fresh|kept ROUNDS") };
    let rounds: usize = rounds.parse().expect("a number of rounds");
    let mut kept = ASTContext::new();
    let expected = document(&kept);
    let start = Instant::now();
    for _ in 0..rounds {
        let length = match how.as_str() {
            "fresh" => document(&ASTContext::new()),
            _ => {
                kept.arena.reset();
                document(&kept)
            }
        };
        assert_eq!(length, expected);
    }
    println!("nanoseconds={:.1}", start.elapsed().as_secs_f64() * 1e9 / rounds as f64);
}
