//! A search engine (`tantivy`): four threads index documents in memory, four threads search, some
//! documents are deleted, and it is searched again. Segments live long and are merged meanwhile.

use crate::Random;
use std::fmt::Write;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::QueryParser;
use tantivy::schema::{Field, STORED, STRING, Schema, TEXT, Value};
use tantivy::{Index, IndexWriter, Searcher, TantivyDocument, Term, doc};

const THREADS: usize = 4;
const TEXTS: usize = 16_000;
const WORDS: u64 = 20_000;
const QUERIES: u64 = 150;

/// Documents to be indexed: a group and a body each.
pub struct Texts(Vec<(String, String)>);

impl Texts {
    /// Makes the same documents every time; low words are frequent, high ones are rare.
    pub fn new() -> Self {
        let mut random = Random(0x2545_F491_4F6C_DD1D);
        let text = |i| {
            let mut body = String::new();
            for _ in 0..20 + random.below(100) {
                let _ = write!(body, "w{} ", rare(&mut random));
            }
            (format!("g{}", i % 10), body)
        };
        Self((0..TEXTS).map(text).collect())
    }
}

fn rare(random: &mut Random) -> u64 {
    (0..3).map(|_| random.below(WORDS)).min().unwrap_or(0)
}

/// Gives how many documents all queries found.
pub fn run(texts: &Texts) -> u64 {
    index_and_search(texts).expect("an index in memory does not fail")
}

fn index_and_search(texts: &Texts) -> tantivy::Result<u64> {
    let mut schema = Schema::builder();
    let group = schema.add_text_field("group", STRING);
    let body = schema.add_text_field("body", TEXT | STORED);
    let index = Index::create_in_ram(schema.build());
    let mut writer: IndexWriter = index.writer_with_num_threads(THREADS, THREADS * 15_000_000)?;
    for part in texts.0.chunks(TEXTS / 4) {
        for (name, text) in part {
            writer.add_document(doc!(group => name.as_str(), body => text.as_str()))?;
        }
        writer.commit()?;
    }
    let mut found = search(&index, body)?;
    writer.delete_term(Term::from_field_text(group, "g3"));
    writer.commit()?;
    found += search(&index, body)?;
    writer.wait_merging_threads()?;
    Ok(found)
}

/// Four threads ask, each its own questions.
fn search(index: &Index, body: Field) -> tantivy::Result<u64> {
    let reader = index.reader()?;
    let ask = &|t| ask(&reader.searcher(), body, Random(0x9E37_79B9 * (t + 1)));
    std::thread::scope(|s| {
        let threads: Vec<_> = (0..THREADS as u64).map(|t| s.spawn(move || ask(t))).collect();
        threads.into_iter().map(|r| r.join().expect("a searcher ends")).sum()
    })
}

fn ask(searcher: &Searcher, body: Field, mut random: Random) -> tantivy::Result<u64> {
    let parser = QueryParser::for_index(searcher.index(), vec![body]);
    let mut found = 0;
    for _ in 0..QUERIES {
        let [a, b, c] = [(); 3].map(|()| rare(&mut random));
        let query = parser.parse_query(&format!("w{a} w{b} w{c}"))?;
        let best = TopDocs::with_limit(10).order_by_score();
        let (top, count) = searcher.search(&query, &(best, Count))?;
        for (_, at) in &top {
            let document: TantivyDocument = searcher.doc(*at)?;
            let text = document.get_first(body).and_then(|v| v.as_str());
            assert!(text.is_some_and(|t| t.starts_with('w')), "bodies are kept");
        }
        found += count as u64;
    }
    Ok(found)
}
