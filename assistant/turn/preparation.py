"""What the requests of a turn share (provider, window, system message, tools), and their plans."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, TypeAlias

from ...agent_prompts import SystemPrompt
from ..chats import ChatParams
from ..config import Settings
from ..context.calibration import Calibration
from ..context.chat_context import ChatContext
from ..context.exact import counter_of
from ..context.plan import Plan
from ..context.report import Report
from ..context.system import SystemText
from ..context.tail import EARLIER_SHARE
from ..context.tokens import TextTokens
from ..context.window import Budget, Window, window_of
from ..errors import AssistantError, ContextOverflow, InvalidRequest
from ..llm.provider import Provider
from ..llm.request import LLMRequest
from ..memory.known import Known
from ..messages.parts import Message
from ..tools.toolset import Listing, Toolset
from ..user_context.skills import Skill, SkillSummary
from ..workflow.snapshot import Snapshot
from .conversation import Conversation
from .loaded_tools import loaded_before, schemas_of
from .remembered import NOTHING, core_text, forget, known_to, remember
from .skills_in_use import skills_in_use
from .standing_notes import add_standing_notes
from .turn_notes import NoteSources, add_recalled, begin_tail, query_of, recalls
from .turn_services import Services, provider_for, settings_for


@dataclass(frozen=True, slots=True)
class Preparation:
    """Fixed for a turn. `window.known` is False where the window is only assumed. `count` counts
    tokens as the model does, where that is possible; else estimates are multiplied by `factor`.
    `alternation` is True for a model that refuses two messages of one role in a row. `tools` are
    the schemas that the turn's requests begin with; groups that its calls load follow them
    (`toolset`, listed as in `listing`). `rules` are the user's, oldest first; `skills` are those in
    use, newest first. `known` are the user's memories; `system_for` makes the system message for
    others."""

    provider: Provider
    window: Window
    system: SystemText | None
    tools: tuple[Mapping[str, Any], ...]
    settings: Settings
    history: tuple[Message, ...]
    conversation: Conversation
    factor: float = 1.0
    alternation: bool = False
    count: TextTokens | None = None
    toolset: Toolset | None = None
    listing: Listing = Listing()
    rules: tuple[str, ...] = ()
    skills: tuple[Skill | SkillSummary, ...] = ()
    known: Known = NOTHING
    system_for: Callable[[Known], SystemText | None] | None = None

    async def plan(self, answer: Message, number: int) -> Plan:
        """The plan of the turn's request `number` (from 1), which continues `answer`. Made in a
        thread: feeding a long chat for the first time takes seconds."""
        return await asyncio.to_thread(self.plan_now, answer, number)

    def plan_now(self, answer: Message, number: int) -> Plan:
        """`plan`, in the caller's thread."""
        with self.conversation.held_for(answer.id):
            self.conversation.feed(self.history, answer)
            made = self.ready(answer).plan(self.conversation.tail)
        return replace(made, report=replace(made.report, request=number))

    async def wrapped_up(self, answer: Message, number: int, made: Plan) -> Plan:
        """The plan with the note that it is time to finish, which stays for the rest of the turn
        (R30). `made` unchanged where most of the request is from earlier turns: there a cut makes
        room."""
        conversation = self.conversation
        if made.earlier_tokens > EARLIER_SHARE * made.tokens:
            return made

        def work() -> Plan:
            with conversation.held_for(answer.id):
                asked, row = conversation.context.asked_row, len(conversation.context)
                conversation.tail = conversation.tail.with_wrap_up(asked, row)
                return self.plan_now(answer, number)

        return await asyncio.to_thread(work)

    async def outlook(self) -> Report | None:
        """The report of the request that would be sent now; None where nothing can be sent, or
        where it does not fit."""

        def work() -> Plan:
            with self.conversation.lock:
                self.conversation.feed(self.history)
                return self.ready().plan()

        try:
            made = await asyncio.to_thread(work)
        except (ContextOverflow, InvalidRequest):
            return None
        return replace(made.report, request=0)

    def ready(self, answer: Message | None = None) -> ChatContext:
        """The conversation's context, prepared for the turn's next request, which continues
        `answer`. The caller holds its lock."""
        budget = Budget(self.window, self.alternation, factor=self.factor, count=self.count)
        self.conversation.context.prepare(budget, self.system, self._tools_after(answer))
        return self.conversation.context

    def _tools_after(self, answer: Message | None) -> tuple[Mapping[str, Any], ...]:
        """The schemas to offer, with the groups that the calls of `answer` loaded."""
        if not self.tools or self.toolset is None or answer is None:
            return self.tools
        loaded = self.toolset.loaded_by(answer.tool_parts, self.listing.window)
        every = tuple(dict.fromkeys((*self.listing.loaded, *loaded)))
        return schemas_of(self.toolset.list(replace(self.listing, loaded=every)))

    def add_standing_notes(self, workflow: Snapshot) -> None:
        """Adds the lines about the workflow and the user's rules to the tail of the turn."""
        add_standing_notes(
            self.conversation,
            self.history,
            workflow,
            self.rules,
            self.skills,
            self.window,
            self.settings,
        )

    def remember(self, query: str, workflow: Snapshot, chat_id: str | None) -> None:
        """Chooses the memories of a turn that has just begun, for its message `query`."""
        remember(
            self.conversation,
            self.known,
            query,
            workflow,
            system=self.system.text if self.system else "",
            most=self.settings.memory_limit,
            cached=self.settings.prompt_cache == "auto",
            chat_id=chat_id,
        )

    def remembering(self, known: Known) -> Preparation:
        """The preparation after a change of the user's memories: without those that are gone. Reads
        files."""
        forget(self.conversation, known, cached=self.settings.prompt_cache == "auto")
        system = self.system if self.system_for is None else self.system_for(known)
        return replace(self, known=known, system=system)

    def request(self, made: Plan) -> LLMRequest:
        return LLMRequest(
            messages=made.messages,
            tools=made.tools,
            temperature=self.settings.temperature,
            max_output_tokens=self.settings.max_output_tokens,
            reasoning_effort=self.settings.reasoning_effort,
        )

    def without_tools(self) -> Preparation:
        return replace(self, tools=())

    def alternating(self) -> Preparation:
        """The preparation for a server that refuses two messages of one role in a row (R19)."""
        return replace(self, alternation=True)

    def within(self, tokens: int) -> Preparation:
        """The preparation for a server whose window turned out to be smaller (R29)."""
        return replace(self, window=replace(self.window, tokens=tokens, known=True))


First: TypeAlias = tuple[Preparation, "Plan | None"]
"""The preparation of a turn, and the plan of its first request where that is made already."""


async def prepare(
    services: Services,
    history: tuple[Message, ...],
    conversation: Conversation,
    params: ChatParams,
) -> Preparation:
    """The preparation of a turn whose messages are `history`; `params` are the chat's own.

    Raises ProviderError when no provider is configured or found."""
    make = await maker(services, history, conversation, params)
    return await asyncio.to_thread(make)


async def prepare_first(
    services: Services,
    history: tuple[Message, ...],
    conversation: Conversation,
    params: ChatParams,
    notes: NoteSources,
    answer: Message,
    workflow: Snapshot,
    chat_id: str | None = None,
) -> First:
    """The preparation of a turn with its tail, and the plan of its first request: in one thread,
    since every change of threads costs more than a short chat's plan. `workflow` came with the
    turn.

    The plan is None where the turn goes on after a suspension, where passages are to be recalled,
    and where it cannot be made, which the next attempt reports. Raises ProviderError as `prepare`
    does."""
    conversation.answering = notes.answer_id
    make = await maker(services, history, conversation, params)
    query = query_of(history)

    def work() -> tuple[Preparation, Plan | None, bool]:
        # In one hold: a turn that was stopped meanwhile changes nothing in the next one.
        with conversation.held_for(notes.answer_id):
            preparation = make()
            begun = begin_tail(conversation, notes)
            preparation.ready(answer)
            recall = begun and recalls(conversation, query, preparation.settings.recall_tokens)
            if begun:
                preparation.add_standing_notes(workflow)
                if not recall:
                    preparation.remember(query, workflow, chat_id)
            if recall or answer.parts:
                return preparation, None, recall
            try:
                return preparation, preparation.plan_now(answer, 1), False
            except AssistantError:
                return preparation, None, False

    def choose() -> None:
        with conversation.held_for(notes.answer_id):
            preparation.remember(query, workflow, chat_id)

    preparation, plan, recall = await asyncio.to_thread(work)
    if recall:
        await add_recalled(conversation, notes, query, preparation.settings.recall_tokens)
        # Only now is it known which earlier words of this chat the request has.
        await asyncio.to_thread(choose)
    return preparation, plan


async def maker(
    services: Services,
    history: tuple[Message, ...],
    conversation: Conversation,
    params: ChatParams,
) -> Callable[[], Preparation]:
    """A function that makes the preparation; to be called in a thread."""
    settings = settings_for(services.settings, params)
    (provider, window), statements, known = await asyncio.gather(
        _provider_and_window(services, params, settings),
        services.prompts.statements(),
        known_to(services),
    )
    spoken = without_system(history)
    calibration = services.calibrations.get(provider.model, Calibration())
    alternation = provider.model in services.alternating

    def prompt(
        skills: Sequence[Skill | SkillSummary], tools: bool, memories: str = ""
    ) -> SystemPrompt:
        # Our own system message: full on a chat's first turn, else the continuation (R1, R2).
        return services.prompts.system_prompt(
            statements,
            first_turn=conversation.context.first_turn,
            window_tokens=window.tokens,
            compact=window.compact,
            tools=tools,
            max_steps=settings.max_steps,
            pinned_skills=skills,
            memories=memories,
        )

    def make() -> Preparation:
        conversation.feed_locked(spoken)
        count = counter_of(provider.model)
        skills = skills_in_use(spoken, conversation, settings)
        listing = Listing(window.tokens)
        if settings.prompt_cache == "auto":
            loaded = loaded_before(services.toolset, listing, spoken)
            listing = replace(listing, loaded=loaded)
        tools = schemas_of(services.toolset.list(listing)) if provider.tools else ()
        own = client_system(history)
        made = prompt(skills, bool(tools)) if own is None else None

        def system_for(known: Known) -> SystemText | None:
            if made is None or settings.prompt_cache != "auto":
                return own if made is None else _system_text(made)
            texts = (made.text, *made.rules)
            core = core_text(conversation, known, settings.memory_limit, texts)
            return _system_text(prompt(skills, bool(tools), core) if core else made)

        return Preparation(
            provider,
            window,
            system_for(known),
            tools,
            settings,
            spoken,
            conversation,
            factor=1.0 if count is not None else calibration.factor,
            alternation=alternation,
            count=count,
            toolset=services.toolset,
            listing=listing,
            rules=() if made is None else made.rules,
            skills=skills,
            known=known,
            system_for=system_for,
        )

    return make


async def _provider_and_window(
    services: Services, params: ChatParams, settings: Settings
) -> tuple[Provider, Window]:
    provider = await provider_for(services.providers, params)
    tokens = await services.providers.window(provider)
    return provider, window_of(tokens, settings.response_reserve, settings.max_output_tokens)


def _system_text(made: SystemPrompt) -> SystemText:
    return SystemText(made.text, made.kind, made.user_context_chars, made.limits, made.left_out)


def without_system(history: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages after the client's system messages, which come first (R3); `history` itself
    where there are none."""
    return history[next((at for at, one in enumerate(history) if one.role != "system"), None) :]


def client_system(history: Sequence[Message]) -> SystemText | None:
    """The system message that the client sent, which comes first and holds for this request
    (R3)."""
    first = takewhile(lambda message: message.role == "system", history)
    texts = [message.text for message in first if message.text.strip()]
    return SystemText("\n\n".join(texts), "client") if texts else None
