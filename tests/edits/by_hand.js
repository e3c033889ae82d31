/**
 * What a task's `by_hand` may call: ComfyUI's front end as a person uses it, with addresses.
 *
 * An address is a node's id in the API prompt: "8", or "57:8" inside the subgraph instance 57. A name
 * that `name` or `add` gave stands for its address, also before a colon ("mine:3"). Slots and
 * widgets are named as the canvas names them; an index is accepted, too.
 */
(app) => {
  const names = {}

  const fail = (text) => {
    throw new Error(text)
  }

  /** The address with its names replaced by ids. */
  const resolved = (address) =>
    String(address)
      .split(':')
      .map((part) => names[part] ?? part)
      .join(':')

  /** The node at an address. */
  const at = (address) => {
    let graph = app.rootGraph
    let node
    for (const part of resolved(address).split(':')) {
      if (node) graph = node.subgraph ?? fail(`${address}: no subgraph on the way to ${part}`)
      node = graph.getNodeById(Number(part)) ?? fail(`${address}: no node ${part}`)
    }
    return node
  }

  /** The graph inside an instance; the workflow itself for "". */
  const inside = (address) =>
    address === '' ? app.rootGraph : at(address).subgraph ?? fail(`${address} is no subgraph`)

  const scope = (address) => {
    const full = resolved(address)
    return full.includes(':') ? full.slice(0, full.lastIndexOf(':')) : ''
  }

  /** Gives a node a name for the record and for later calls. */
  const name = (wanted, node, outer = '') => {
    if (wanted in names) fail(`The name ${wanted} is taken.`)
    names[wanted] = outer === '' ? String(node.id) : `${resolved(outer)}:${node.id}`
    return node
  }

  const slot = (slots, wanted, what) => {
    const index =
      typeof wanted === 'number'
        ? wanted
        : slots.findIndex((candidate) => candidate.name === wanted || candidate.label === wanted)
    if (!slots[index]) fail(`No ${what} ${wanted} among ${slots.map((s) => s.name).join(', ')}`)
    return index
  }

  const widget = (address, wanted) => {
    const node = at(address)
    return (
      node.widgets?.find((candidate) => candidate.name === wanted) ??
      fail(`${address} has no widget ${wanted} among ${node.widgets?.map((w) => w.name)}`)
    )
  }

  /** Sets a widget as a person does: with the rounding and the callbacks of the canvas. */
  const put = (address, wanted, value) => {
    const node = at(address)
    const found = widget(address, wanted)
    if (found.setValue) {
      const event = new CustomEvent('by hand')
      found.setValue(value, { e: event, node, canvas: app.canvas })
    } else {
      found.value = value
      found.callback?.(value, app.canvas, node)
    }
    return found.value
  }

  /** Adds a node with its defaults, to the workflow or into the instance `outer`. */
  const add = (wanted, type, outer = '', values = {}) => {
    const node = LiteGraph.createNode(type) ?? fail(`There is no node type ${type}.`)
    inside(outer).add(node)
    name(wanted, node, outer)
    for (const [key, value] of Object.entries(values)) put(wanted, key, value)
    return node
  }

  /** Draws a link from an output to an input of the same graph. */
  const link = (from, output, to, input) => {
    const source = at(from)
    const target = at(to)
    if (source.graph !== target.graph) fail(`${from} and ${to} lie in different graphs.`)
    const made = source.connect(
      slot(source.outputs, output, 'output'),
      target,
      slot(target.inputs, input, 'input'),
    )
    return made ?? fail(`The canvas refused the link ${from}.${output} to ${to}.${input}.`)
  }

  /** Draws a link from a subgraph's own input to an input of a node in it. */
  const linkFromOutside = (instance, input, to, toInput) => {
    const target = at(to)
    const own = inside(instance).inputs
    const made = own[slot(own, input, 'input')].connect(
      target.inputs[slot(target.inputs, toInput, 'input')],
      target,
    )
    return made ?? fail(`The canvas refused the link to ${to}.${toInput}.`)
  }

  /** Draws a link from an output of a node in a subgraph to the subgraph's own output. */
  const linkToOutside = (from, output, instance, toOutput) => {
    const source = at(from)
    const own = inside(instance).outputs
    const made = own[slot(own, toOutput, 'output')].connect(
      source.outputs[slot(source.outputs, output, 'output')],
      source,
    )
    return made ?? fail(`The canvas refused the link from ${from}.${output}.`)
  }

  const unlink = (to, input) => {
    const target = at(to)
    if (!target.disconnectInput(slot(target.inputs, input, 'input'))) {
      fail(`${to}.${input} had no link.`)
    }
  }

  const remove = (address) => {
    const node = at(address)
    node.graph.remove(node)
  }

  const MODES = { run: 0, mute: 2, bypass: 4 }
  const mode = (address, wanted) => {
    at(address).mode = MODES[wanted] ?? fail(`No mode ${wanted}`)
  }

  const functions = {
    app, graph: app.rootGraph, LiteGraph, names, at, inside, scope, name, widget, put, add, link,
    linkFromOutside, linkToOutside, unlink, remove, mode, fail,
  }

  return {
    names,
    run: (body) => {
      const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
      return new AsyncFunction(...Object.keys(functions), body)(...Object.values(functions))
    },
  }
}
