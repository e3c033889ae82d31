// @ts-check
/**
 * What the panel knows of the installation: health, skills and commands, and why the server refuses
 * the panel.
 */

import { NetworkError } from "../services/api.js";
import { errorText } from "../text/format.js";
import { gateOf } from "./gate.js";

/** @typedef {import("../types.js").PanelState} PanelState */
/** @typedef {import("../types.js").SkillEntry} SkillEntry */

/** Milliseconds between two health requests while the server does not answer. */
const HEALTH_RETRY = 3000;

/**
 * @param {Pick<import("./panel.js").PanelServices, "api" | "wait">} services
 * @param {import("./store.js").Store<PanelState>} store
 * @param {() => void} healthy called with each new health
 */
export function createInstallation({ api, wait }, store, healthy) {
  /** @param {unknown} error */
  function refused(error) {
    const gate = gateOf(error);
    if (gate) store.set({ gate });
  }

  /**
   * Nothing works without health, so an error that is no gate is shown as a gate too.
   * @param {unknown} error
   */
  function healthRefused(error) {
    store.set({ gate: gateOf(error) ?? { kind: "broken", message: errorText(error) } });
  }

  async function refreshHealth() {
    try {
      store.set({ health: await api.health(), gate: null, unreachable: false });
      healthy();
    } catch (error) {
      if (!(error instanceof NetworkError)) {
        healthRefused(error);
        return;
      }
      store.set({ unreachable: true });
      await wait(HEALTH_RETRY);
      if (store.get().unreachable) await refreshHealth();
    }
  }

  async function refreshSkills() {
    const [yours, shipped] = await Promise.all([
      api.userSkills().catch(() => []),
      api.systemSkills().catch(() => []),
    ]);
    /** @type {SkillEntry[]} */
    const skills = [
      ...yours.map((skill) => ({ ...skill, yours: true })),
      ...shipped.map((skill) => ({ ...skill, yours: false })),
    ];
    store.set({ skills });
  }

  async function refreshCommands() {
    store.set({ commands: await api.commands().catch(() => store.get().commands) });
  }

  async function refreshAll() {
    await Promise.all([refreshHealth(), refreshSkills(), refreshCommands()]);
  }

  return { refused, refreshHealth, refreshSkills, refreshAll };
}
