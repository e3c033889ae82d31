"""The edit tasks are well formed, and each has its prompt, made by hand in the front end."""

import pytest
from plugin.preview.templates import templates_folder
from plugin.tests.edits.same_prompt import same_prompt
from plugin.tests.edits.task import KINDS, LAYOUT_KINDS, Task, all_tasks, recorded_tasks
from plugin.tests.prompts import recorded_prompts

FIELDS = {
    "add": ({"id", "type"}, {"title", "values", "inputs", "inside", "near"}),
    "remove": ({"node"}, {"bridge"}),
    "replace": ({"node", "type"}, {"values"}),
    "insert": ({"id", "type", "into"}, {"values", "inputs"}),
    "connect": ({"from", "to"}, set()),
    "disconnect": ({"to"}, set()),
    "set": ({"node", "values"}, set()),
    "title": ({"node", "title"}, set()),
    "mode": ({"node", "mode"}, set()),
    "move": ({"node"}, {"x", "y", "near"}),
    "arrange": (set(), {"nodes"}),
    "group": ({"title", "nodes"}, set()),
    "ungroup": ({"group"}, set()),
    "wrap": ({"nodes", "title"}, set()),
    "unwrap": ({"node"}, set()),
}
"""The fields that each operation must and may have, as the contract says."""
FEWEST = 92  # tasks
FEWEST_TEMPLATES = 50
tasks = pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)


def test_there_are_enough_tasks() -> None:
    assert len(all_tasks()) >= FEWEST


def test_the_tasks_are_on_many_templates() -> None:
    assert len({task.template for task in all_tasks()}) >= FEWEST_TEMPLATES


def test_each_kind_of_edit_has_a_task() -> None:
    assert {task.kind for task in all_tasks()} == set(KINDS)


def test_names_are_unique() -> None:
    names = [task.name for task in all_tasks()]
    assert len(names) == len(set(names))


def test_the_record_has_each_task_and_no_other() -> None:
    assert set(recorded_tasks()) == {task.name for task in all_tasks()}


@tasks
def test_a_task_is_well_formed(task: Task) -> None:
    assert (templates_folder() / f"{task.template}.json").is_file()
    assert task.say.strip() and task.by_hand.strip()
    assert task.operations
    for operation in task.operations:
        needed, optional = FIELDS[operation["op"]]
        fields = set(operation) - {"op"}
        assert needed <= fields <= needed | optional, operation


@tasks
def test_the_names_of_added_nodes_are_recorded(task: Task) -> None:
    added = {
        operation["id"] for operation in task.operations if operation["op"] in {"add", "insert"}
    }
    recorded = recorded_tasks()[task.name]
    assert added <= set(recorded.names)
    assert not set(recorded.names.values()) & set(recorded.before)


@tasks
def test_only_layout_leaves_the_prompt_as_it_was(task: Task) -> None:
    recorded = recorded_tasks()[task.name]
    unchanged = same_prompt(recorded.before, recorded.expected)
    assert unchanged == (task.kind in LAYOUT_KINDS)


@tasks
def test_a_damaged_workflow_is_recorded(task: Task) -> None:
    assert (recorded_tasks()[task.name].workflow is not None) == bool(task.damage)


@tasks
def test_the_prompt_before_is_the_one_of_the_template(task: Task) -> None:
    if not task.damage:
        expected = recorded_prompts()[task.template]["output"]
        assert same_prompt(expected, recorded_tasks()[task.name].before)


@tasks
def test_other_ids_of_added_nodes_are_as_good(task: Task) -> None:
    recorded = recorded_tasks()[task.name]
    added = set(recorded.names.values())
    others = {key: _other(key, added) for key in recorded.expected}
    found = {
        others[key]: {
            **node,
            "inputs": {
                name: [others.get(value[0], value[0]), value[1]]
                if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)
                else value
                for name, value in node["inputs"].items()
            },
        }
        for key, node in recorded.expected.items()
    }
    assert same_prompt(recorded.expected, found, added)


def _other(key: str, added: set[str]) -> str:
    """The id with a thousand more in each part that the task adds."""
    parts = key.split(":")
    return ":".join(
        str(int(part) + 1000) if ":".join(parts[: index + 1]) in added else part
        for index, part in enumerate(parts)
    )
