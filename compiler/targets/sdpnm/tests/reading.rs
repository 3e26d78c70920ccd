//! Graphs from files: both forms say the same, faults have their place, and nothing that is thrown at
//! the readers takes long.

use nbcc_base::{Diagnostics, SourceFile, SourceId};
use nbcc_isa_sdpnm::Graph;
use nbcc_target_sdpnm::read::read;

fn graph(name: &str, text: &str) -> Result<Graph, Vec<(&'static str, String, String)>> {
    let mut diagnostics = Diagnostics::default();
    let file = SourceFile::new(name, text);
    match read(SourceId(0), &file, &mut diagnostics) {
        Ok(graph) if !diagnostics.has_errors() => Ok(graph),
        _ => Err(diagnostics
            .iter()
            .map(|d| {
                let span = d.span.expect("a place");
                let place = text[span.start as usize..span.end as usize].to_owned();
                assert!(d.help.is_some(), "{}", d.message);
                (d.code.code, d.message.clone(), place)
            })
            .collect()),
    }
}

fn fault(name: &str, text: &str) -> (&'static str, String) {
    let mut faults = graph(name, text).expect_err(text);
    let (code, _, place) = faults.remove(0);
    (code, place)
}

#[test]
fn both_forms_say_the_same() {
    let json = r#"{"name": "n", "nodes": [{"id": "a", "op": "add"}, {"id": "b \"c\"", "op": "store", "x": [1]}],
                   "edges": [{"from": "a", "to": "a", "dist": 2}, {"from": "a", "to": "b \"c\""}]}"#;
    let dot = "strict DIGRAPH n { rankdir=LR; node [shape=box, color=\"red\"];\n# a line\n a [label=add];\n\
               subgraph cluster0 { \"b \\\"c\\\"\":p:n [op=\"store\"; label=<<b>x</b>>] }\n\
               a -> a [dist=\"2\"] /* twice */; a -> \"b \\\"c\\\"\" }";
    assert_eq!(graph("g.json", json), graph("g.dot", dot));
    assert_eq!(graph("-", json), graph("-", dot));
}

/// A node that only an edge names is there in dot, and may be misspelt where others are declared.
#[test]
fn nodes_that_only_edges_name_are_warned_of() {
    let warned = |text: &str| {
        let mut diagnostics = Diagnostics::default();
        let read = read(SourceId(0), &SourceFile::new("g.dot", text), &mut diagnostics);
        assert_eq!(read.expect(text).nodes.len(), 2);
        let said = diagnostics.take().into_iter().map(|d| (d.code.code, d.message, d.help));
        said.collect::<Vec<_>>()
    };
    let said = warned("digraph n { a [op=\"add\"]; a -> zz; }");
    let [(code, message, help)] = &said[..] else { panic!("{said:?}") };
    assert_eq!((*code, &message[..]), ("W5009", "no statement declares the node `zz`"));
    assert!(help.is_some());
    assert!(warned("digraph n { a -> b [dist=1]; }").is_empty());
    assert!(warned("digraph n { node [op=add]; a -> b; b; a; }").is_empty());
}

#[test]
fn faults_have_their_place() {
    let dot = |text: &str| fault("g.dot", text);
    assert_eq!(dot("digraph { a [op=x]; a }"), ("E5003", "a".into()));
    assert_eq!(dot("digraph { a -> b [dist=1.5] }"), ("E5005", "1.5".into()));
    assert_eq!(dot("digraph { a -> b; b -> a }"), ("E5006", "b -> a".into()));
    assert_eq!(dot("digraph { a -> a }"), ("E5006", "a -> a".into()));
    assert_eq!(dot("digraph { }").0, "E5002");
    assert_eq!(dot("digraph { a -> ; }"), ("E5001", ";".into()));
    assert_eq!(dot("digraph { a [op=\"x"), ("E5001", "\"".into()));
    assert_eq!(dot("graph { a }"), ("E5001", "graph".into()));
    let json = |text: &str| fault("g.json", text);
    let nodes = r#"{"nodes": [{"id": "a", "op": "x"}], "#;
    assert_eq!(json(r#"{"nodes": [{"id": "a"}, {"id": "a"}]}"#), ("E5003", "\"a\"".into()));
    assert_eq!(
        json(&format!(r#"{nodes}"edges": [{{"from": "a", "to": "b"}}]}}"#)),
        ("E5004", "\"b\"".into())
    );
    assert_eq!(
        json(&format!(r#"{nodes}"edges": [{{"from": "a", "to": "a", "dist": -1}}]}}"#)),
        ("E5005", "-1".into())
    );
    assert_eq!(json("{\"nodes\": [\n  {\"op\": 1}]}").0, "E5001");
    assert_eq!(json("{\"nodes\": [}"), ("E5001", "}".into()));
    assert_eq!(json("").0, "E5001");
}

#[test]
fn a_graph_that_is_too_large() {
    let nodes: Vec<String> = (0..70_000).map(|n| format!("{{\"id\": \"{n}\"}}")).collect();
    let text = format!("{{\"nodes\": [{}]}}", nodes.join(","));
    assert_eq!(fault("g.json", &text).0, "E5007");
    let text = format!("digraph {{ {} }}", "a -> b; ".repeat(300_000));
    assert_eq!(fault("g.dot", &text).0, "E5007");
}

#[test]
fn deep_nesting_is_answered() {
    let deep = 1_000_000;
    assert_eq!(fault("g.dot", &"digraph {".repeat(deep)).0, "E5001");
    assert_eq!(fault("g.dot", &format!("digraph {}", "{".repeat(deep))).0, "E5001");
    assert_eq!(fault("g.dot", &format!("digraph {{ a [x={}", "<".repeat(deep))).0, "E5001");
    assert_eq!(fault("g.json", &format!("{{\"nodes\": {}", "[".repeat(deep))).0, "E5001");
    assert_eq!(fault("g.json", &format!("{{\"x\": {}", "{\"x\":".repeat(deep))).0, "E5001");
}
