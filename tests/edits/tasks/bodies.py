"""JavaScript that several tasks share."""

REPLACE = """
const old = at('%s')
const id = old.id
const place = [...old.pos]
old.graph.remove(old)
const fresh = LiteGraph.createNode('%s')
fresh.id = id
fresh.pos = place
inside('%s').add(fresh)
"""
"""A person deletes the old node and draws the new one in its place; here it also takes its id."""


def replaced(address: str, node_type: str) -> str:
    """JavaScript that puts an unlinked node of another type where the node was."""
    return REPLACE % (address, node_type, address.rpartition(":")[0])


TWIN = """
const twin = LiteGraph.createNode(at('%s').type)
graph.add(twin)
const save = LiteGraph.createNode('%s')
graph.add(save)
twin.connect(0, save, 0)
name('twin', twin)
"""
"""A second instance of a template's subgraph with a save node of its own: no template has one."""


def twin(instance: str, save: str) -> str:
    """JavaScript that adds another instance of the same subgraph, with a save node after it."""
    return TWIN % (instance, save)
