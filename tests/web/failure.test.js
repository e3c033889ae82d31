// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError } from "../../web/services/api.js";
import { failureOf } from "../../web/state/failure.js";
import { t } from "../../web/strings.js";

test("a message that the server finds too large is no answer that was too long", () => {
  const message = "The request is larger than 32 MB. Send smaller or fewer attachments.";
  const failure = failureOf(new ApiError(413, { code: "too_large", message }));
  assert.deepEqual(failure, { code: "request_too_large", message, actions: ["dismiss"] });
  assert.equal(t("error.title.request_too_large"), "The message is too large");
});
