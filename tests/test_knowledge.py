"""The texts in `system_context/` and `user_context/` are true, within their limits, well formed."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from plugin.scripts.knowledge.checker import Checker, Section, sections
from plugin.scripts.knowledge.node_definitions import load_definitions
from plugin.scripts.knowledge.template_facts import installed_templates

ROOT = Path(__file__).resolve().parent.parent
KNOWLEDGE = ROOT / "system_context"
SYSTEM_CONTEXT_MAX_CHARS = 12_000  # LLM_SYSTEM_CONTEXT_MAX_CHARS, R4
ROOM_FOR_GROWTH = 400  # characters left for the tools that come later
COMPACT_MAX_CHARS = 1_800  # a quarter of the demo model's 4k window, with the user's rules added
MODEL_SKILLS = sorted(path for path in (KNOWLEDGE / "skills").iterdir() if "model_" in path.name)


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker(load_definitions(ROOT / "preview" / "catalog.json.gz"), installed_templates())


def skill_parts(path: Path) -> tuple[dict[str, Any], str]:
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


def always_loaded() -> list[Path]:
    skills = (KNOWLEDGE / "skills").glob("*/SKILL.md")
    return sorted(KNOWLEDGE.glob("*.md")) + sorted(
        path for path in skills if "model_" not in path.parent.name
    )


@pytest.mark.parametrize(
    "section", list(sections(KNOWLEDGE)), ids=lambda one: f"{one.source}-{one.line}"
)
def test_every_name_and_value_is_true(checker: Checker, section: Section) -> None:
    assert checker.check(section) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("`KSamplr`", "no such node type"),
        ("`KSamplr.seed`", "no node type KSamplr"),
        ("`KSampler.sampler`", "KSampler has no input sampler"),
        ("`KSampler.sampler_name = eulr`", "not among its choices"),
        ("`KSampler.cfg = 900`", "not a number from 0.0 to 100.0"),
        ("`KSampler.cfg = 8`", "templates have (7,)"),
        ("`EmptyLatentImage.width = 512`", "templates have (1024,)"),
        ("`CLIPTextEncode -> KSampler.model`", "no output of type MODEL"),
        ("`KSampler -> KSampler.latent_image`", "no such link in the templates"),
        ("`models/checkpoints/sd_xl_turbo_1.0_fp16.safetensors`", "do not use it"),
        ("`models/vae/sd_xl_base_1.0.safetensors`", "do not use it"),
        ("`models/checkpoint`", "no such folder"),
        ("`getWorkflow`", "no such node type, tool"),
        ('`CheckpointLoaderSimple` ("Checkpoint Loader")', "its title is 'Load Checkpoint'"),
    ],
)
def test_a_wrong_name_or_value_is_found(checker: Checker, text: str, reason: str) -> None:
    problems = checker.check(Section("probe.md", 1, text, ("image_sdxl_simple",)))
    assert len(problems) == 1
    assert reason in problems[0]


def test_a_template_that_does_not_exist_is_found(checker: Checker) -> None:
    problems = checker.check(Section("probe.md", 1, "", ("image_sdxl_simpel",)))
    assert problems == ["probe.md:1: no template `image_sdxl_simpel`"]


def test_both_sides_of_a_templates_switch_count_as_proof(checker: Checker) -> None:
    text = "`KSamplerAdvanced.steps = 20` or `KSamplerAdvanced.steps = 4`"
    assert checker.check(Section("probe.md", 1, text, ("video_wan2_2_14B_t2v",))) == []


@pytest.mark.parametrize("folder", MODEL_SKILLS, ids=lambda path: path.name)
def test_every_value_and_file_in_a_model_skill_cites_its_templates(folder: Path) -> None:
    facts = (" = ", ".safetensors")
    uncited = [
        section.text
        for section in sections(folder)
        if not section.templates
        and any(fact in section.text for fact in facts)
        # A hint under "Pitfalls" repeats no template.
        and not section.text.startswith("## Pitfalls")
    ]
    assert uncited == []


def test_the_always_loaded_text_fits_its_cap_with_room_left() -> None:
    text = "\n\n".join(path.read_text(encoding="utf-8") for path in always_loaded())
    assert len(text) <= SYSTEM_CONTEXT_MAX_CHARS - ROOM_FOR_GROWTH


def test_the_compact_text_fits_a_small_window_and_is_not_loaded_twice() -> None:
    compact = KNOWLEDGE / "compact" / "compact.md"
    assert 0 < len(compact.read_text(encoding="utf-8")) <= COMPACT_MAX_CHARS
    assert compact not in always_loaded()


@pytest.mark.parametrize(
    "path", sorted((KNOWLEDGE / "skills").glob("*/SKILL.md")), ids=lambda path: path.parent.name
)
def test_a_skill_has_a_name_a_description_and_a_body_with_a_heading(path: Path) -> None:
    front, body = skill_parts(path)
    assert set(front) == {"name", "description"}
    assert all(isinstance(value, str) and value for value in front.values())
    assert body.lstrip().startswith("# ")


def test_the_model_skills_are_those_for_sdxl_flux_and_wan() -> None:
    names = [skill_parts(folder / "SKILL.md")[0]["name"] for folder in MODEL_SKILLS]
    assert names == ["SDXL", "Flux.1", "Wan 2.2"]


def test_nothing_in_user_context_is_loaded_as_it_is() -> None:
    files = [path for path in (ROOT / "user_context").rglob("*") if path.is_file()]
    assert {path.name for path in files if path.suffix != ".example"} == {"README.md"}


def test_the_example_skill_becomes_a_valid_one_when_renamed() -> None:
    front, body = skill_parts(ROOT / "user_context/skills/example/SKILL.md.example")
    assert set(front) == {"name", "description"}
    assert body.strip()
