// @ts-check
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { ENGLISH, t, textFor, tn } from "../../web/strings.js";

const KEYS = Object.keys(ENGLISH);
const WEB = fileURLToPath(new URL("../../web/", import.meta.url));
const SOURCE = readdirSync(WEB, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".js") && !/^strings\b/.test(name))
  .map((name) => readFileSync(WEB + name, "utf8"))
  .join("\n");

/** Keys that stand complete in the source, and the beginnings of keys completed by a code. */
const WRITTEN = new Set(
  Array.from(SOURCE.matchAll(/"([a-z]+(?:\.[\w-]+)+)"/gi), (match) => match[1]),
);
const STEMS = Array.from(SOURCE.matchAll(/`([a-z]+(?:\.\w+)*\.)\$\{/gi), (match) => match[1]);

/** @param {string} key */
const isUsed = (key) =>
  WRITTEN.has(key) ||
  WRITTEN.has(key.replace(/\.(?:one|other)$/, "")) ||
  STEMS.some((stem) => key.startsWith(stem));

test("every string is used", () => {
  assert.deepEqual(
    KEYS.filter((key) => !isUsed(key)),
    [],
  );
});

test("every key in the source exists", () => {
  const known = new Set(KEYS.flatMap((key) => [key, key.replace(/\.(?:one|other)$/, "")]));
  const rooms = new Set(KEYS.map((key) => key.split(".")[0]));
  const asked = Array.from(
    SOURCE.matchAll(/\b(?:t|tn|textFor)\(\s*"([^"]+)"/g),
    (match) => match[1],
  );
  assert.deepEqual(
    asked.filter((key) => rooms.has(key.split(".")[0]) && !known.has(key)),
    [],
  );
  assert.ok(asked.length > 100);
});

test("no key stands in two tables", () => {
  const tables = readdirSync(`${WEB}strings`).map((name) =>
    readFileSync(`${WEB}strings/${name}`, "utf8"),
  );
  const keys = tables.flatMap((source) =>
    Array.from(source.matchAll(/^ {2}"([^"]+)":/gm), (match) => match[1]),
  );
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(keys.sort(), KEYS.toSorted());
});

test("every string with a singular has a plural", () => {
  for (const key of KEYS) {
    if (key.endsWith(".one")) assert.ok(KEYS.includes(key.replace(/one$/, "other")), key);
  }
});

test("values replace their names, and an unknown name stays visible", () => {
  assert.equal(t("first.found", { name: "Ollama" }), "Ollama was found on this computer");
  assert.equal(t("first.found"), "{name} was found on this computer");
});

test("the count chooses singular or plural", () => {
  assert.deepEqual(
    [tn("chats.messages", 1), tn("chats.messages", 22)],
    ["1 message", "22 messages"],
  );
});

test("an unknown code has a general text", () => {
  assert.equal(textFor("error.title.new_code", "error.title.failed"), "That did not work");
  assert.equal(textFor("error.title.toString", "error.title.failed"), "That did not work");
});

test("the accessible names that other tests rely on do not change", () => {
  assert.deepEqual(
    [
      t("panel.title"),
      t("composer.label"),
      t("composer.send"),
      t("composer.stop"),
      t("panel.new"),
      t("panel.settings"),
    ],
    ["Assistant", "Message", "Send", "Stop", "New chat", "Settings"],
  );
});
