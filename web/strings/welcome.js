// @ts-check
/** The first visit, and an empty chat. */

export const WELCOME = {
  "first.title": "Hello. Ask about ComfyUI, or about the workflow you have open.",
  "first.found": "{name} was found on this computer",
  "first.ready": "{name} is set up",
  "first.local": "Answers come from {model} on this computer ({name}). Nothing leaves it.",
  "first.remote":
    "Answers come from {model} ({name}). Your messages and the open workflow are sent to {host}.",
  "first.demo.title": "You can try it with the demo model",
  "first.demo":
    "{model} runs on this computer and nothing leaves it, but it is tiny: its answers " +
    "are often wrong, and it cannot look at your workflow.",
  "first.better":
    "For good answers, start Ollama or LM Studio with a larger model, or add a " +
    "provider with a key.",
  "first.none.title": "Choose where answers come from",
  "first.none": "The assistant needs a language model. Three quick ways:",
  "first.none.ollama":
    "Install Ollama, run “ollama pull qwen3:8b”, and try again. Free and private.",
  "first.none.studio": "Start LM Studio, load a model and switch its server on. Free and private.",
  "first.none.key": "Use a provider such as OpenAI or OpenRouter with your own key.",
  "first.start": "Start",
  "first.look": "Look again",
  "first.looking": "Looking…",
  "first.nothing": "Nothing new. Look again",
  "first.setup": "Set up a provider",
  "first.other": "Use another model",

  "empty.title": "What shall we make?",
  "empty.canvas": "The canvas is empty.",
  "empty.unnamed": "the open workflow",
  "empty.sees": "I can see {name}: {nodes}.",
  "empty.seesMissing": "I can see {name}: {nodes}, {missing}.",
  "empty.nodes.one": "{count} node",
  "empty.nodes.other": "{count} nodes",
  "empty.missingNodes.one": "{count} missing node type",
  "empty.missingNodes.other": "{count} missing node types",
  "empty.missingModels.one": "{count} missing model",
  "empty.missingModels.other": "{count} missing models",
  "empty.blind": "The demo model cannot look at the workflow.",
  "empty.preview": "This is the preview: workflows open here, but nothing runs.",
  "ask.missingModels": "Which models are missing, and where do they go?",
  "ask.missingNodes": "Which nodes are missing, and what are they for?",
  "ask.explain": "Explain this workflow step by step",
  "ask.quality": "Which values here matter most for quality?",
  "ask.faster": "What would make this workflow faster?",
  "ask.check": "Look for mistakes in this workflow",
  "ask.begin": "How do I make my first picture?",
  "ask.choose": "Which model should I start with?",
  "ask.words": "What do checkpoint, VAE and sampler mean?",
  "ask.prompt": "Write a prompt for a portrait in soft light",
};
