// @ts-check
/**
 * The page Memory: what is always true above what is remembered, and the switches. Everything on it
 * can be changed and deleted by its user.
 */

import { t, tn } from "../strings.js";
import { number } from "../text/format.js";
import { historyOf, KINDS, pinnedFirst } from "../text/memory.js";
import { createAlwaysList } from "./always-list.js";
import { button, h, icon, iconButton, place, setText, show } from "./dom.js";
import { isComposing } from "./isolation.js";
import { createMemoryRow, oldRow } from "./memory-row.js";
import { createMenu } from "./menu.js";
import { createSwitch } from "./switch.js";

/** @typedef {import("../types.js").Memory} Memory */
/** @typedef {import("../types.js").MemoryKind} MemoryKind */
/** @typedef {import("../types.js").MemoryMode} MemoryMode */
/** @typedef {import("../types.js").PanelState} PanelState */

/**
 * @typedef {Omit<import("./memory-row.js").MemoryActions, "menu"> &
 *   Omit<import("./always-list.js").AlwaysActions, "menu"> & {
 *   searchMemories: (query: string) => void,
 *   filterMemories: (kind: MemoryKind | "") => unknown,
 *   moreMemories: () => unknown,
 *   retryMemories: () => unknown,
 *   memoryShown: () => void,
 *   setMemoryMode: (mode: MemoryMode) => unknown,
 * }} MemoryPageActions
 */

/** @param {MemoryPageActions} actions */
export function createMemoryPage(actions) {
  const menu = createMenu();
  const always = createAlwaysList({ ...actions, menu: menu.toggle });
  const switches = createSwitches(actions.setMemoryMode);
  const search = createSearch(actions.searchMemories);
  const kinds = createKinds(actions.filterMemories);
  const said = h("p", { class: "ca-quiet", role: "status" });
  const again = button(t("remembered.again"), "plain", () => actions.retryMemories(), {
    hidden: true,
  });
  const list = h("ul", { class: "ca-memories", "aria-label": t("remembered.title") });
  const more = h(
    "button",
    { type: "button", class: "ca-link", hidden: true, onclick: actions.moreMemories },
    t("remembered.more"),
  );
  const lost = h("details", { class: "ca-memory__history", hidden: true });
  const scroller = h(
    "div",
    { class: "ca-page" },
    switches.element,
    always.element,
    h(
      "section",
      { class: "ca-remembered", "aria-label": t("remembered.title") },
      h("h3", { class: "ca-caption" }, t("remembered.title")),
      h("p", { class: "ca-quiet" }, t("remembered.about")),
      search.element,
      kinds.element,
      ...[said, again, list, more, lost],
    ),
  );
  const element = h("div", { class: "ca-chats" }, scroller, menu.element);
  /** @type {Map<string, ReturnType<typeof createMemoryRow>>} by the memory's id */
  const rows = new Map();
  /** @type {import("../types.js").MemoryState | null} */
  let drawn = null;

  /** Forgets a memory; the focus moves to the next or previous one. @param {Memory} memory */
  const forget = (memory) => {
    const own = rows.get(memory.id) ?? rowOfOld(memory.id);
    const all = [...list.children];
    const at = all.findIndex((row) => row === own?.element);
    const next = rows.has(memory.id) ? (all[at + 1] ?? all[at - 1]) : own?.element;
    const options = next?.querySelector("[aria-haspopup]") ?? search.field;
    /** @type {HTMLElement} */ (options).focus();
    actions.forget(memory);
  };
  /** @param {string} id of a memory that was replaced @returns the row of the one that is current */
  const rowOfOld = (id) => {
    const { of } = historyOf(drawn?.found ?? [], drawn?.replaced ?? []);
    const heir = [...of].find(([, old]) => old.some((one) => one.id === id))?.[0];
    return heir === undefined ? undefined : rows.get(heir);
  };
  const rowActions = { ...actions, forget, menu: menu.toggle };

  /** @param {import("../types.js").MemoryState} memory */
  const drawList = (memory) => {
    const found = memory.found ?? [];
    const wanted = memory.target && memory.known.get(memory.target.id);
    const missing = wanted && !wanted.superseded_by && !found.some(({ id }) => id === wanted.id);
    const all = missing ? [wanted, ...found] : found;
    const shown = memory.query.trim() ? all : pinnedFirst(all);
    const history = historyOf(shown, memory.replaced);
    const showsKind = memory.kind === "";
    place(
      list,
      shown.map((one) => {
        const row = rows.get(one.id) ?? createMemoryRow(rowActions);
        rows.set(one.id, row);
        row.update(one, { replaced: history.of.get(one.id) ?? [], showsKind });
        return row.element;
      }),
    );
    const ids = new Set(shown.map(({ id }) => id));
    for (const id of [...rows.keys()]) if (!ids.has(id)) rows.delete(id);
    const left = memory.query.trim() || memory.more ? [] : history.lost;
    show(lost, left.length > 0);
    lost.replaceChildren(
      h("summary", {}, tn("memory.lost", left.length, { count: number(left.length) })),
      h("ul", {}, ...left.map((one) => oldRow(one, rowActions))),
    );
    point(memory, history.of);
  };

  /**
   * Moves the focus to the memory that the user opened, or to the one that replaced it.
   * @param {import("../types.js").MemoryState} memory
   * @param {ReadonlyMap<string, Memory[]>} history
   */
  const point = ({ target, found }, history) => {
    if (!target || !found) return;
    const heir = [...history].find(([, old]) => old.some(({ id }) => id === target.id))?.[0];
    const row = rows.get(target.id) ?? (heir ? rows.get(heir) : undefined);
    if (heir && row) row.unfold();
    for (const marked of list.querySelectorAll(".ca-memory--found")) {
      marked.classList.remove("ca-memory--found");
    }
    row?.element.classList.add("ca-memory--found");
    (row?.element ?? search.field).focus({ preventScroll: true });
    row?.element.scrollIntoView({ block: "center" });
    actions.memoryShown();
  };

  return {
    element,
    close: menu.close,
    /** @param {PanelState} state */
    update({ memory }) {
      if (memory === drawn) return;
      switches.update(memory);
      if (memory.rules !== drawn?.rules || memory.preferences !== drawn?.preferences) {
        always.update(memory);
      }
      search.update(memory.query);
      kinds.update(memory.kind);
      const empty = memory.found?.length === 0 && !memory.replaced.length;
      const plain = !memory.query.trim() && memory.kind === "";
      show(search.element, !(empty && plain));
      show(kinds.element, !(empty && plain));
      setText(said, sentence(memory));
      show(said, said.textContent !== "");
      show(again, memory.failed !== "");
      show(more, memory.more);
      drawn = memory;
      drawList(memory);
    },
  };
}

/** @param {import("../types.js").MemoryState} memory @returns {string} beside the list */
function sentence({ found, replaced, query, kind, failed }) {
  if (failed) return failed;
  if (!found) return t("panel.loading");
  if (found.length) {
    return query.trim() || kind
      ? tn("remembered.count", found.length, { count: number(found.length) })
      : "";
  }
  if (query.trim()) return t("remembered.none", { query: query.trim() });
  if (kind) return t("remembered.none.kind");
  return replaced.length ? "" : t("remembered.empty");
}

/** @param {(mode: MemoryMode) => unknown} set */
function createSwitches(set) {
  /** What is noticed by itself when memory is switched on again. @type {MemoryMode} */
  let wanted = "auto";
  const on = createSwitch(t("memory.on"), (checked) => set(checked ? wanted : "off"));
  const auto = createSwitch(t("memory.auto"), (checked) => {
    wanted = checked ? "auto" : "manual";
    return set(wanted);
  });
  const first = h("p", { class: "ca-quiet" }, t("memory.first"));
  const state = h("p", { class: "ca-quiet ca-memory-state", role: "status" });
  return {
    element: h("div", { class: "ca-switches" }, on.element, auto.element, state, first),
    /** @param {import("../types.js").MemoryState} memory */
    update({ mode, notAllowed }) {
      on.update(mode !== null && mode !== "off", mode === null);
      auto.update(mode === "auto", mode === null || mode === "off");
      if (mode === "auto" || mode === "manual") wanted = mode;
      const limited = notAllowed && (mode === "off" || mode === "manual") ? mode : null;
      setText(
        state,
        limited
          ? t(`memory.limited.${limited}`)
          : mode === "off" || mode === "manual"
            ? t(`memory.${mode}`)
            : "",
      );
      show(state, state.textContent !== "");
      // What is kept is no news while nothing is.
      show(first, mode !== "off");
      state.classList.toggle("ca-memory-state--warn", limited !== null);
    },
  };
}

/** @param {(query: string) => void} search */
function createSearch(search) {
  const type = () => {
    show(clear, field.value !== "");
    search(field.value);
  };
  const field = h("input", {
    class: "ca-search__field",
    type: "search",
    "aria-label": t("remembered.search"),
    placeholder: t("remembered.search"),
    oninput: type,
  });
  const end = () => {
    field.value = "";
    type();
    field.focus();
  };
  const clear = iconButton("close", t("remembered.search.clear"), {
    class: "ca-icon-button--tiny",
    hidden: true,
    onclick: end,
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !field.value || isComposing(event)) return;
    // The first Escape ends the search, the second one leaves the page.
    event.stopPropagation();
    event.preventDefault();
    end();
  });
  return {
    element: h(
      "div",
      { class: "ca-search ca-search--inside", role: "search" },
      h("div", { class: "ca-search__box" }, icon("search"), field, clear),
    ),
    field,
    /** @param {string} query */
    update(query) {
      if (query === "" && field.value.trim() !== "") field.value = "";
      show(clear, field.value !== "");
    },
  };
}

/** @param {(kind: MemoryKind | "") => unknown} filter */
function createKinds(filter) {
  const chips = /** @type {const} */ (["", ...KINDS]).map((kind) => ({
    kind,
    chip: h(
      "button",
      { type: "button", class: "ca-chip", "aria-pressed": "false", onclick: () => filter(kind) },
      t(`memory.kind.${kind === "" ? "all" : kind}`),
    ),
  }));
  return {
    element: h(
      "div",
      { class: "ca-kinds", role: "group", "aria-label": t("remembered.kinds") },
      ...chips.map(({ chip }) => chip),
    ),
    /** @param {MemoryKind | ""} now */
    update(now) {
      for (const { kind, chip } of chips) chip.setAttribute("aria-pressed", String(kind === now));
    },
  };
}
