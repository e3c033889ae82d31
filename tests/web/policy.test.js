// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  attributeAllowed,
  elementFate,
  exportIn,
  linkTarget,
  mediaFate,
  ownAddress,
  spanAllowed,
} from "../../web/text/policy.js";

const PAGE = "http://127.0.0.1:8188/";

for (const tag of (
  "script style iframe frame object embed form link meta base svg math template noscript applet " +
  "button textarea select title head portal"
).split(" ")) {
  test(`<${tag}> is removed with its content`, () => assert.equal(elementFate(tag), "drop"));
}

test("an unknown element is replaced by its content", () => {
  assert.equal(elementFate("marquee"), "unwrap");
  assert.equal(elementFate("constructor"), "unwrap");
});

test("attributes that run code, fetch, name or restyle are not allowed on any element", () => {
  const bad = (
    "onerror onclick onload style src srcset href background poster action formaction id name class " +
    "ping xlink:href srcdoc data slot is contenteditable autofocus tabindex target"
  ).split(" ");
  for (const tag of ["p", "img", "video", "table", "td", "span", "code", "input", "li"]) {
    for (const attribute of bad) {
      assert.equal(attributeAllowed(tag, attribute), false, `${tag} ${attribute}`);
    }
  }
  assert.equal(attributeAllowed("td", "colspan"), true);
});

for (const href of [
  "javascript:alert(1)",
  " JaVaScRiPt:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,<script>",
  "vbscript:x",
  "file:///etc/passwd",
  "blob:http://x/1",
  "http://",
  null,
]) {
  test(`${JSON.stringify(href)} is no link`, () => assert.equal(linkTarget(href, PAGE), null));
}

test("web and mail addresses are links", () => {
  assert.equal(linkTarget("https://docs.comfy.org/x", PAGE), "https://docs.comfy.org/x");
  assert.equal(linkTarget("mailto:a@b.c", PAGE), "mailto:a@b.c");
});

for (const source of [
  "https://evil.example/a.png",
  "//evil.example/a.png",
  "http://127.0.0.1:9999/a.png",
  "https://127.0.0.1:8188/a.png",
]) {
  test(`${source} is fetched only after a click`, () => {
    const { fate, host } = mediaFate(source, PAGE);
    assert.equal(fate, "ask");
    assert.ok(host);
  });
}

for (const source of [
  "data:image/svg+xml,<svg/>",
  "data:image/svg+xml;base64,AA",
  " DATA:image/SVG+xml,x",
  "data:image/bmp;base64,AA",
  "data:image/png+xml,x",
  "/api/view?filename=a.svg",
  "/api/view?filename=a.svg&x=.png",
  "/api/view?filename=a.png.svg",
  "/a/b.svg",
  "https://evil.example/a.svg",
  "https://evil.example/a.svgz?x=.png",
]) {
  test(`${source} is not shown as a picture`, () => {
    assert.equal(mediaFate(source, PAGE, "img").fate, "drop");
  });
}

for (const source of ["/api/view?filename=a.mp4", "data:video/mp4;base64,AA"]) {
  test(`${source} is a video and no picture`, () => {
    assert.equal(mediaFate(source, PAGE, "img").fate, "drop");
    assert.equal(mediaFate(source, PAGE, "video").fate, "show");
  });
}

for (const href of [
  "/api/manager/reboot",
  "manager/reboot",
  "?x=1",
  "//127.0.0.1:8188/api/free",
  "http://127.0.0.1:8188/api/free",
  "http://localhost:8188/api/free",
  "http://[::1]:8188/api/free",
  "http://0.0.0.0:8188/",
  "http://[::]:8188/api/free",
  "http://[::ffff:127.0.0.1]:8188/api/free",
  "http://[::ffff:0.0.0.0]:8188/api/free",
  "http://x.localhost:8188/",
  "http://[::]:8188/",
  "http://[::ffff:127.0.0.1]:8188/",
]) {
  test(`${href} leads to this server and is no link`, () => {
    assert.equal(linkTarget(href, PAGE), null);
    assert.equal(ownAddress(href, PAGE), href);
  });
}

test("a dot at the end of the page's host is no other server", () => {
  assert.equal(linkTarget("http://comfy.lan.:8188/free", "http://comfy.lan:8188/"), null);
  assert.equal(linkTarget("http://comfy.lan:8188/free", "http://comfy.lan.:8188/"), null);
});

test("another server on this computer is a link, and a place in the page has no address", () => {
  assert.equal(linkTarget("http://127.0.0.1:11434/x", PAGE), "http://127.0.0.1:11434/x");
  assert.equal(ownAddress("#top", PAGE), "");
  assert.equal(ownAddress("javascript:alert(1)", PAGE), "");
});

test("a cell spans a few cells at most", () => {
  for (const value of ["0", "9", "20", "65534", "1e1", "-1", "8 "]) {
    assert.equal(spanAllowed("rowspan", value), false, value);
  }
  assert.equal(spanAllowed("colspan", "8"), true);
  assert.equal(spanAllowed("title", "whatever"), true);
});

test("data URLs and what ComfyUI's route for pictures serves are shown", () => {
  for (const source of [
    "data:image/png;base64,AA",
    "/api/view?filename=a.png",
    "view?filename=b.webp&type=temp&subfolder=x",
    "http://127.0.0.1:8188/view?filename=a.png",
  ]) {
    assert.equal(mediaFate(source, PAGE).fate, "show", source);
  }
  assert.equal(mediaFate("view?filename=a.png", "http://comfy.lan/base/").fate, "show");
});

for (const source of [
  "/plugin/delete/all.png",
  "a/b.webp",
  "/api/view/a.png",
  "/api/view/../free/a.png",
  "/api//view/a.png?filename=a.png",
  "/view.png",
  "http://localhost:8188/api/view.png",
]) {
  test(`${source} is a route of this server that may act: it waits for a click`, () => {
    const { fate, host } = mediaFate(source, PAGE);
    assert.equal(fate, "ask");
    const { pathname } = new URL(source, PAGE);
    assert.ok(host.endsWith(`:8188${pathname}`), `${host} does not say which route is asked`);
  });
}

test("a video and a sound of another route of this server wait for a click", () => {
  assert.equal(mediaFate("/plugin/run.mp4", PAGE, "video").fate, "ask");
  assert.equal(mediaFate("/plugin/run.mp3", PAGE, "audio").fate, "ask");
  assert.equal(mediaFate("/api/view?filename=a.mp3", PAGE, "audio").fate, "show");
});

for (const source of [
  "/api/manager/reboot",
  "/api/free?x=.png",
  "/plugin/delete/view?filename=a.png",
  "http://localhost:8188/api/manager/reboot",
  "http://[::1]:8188/api/free",
  "data:text/html,x",
  "javascript:1",
  "blob:http://127.0.0.1:8188/1",
  "",
  null,
]) {
  test(`${JSON.stringify(source)} is never fetched as a picture`, () => {
    assert.equal(mediaFate(source, PAGE).fate, "drop");
  });
}

test("the file of a chat is told from all other routes of this server", () => {
  const found = { id: "chat-1a", format: "markdown", name: "talk.md" };
  assert.deepEqual(exportIn("/api/chats/chat-1a/export?format=markdown", "talk.md"), found);
  const unnamed = { ...found, name: undefined };
  assert.deepEqual(exportIn("/api/chats/chat-1a/export?format=markdown", "Markdown"), unnamed);
  for (const href of [
    null,
    "/api/chats/../export?format=markdown",
    "/api/chats/a/b/export?format=markdown",
    "/api/chats/a/export?format=markdown&x=1",
    "/api/chats/a/export?format=exe",
    "/api/chats/a/export",
    "//evil.example/api/chats/a/export?format=markdown",
    "http://127.0.0.1:8188/api/chats/a/export?format=markdown",
  ]) {
    assert.equal(exportIn(href, "talk.md"), null);
  }
});
