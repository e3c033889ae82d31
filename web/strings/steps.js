// @ts-check
/** The steps of an answer: tool calls, one line each. */

export const STEPS = {
  "tool.running": "running",
  "tool.done": "done",
  "tool.failed": "failed",
  "tool.denied": "declined",
  "tool.denied.why": "You declined this step, so it did not run.",
  "tool.overtaken": "not run",
  "tool.overtaken.why":
    "This step did not run: the answer was stopped or asked for anew before you decided.",
  "tool.stopped": "stopped",
  "tool.stopped.why": "The answer ended before this step had a result.",
  "tool.arguments": "Arguments",
  "tool.result": "Result",
  "tool.error": "Error",
  "tool.none": "None",
  "tool.name": "Tool: {name}",
  "tool.more": "Show all",
  "tool.passages.none": "Nothing was found.",
  "tool.passage": "{role}, {handle}",
  "tool.role.user": "You",
  "tool.role.assistant": "Assistant",
  "tool.role.tool": "Tool result",
};
