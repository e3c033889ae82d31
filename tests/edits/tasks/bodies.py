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
const instance = workflow.nodes.find((node) => node.id === %d)
const [id, saveId, linkId] = [
  workflow.last_node_id + 1, workflow.last_node_id + 2, workflow.last_link_id + 1,
]
const copy = JSON.parse(JSON.stringify(instance))
copy.id = id
copy.outputs[0].links = [linkId]
const save = {
  id: saveId, type: '%s', pos: [0, 0], size: [300, 100], flags: {}, order: 0, mode: 0,
  inputs: [{ name: '%s', type: '%s', link: linkId }], outputs: [], properties: {},
  widgets_values: ['twin'],
}
workflow.nodes.push(copy, save)
workflow.links.push([linkId, id, 0, saveId, 0, '%s'])
workflow.last_node_id += 2
workflow.last_link_id += 1
return workflow
"""
"""A second instance of a template's subgraph with a save node of its own: no template has one.

It is made in the JSON: the front end gives random ids to the inputs of these subgraphs when it
serialises them.
"""


def twin(instance: int, save: str, kind: str) -> str:
    """JavaScript that adds another instance of a subgraph, and a node that saves its output.

    `kind` is the type of that output, IMAGE or VIDEO. The instance has no linked inputs.
    """
    save_input = {"IMAGE": "images", "VIDEO": "video"}[kind]
    return TWIN % (instance, save, save_input, kind, kind)


UNWRAPPED = """
const before = new Set(inside('%(scope)s').nodes.map((node) => String(node.id)))
inside('%(scope)s').unpackSubgraph(at('%(address)s'))
for (const node of inside('%(scope)s').nodes) {
  const inPrompt = node.mode === 0 && (node.subgraph || !node.isVirtualNode)
  if (inPrompt && !before.has(String(node.id))) {
    name(`${node.type} ${node.id}`, node, '%(scope)s')
  }
}
"""
"""Unpacks an instance and names the nodes that came out of it: all of them get new ids."""


def unwrapped(address: str) -> str:
    """JavaScript that unpacks a subgraph instance."""
    return UNWRAPPED % {"address": address, "scope": address.rpartition(":")[0]}


WRAPPED = """
const wrapped = inside('%(scope)s').convertToSubgraph(new Set(%(nodes)s.map(at)))
wrapped.node.title = '%(title)s'
wrapped.subgraph.name = '%(title)s'
name('wrapped', wrapped.node, '%(scope)s')
"""


def wrapped(title: str, *nodes: str) -> str:
    """JavaScript that converts nodes of one graph to a subgraph."""
    scope = nodes[0].rpartition(":")[0]
    return WRAPPED % {"title": title, "nodes": list(nodes), "scope": scope}
