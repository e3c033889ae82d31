// @ts-check
/** Which errors of the server shut the whole panel until the user or the operator acts. */

import { ApiError } from "../services/api.js";

/** @typedef {import("../types.js").Gate} Gate */

/** @type {Record<string, Gate["kind"]>} by error code (docs/contracts/trust-boundary.md) */
const GATES = {
  host_not_allowed: "host",
  origin_not_allowed: "origin",
  token_required: "token",
};

/** @param {unknown} error @returns {Gate | null} null for an error that is no gate */
export function gateOf(error) {
  if (!(error instanceof ApiError)) return null;
  const kind = Object.hasOwn(GATES, error.code) ? GATES[error.code] : undefined;
  return kind
    ? { kind, message: error.message, variable: error.variable, value: error.value }
    : null;
}
