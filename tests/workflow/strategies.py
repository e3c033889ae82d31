"""Graphs of any JSON, near enough to a workflow to be read as one."""

from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
IDS = st.integers(-20, 3) | JSON
SLOTS = st.lists(
    JSON | st.fixed_dictionaries({}, optional={"name": JSON, "link": IDS, "widget": JSON}),
    max_size=3,
)
NODES = st.fixed_dictionaries(
    {"id": IDS, "type": st.sampled_from(["KSampler", "Note", "s"]) | JSON},
    optional={
        "title": JSON,
        "mode": st.sampled_from([0, 2, 4]) | JSON,
        "order": JSON,
        "inputs": SLOTS | JSON,
        "outputs": SLOTS | JSON,
        "widgets_values": JSON,
    },
)
LINKS = st.lists(
    st.tuples(IDS, IDS, IDS, IDS, IDS, JSON).map(list)
    | JSON
    | st.fixed_dictionaries(
        dict.fromkeys(("id", "origin_id", "origin_slot", "target_id", "target_slot"), IDS)
    ),
    max_size=4,
)
SCOPE = st.fixed_dictionaries({"nodes": st.lists(NODES | JSON, max_size=3), "links": LINKS | JSON})
SUBGRAPHS = st.lists(
    st.builds(lambda s, more: {**s, **more}, SCOPE, st.fixed_dictionaries({"id": st.just("s")}))
    | JSON,
    max_size=2,
)
GRAPHS = st.builds(
    lambda scope, definitions: {**scope, "definitions": definitions},
    SCOPE,
    st.fixed_dictionaries({"subgraphs": SUBGRAPHS | JSON}) | JSON,
)
