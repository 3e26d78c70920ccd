//! The diagnostic codes of this crate: E50 graphs and their mapping, E51 code for the core.

nbcc_base::codes! {
    /// The codes of this crate.
    ALL;

    SYNTAX = "E5001", "a graph that cannot be read",
    "A graph is JSON, `{\"name\": \"n\", \"nodes\": [{\"id\": \"a\", \"op\": \"add\"}], \"edges\": \
     [{\"from\": \"a\", \"to\": \"b\", \"dist\": 0}]}`, or a directed graph in dot, \
     `digraph n { a [op=\"add\"]; a -> b [dist=1]; }`. docs/mapping.md has both forms.",
    "// nbcc map example.dot\ndigraph n { a -> ; }\n";

    EMPTY = "E5002", "a graph without operations",
    "A graph has at least one node that takes a processing element; `const` and `input` take none.",
    "// nbcc map example.json\n{\"name\": \"n\", \"nodes\": [], \"edges\": []}\n";

    DUPLICATE = "E5003", "two nodes of one name",
    "Edges name their ends by id, so that every node has one of its own.",
    "// nbcc map example.dot\ndigraph n { a [op=\"add\"]; a [op=\"mul\"]; }\n";

    UNKNOWN = "E5004", "an edge of a node that is not there",
    "The ends of an edge are ids of the list of nodes. In dot a node is there as soon as it is named.",
    "// nbcc map example.json\n{\"name\": \"n\", \"nodes\": [{\"id\": \"a\", \"op\": \"add\"}], \
     \"edges\": [{\"from\": \"a\", \"to\": \"b\"}]}\n";

    DISTANCE = "E5005", "a distance that is none",
    "The distance of an edge is the number of iterations between producer and consumer: a whole \
     number from 0 to 65535.",
    "// nbcc map example.dot\ndigraph n { a -> b [dist=-1]; }\n";

    CYCLE = "E5006", "a cycle within one iteration",
    "Operations that need each other's values of the same iteration can never start. At least one \
     edge of a cycle has a distance of 1 or more.",
    "// nbcc map example.dot\ndigraph n { a -> b; b -> a; }\n";

    TOO_LARGE = "E5007", "a graph that is too large",
    "A graph may have 65536 nodes and 262144 edges, and a file 64 MiB.",
    by test "a_graph_that_is_too_large";

    NO_MAPPING = "E5008", "no mapping was found",
    "The graph fits the array at none of the initiation intervals that were tried, in the time that \
     was given. A larger array, more memory ports, a longer interval (`--max-ii`) or more time \
     (`--time-limit`) may help.",
    "// nbcc map example.dot --max-ii 1\ndigraph n { a -> b; b -> a [dist=1]; }\n";

    MENTIONED = "W5009", "a node that only edges name",
    "Where a graph in dot declares nodes, one that only edges name may be misspelt. It is taken as an \
     operation without a name, which any PE runs. A graph of edges alone declares none.",
    "// nbcc map example.dot\ndigraph n { load [op=\"load\"]; add [op=\"add\"]; laod -> add; }\n";

    UNSUPPORTED = "E5101", "the core has no instructions for this",
    "The core computes with integers of up to 64 bits, on memory objects. Floating point, vectors and \
     raw addresses are nothing that C as nbcc takes it makes.",
    by test "what_the_core_lacks_is_refused";

    CORE_TOO_LARGE = "E5102", "a function that does not fit the core",
    "Data and variables have the memory behind its first bank, code that bank. Values that \
     find no register have 16 MiB, parameters 2048 bytes.",
    "// nbcc example.c --set memory.banks=2\nstatic int table[1 << 24];\n\
     int at(int i) { table[i] = i; return table[i >> 1]; }\n";

    BAD_MACHINE = "E5103", "the machine description is wrong",
    "A machine file has the keys of `nbcc targets --machine sdpnm`, each within its range.",
    by test "machines_at_fault_are_refused";

    NO_STAGES = "E5104", "a sequential program has no stages",
    "Stages are what image pipelines are made of. `--emit ir` shows a function before instruction \
     selection, `--emit machine-ir` after it.",
    "// nbcc example.c --emit stages\nint one(void) { return 1; }\n";
}
