"""Chooses the system message of a request and shortens it to fit the model's window.

`SystemPrompts` reads files through a cache and rows by their revision, and calls the pure functions
of `agent_prompts`. `context` places the message in the request.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...agent_prompts import (
    WINDOW_LIMIT,
    SystemPrompt,
    format_user_context,
    get_compact_system_message,
    get_system_message,
    get_system_message_continuation,
)
from ...user_context_loader import (
    Skill,
    SkillLibrary,
    SkillSummary,
    SourceCache,
    SystemSection,
    UserContext,
    UserContextStore,
    UserStatements,
    fit_sections,
    load_compact_context,
    load_environment_summary,
    load_sections,
    load_user_context,
)
from ..config import Settings
from ..errors import StoreError
from .user_block import BLOCK_LIMIT

log = logging.getLogger("comfyui_assistant")

WINDOW_SHARE = 4
"""The system message gets at most a quarter of the window."""
USER_SHARE = 3
"""The user context gets at most a third of the system message, so that our own text keeps its
place."""
CHARS_PER_TOKEN = 4
"""Characters of a token in English: a first estimate, which `_within` corrects."""

SYSTEM_LIMIT = "LLM_SYSTEM_CONTEXT_MAX_CHARS"

LOOK_SECONDS = 1.0
"""For so long the shipped files are not looked at again: a turn would look at some thirty."""

Render = Callable[[int], SystemPrompt]


@dataclass(frozen=True, slots=True)
class _Shipped:
    """What `system_context/` holds."""

    sections: tuple[SystemSection, ...]
    compact: str
    skills: tuple[SkillSummary, ...]


class SystemPrompts:
    """The system messages of one user. `count_tokens` estimates the tokens of a text.

    `system_path` is the shipped `system_context/`, `user_path` the user's own folder and
    `defaults_path` the plugin's `user_context/`. `skills` and this class should share `cache`.
    """

    def __init__(
        self,
        system_path: Path,
        user_path: Path,
        store: UserContextStore,
        skills: SkillLibrary,
        settings: Settings,
        count_tokens: Callable[[str], int],
        cache: SourceCache | None = None,
        defaults_path: Path | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._shipped: tuple[float, _Shipped] | None = None
        self._looking = threading.Lock()
        self._system_path = system_path
        self._user_path = user_path
        self._store = store
        self._skills = skills
        self._settings = settings
        self._count_tokens = count_tokens
        self._cache = cache or SourceCache()
        self._defaults_path = defaults_path
        self._statements = UserStatements()

    async def statements(self) -> tuple[UserStatements, tuple[str, ...]]:
        """The user's rules and preferences, and what is missing of them: where the database cannot
        be read, they are as last read."""
        try:
            self._statements = await self._store.read()
        except StoreError as error:
            log.warning("Rules and preferences as last read: %s", ascii(error.message)[1:-1])
            return self._statements, (
                "changes of rules and preferences (the database could not be read)",
            )
        return self._statements, ()

    def system_prompt(
        self,
        statements: tuple[UserStatements, tuple[str, ...]],
        *,
        first_turn: bool,
        window_tokens: int,
        compact: bool,
        tools: bool,
        max_steps: int = 0,
        pinned_skills: Sequence[Skill | SkillSummary] = (),
        memories: str = "",
    ) -> SystemPrompt:
        """The system message of one request, byte-identical until a source changes (R9). Reads
        files, so call it in a thread.

        The first turn and every turn with cached prompts (R50) get the full message, or the
        `compact` message in a small window; other turns get the continuation (R1, R2). A source
        that cannot be read raises nothing: `left_out` names it. `memories` end the user context; a
        continuation has none, since their place is the tail there (R45).
        """
        known, missing = statements
        continuation = not first_turn and self._settings.prompt_cache != "auto"
        prompt = self._compose(
            known,
            continuation,
            window_tokens,
            compact,
            tools,
            max_steps,
            tuple(pinned_skills),
            memories,
        )
        rules = tuple(rule.text for rule in known.rules)
        return replace(prompt, left_out=prompt.left_out + missing, rules=rules)

    def _compose(
        self,
        statements: UserStatements,
        continuation: bool,
        window_tokens: int,
        compact: bool,
        tools: bool,
        max_steps: int,
        pinned_skills: tuple[Skill | SkillSummary, ...],
        memories: str,
    ) -> SystemPrompt:
        user_context = load_user_context(
            self._user_path, statements, self._cache, self._defaults_path
        )
        limit = window_tokens // WINDOW_SHARE
        if continuation:
            render, cap = self._continuation(user_context, tools, max_steps, pinned_skills)
        elif compact:
            render, cap = self._compact(user_context, tools, memories), limit * CHARS_PER_TOKEN
        else:
            user_chars = self._user_chars(user_context, limit // USER_SHARE)
            render, cap = self._full(user_context, user_chars, tools, max_steps, memories)
        prompt, fitting = self._within(limit, render, cap)
        if fitting == cap or WINDOW_LIMIT in prompt.limits:
            return prompt
        return replace(prompt, limits=(*prompt.limits, WINDOW_LIMIT))

    def _look(self) -> _Shipped:
        with self._looking:  # Of many turns at once one looks.
            now = self._seconds()
            if self._shipped is None or now >= self._shipped[0]:
                found = _Shipped(
                    load_sections(self._system_path, self._cache),
                    load_compact_context(self._system_path, self._cache),
                    self._skills.list_system(),
                )
                self._shipped = now + LOOK_SECONDS, found
            return self._shipped[1]

    def _full(
        self,
        user_context: UserContext,
        user_chars: int,
        tools: bool,
        max_steps: int,
        memories: str,
    ) -> tuple[Render, int]:
        shipped = self._look()
        sections, skills = shipped.sections, shipped.skills if tools else ()
        environment = load_environment_summary(self._user_path, self._cache)

        def render(max_chars: int) -> SystemPrompt:
            system = fit_sections(sections, max_chars)
            prompt = get_system_message(
                system.text,
                user_context,
                environment,
                user_chars,
                narrative_max_chars=self._settings.narrative_max_chars,
                max_rules=self._settings.max_rules,
                skills=skills,
                tools=tools,
                max_steps=max_steps,
                memories=memories,
            )
            limits = ((SYSTEM_LIMIT,) if system.left_out else ()) + prompt.limits
            if user_chars != self._settings.user_context_max_chars:
                limits = tuple(WINDOW_LIMIT if name == BLOCK_LIMIT else name for name in limits)
            return replace(prompt, limits=limits, left_out=system.left_out + prompt.left_out)

        return render, self._settings.system_context_max_chars

    def _continuation(
        self,
        user_context: UserContext,
        tools: bool,
        max_steps: int,
        pinned_skills: tuple[Skill | SkillSummary, ...],
    ) -> tuple[Render, int]:
        skills = self._look().skills if tools else ()

        def render(max_chars: int) -> SystemPrompt:
            return get_system_message_continuation(
                user_context,
                max_chars,
                narrative_max_chars=self._settings.narrative_max_chars,
                max_rules=self._settings.max_rules,
                skills=skills,
                pinned_skills=pinned_skills,
                max_skills_full_chars=self._settings.max_skills_full_chars,
                tools=tools,
                max_steps=max_steps,
            )

        return render, self._settings.continuation_max_chars

    def _compact(self, user_context: UserContext, tools: bool, memories: str) -> Render:
        text = self._look().compact

        def render(max_chars: int) -> SystemPrompt:
            return get_compact_system_message(
                text,
                user_context,
                max_chars,
                self._settings.user_context_max_chars,
                narrative_max_chars=self._settings.narrative_max_chars,
                max_rules=self._settings.max_rules,
                tools=tools,
                memories=memories,
            )

        return render

    def _user_chars(self, user_context: UserContext, limit: int) -> int:
        """The cap of the user context in characters that keeps it within `limit` tokens."""

        def render(max_chars: int) -> SystemPrompt:
            caps = (max_chars, self._settings.narrative_max_chars, self._settings.max_rules)
            return SystemPrompt(format_user_context(user_context, *caps), "full")

        return self._within(limit, render, self._settings.user_context_max_chars)[1]

    def _within(self, limit: int, render: Render, cap: int) -> tuple[SystemPrompt, int]:
        """The prompt of `render` for the largest cap that keeps it in `limit` tokens, and that cap.

        `cap` is in characters, 0 for no cap; the smallest cap is one character.
        """
        prompt = render(cap)
        while (tokens := self._count_tokens(prompt.text)) > limit and cap != 1:
            chars = len(prompt.text)
            excess = -(-(tokens - limit) * chars // tokens)  # in characters of this text
            cap = max(min(cap or chars, chars) - excess, 1)
            prompt = render(cap)
        return prompt, cap
