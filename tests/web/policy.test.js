// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { attributeAllowed, elementFate, linkTarget, mediaFate } from "../../web/text/policy.js";

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

test("data URLs and pictures of the same server are shown", () => {
  for (const source of ["data:image/png;base64,AA", "/api/view?filename=a.png", "a/b.webp"]) {
    assert.equal(mediaFate(source, PAGE).fate, "show", source);
  }
});

for (const source of [
  "/api/manager/reboot",
  "/api/free?x=.png",
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
