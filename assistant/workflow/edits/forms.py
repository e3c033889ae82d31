"""The form of each operation, in the words that an error says it, and other names for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .operations import Mode

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "add": ("type", "id", "title", "values", "inputs", "inside", "near"),
    "remove": ("node", "bridge"),
    "replace": ("node", "type", "values"),
    "insert": ("type", "id", "into", "title", "values", "inputs"),
    "connect": ("from", "to"),
    "disconnect": ("to", "from"),
    "set": ("node", "values"),
    "title": ("node", "title"),
    "mode": ("node", "mode"),
    "move": ("node", "x", "y", "near"),
    "arrange": ("nodes",),
    "group": ("title", "nodes"),
    "ungroup": ("group",),
    "wrap": ("nodes", "title", "id"),
    "unwrap": ("node",),
}
"""The fields of each operation; the first is the one that a lone value stands for."""
OPERATION_KEYS: Final = ("op", "operation", "action", "command", "kind", "type", "name", "method")
"""The fields that may name the operation, `op` first."""
IGNORED: Final = frozenset({"note", "comment", "reason", "description", "why", "explanation"})
"""Fields that say something to people."""

PLACES: Final = frozenset({"pos", "position", "size", "x", "y"})
"""Fields of a new node that are not read: where it lies is decided when the batch is done."""

OTHER_NAMES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("", "node"): ("nodeid", "id", "target", "address", "nodes"),
    ("", "id"): ("name", "nodeid", "as", "newid"),
    ("", "type"): ("classtype", "class", "nodetype", "newtype"),
    ("", "values"): ("value", "widgets", "widgetvalues", "widgetsvalues", "settings", "params"),
    ("", "inputs"): ("links", "connections", "input", "link"),
    ("", "inside"): ("subgraph", "instance", "scope", "parent"),
    ("", "title"): ("name", "newtitle", "label"),
    ("", "nodes"): ("node", "ids", "nodeids"),
    ("", "from"): ("source", "output"),
    ("", "to"): ("target", "input", "destination"),
    ("", "into"): ("to", "target", "input"),
    ("", "near"): ("beside", "nextto"),
    ("", "group"): ("title", "name"),
    ("", "mode"): ("state",),
    ("set", "values"): ("widgets", "widgetvalues", "widgetsvalues", "settings", "params", "inputs"),
}
"""Other names of fields, of one operation or of all."""

SYNONYMS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "addnode": ("add", {}),
    "create": ("add", {}),
    "createnode": ("add", {}),
    "new": ("add", {}),
    "newnode": ("add", {}),
    "delete": ("remove", {}),
    "deletenode": ("remove", {}),
    "removenode": ("remove", {}),
    "replacenode": ("replace", {}),
    "swap": ("replace", {}),
    "changetype": ("replace", {}),
    "insertnode": ("insert", {}),
    "splice": ("insert", {}),
    "link": ("connect", {}),
    "addlink": ("connect", {}),
    "connectnodes": ("connect", {}),
    "unlink": ("disconnect", {}),
    "removelink": ("disconnect", {}),
    "setvalue": ("set", {}),
    "setvalues": ("set", {}),
    "setwidget": ("set", {}),
    "setwidgets": ("set", {}),
    "update": ("set", {}),
    "updatenode": ("set", {}),
    "change": ("set", {}),
    "modify": ("set", {}),
    "edit": ("set", {}),
    "settitle": ("title", {}),
    "rename": ("title", {}),
    "retitle": ("title", {}),
    "setmode": ("mode", {}),
    "bypass": ("mode", {"mode": "bypass"}),
    "mute": ("mode", {"mode": "mute"}),
    "unmute": ("mode", {"mode": "run"}),
    "unbypass": ("mode", {"mode": "run"}),
    "enable": ("mode", {"mode": "run"}),
    "movenode": ("move", {}),
    "layout": ("arrange", {}),
    "creategroup": ("group", {}),
    "addgroup": ("group", {}),
    "removegroup": ("ungroup", {}),
    "subgraph": ("wrap", {}),
    "unpack": ("unwrap", {}),
}
"""Other names of operations, without signs and case, with the fields that they stand for."""

MODES: Final[Mapping[str, Mode]] = {
    "run": "run",
    "0": "run",
    "always": "run",
    "on": "run",
    "normal": "run",
    "active": "run",
    "enable": "run",
    "enabled": "run",
    "mute": "mute",
    "muted": "mute",
    "2": "mute",
    "never": "mute",
    "bypass": "bypass",
    "bypassed": "bypass",
    "4": "bypass",
}

_SET: Final = '{"op": "set", "node": "3", "values": {"steps": 30, "cfg": 4.5}}'
FORMS: Final[Mapping[str, str]] = {
    "": f'An operation is an object with "op": one of {", ".join(FIELDS)}. For example {_SET}',
    "add": (
        '{"op": "add", "id": "up", "type": "LatentUpscaleBy", "values": {"scale_by": 2}, '
        '"inputs": {"samples": "3.LATENT"}}; also title, inside, near.'
    ),
    "remove": '{"op": "remove", "node": "7", "bridge": true}',
    "replace": '{"op": "replace", "node": "7", "type": "KSamplerAdvanced", "values": {"steps": 9}}',
    "insert": (
        '{"op": "insert", "id": "lora", "type": "LoraLoaderModelOnly", "into": "3.model", '
        '"values": {"strength_model": 0.8}}; also title, inputs.'
    ),
    "connect": '{"op": "connect", "from": "8.LATENT", "to": "3.latent_image"}',
    "disconnect": '{"op": "disconnect", "to": "3.latent_image"}',
    "set": _SET,
    "title": '{"op": "title", "node": "3", "title": "First pass"}',
    "mode": '{"op": "mode", "node": "3", "mode": "bypass"}; the modes are run, mute, bypass.',
    "move": '{"op": "move", "node": "3", "x": 400, "y": 120}, or "near": "8" for x and y.',
    "arrange": '{"op": "arrange", "nodes": ["3", "8"]}; without nodes all are arranged.',
    "group": '{"op": "group", "title": "Sampling", "nodes": ["3", "8"]}',
    "ungroup": '{"op": "ungroup", "group": "Sampling"}',
    "wrap": '{"op": "wrap", "nodes": ["3", "8"], "title": "Sampling"}',
    "unwrap": '{"op": "unwrap", "node": "57"}',
}
"""An example of each operation, for the error that refuses another form."""
