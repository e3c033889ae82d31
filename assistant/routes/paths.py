"""Methods and paths of all routes, as data that needs no import (`startup`).

The same as in `table.ROUTES`, in the same order; a test compares the two.

The first and the last are paths that no other plugin has: where two plugins give aiohttp the same
method and path right after each other, it raises an error, and ComfyUI does not start.
"""

from typing import Final

PATHS: Final = (
    ("GET", "/assistant/health"),
    ("POST", "/chat"),
    ("GET", "/chat/{id}/stream"),
    ("POST", "/chats"),
    ("POST", "/chats/cleanup"),
    ("GET", "/chats/search"),
    ("PATCH", "/chats/{id}"),
    ("DELETE", "/chats/{id}"),
    ("POST", "/chats/{id}/restore"),
    ("POST", "/chats/{id}/branch"),
    ("GET", "/chats/{id}/export"),
    ("POST", "/chats/import"),
    ("POST", "/chats/{id}/share"),
    ("GET", "/chats/subscribe"),
    ("GET", "/chats"),
    ("GET", "/chats/{id}"),
    ("GET", "/chats/{id}/context"),
    ("POST", "/chats/{id}/commands"),
    ("GET", "/system-context/skills"),
    ("GET", "/system-context/skills/{slug}"),
    ("GET", "/user-context/skills"),
    ("POST", "/user-context/skills"),
    ("GET", "/user-context/skills/{slug}"),
    ("PATCH", "/user-context/skills/{slug}"),
    ("DELETE", "/user-context/skills/{slug}"),
    ("GET", "/user-context/rules"),
    ("POST", "/user-context/rules"),
    ("PATCH", "/user-context/rules/{id}"),
    ("DELETE", "/user-context/rules/{id}"),
    ("GET", "/user-context/preferences"),
    ("PUT", "/user-context/preferences/{key}"),
    ("DELETE", "/user-context/preferences/{key}"),
    ("GET", "/assistant/settings"),
    ("POST", "/assistant/settings/test"),
    ("GET", "/assistant/models"),
    ("POST", "/assistant/models"),
    ("PUT", "/assistant/providers/{name}"),
    ("DELETE", "/assistant/providers/{name}"),
    ("POST", "/assistant/providers/{name}/activate"),
    ("GET", "/assistant/data"),
    ("GET", "/assistant/data/archive"),
    ("POST", "/assistant/data/delete"),
    ("POST", "/assistant/session"),
    ("GET", "/assistant/commands"),
    ("POST", "/assistant/workflow-summary"),
    ("GET", "/assistant/openapi.json"),
)
