"""The parts that a report divides a request into: names for JSON, titles for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReportPart:
    """`title` is the part's name in `/context`; `in_header` says whether the response header, which
    stays under 1 kB, has the part."""

    name: str
    title: str
    in_header: bool = True


SYSTEM = ReportPart("system", "Rules and skills")
USER_CONTEXT = ReportPart("user_context", "What you told about yourself")
TOOL_SCHEMAS = ReportPart("tool_schemas", "Tools")
SUMMARY = ReportPart("summary", "Summary of earlier messages")
HISTORY = ReportPart("history", "Recent messages")
TOOL_RESULTS = ReportPart("tool_results", "Tool results")
CURRENT = ReportPart("current", "Your message")
