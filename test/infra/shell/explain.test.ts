import { expect, test } from "vitest";
import { explain, explanationText } from "../../../infra/shell/explain.ts";
import { commandsFor } from "../../../infra/shell/package.ts";

/** The engine's words for a plugin that it does not find (`MissingError` of pulumi sdk/go/common/workspace/plugins.go). */
const MISSING = [
  "no resource plugin 'pulumi-resource-cloudflare' found in the workspace at version v6.22.1 or on your $PATH, install the plugin using `pulumi plugin install resource cloudflare v6.22.1`",
  "could not load plugin for cloudflare provider: no resource plugin 'cloudflare-v6.22.1' found in the workspace or on your $PATH",
  "no resource plugin 'pulumi-resource-cloudflare-v6.22.1' found in the workspace or on your $PATH",
];

test.each(MISSING)("a missing plugin is named with the command that installs its version: %s", (text) => {
  expect(explanationText(explain(new Error(text), commandsFor("dev")))).toBe(
    "the Pulumi plugin cloudflare 6.22.1 is not installed (pulumi_plugin_missing)\n" +
      "  fix: Run `pulumi plugin install resource cloudflare 6.22.1` once where its download can be reached.",
  );
});

test("a plugin whose version the engine does not name is named without one", () => {
  const text = "no resource plugin 'pulumi-resource-docker' found in the workspace or on your $PATH";
  expect(explanationText(explain(new Error(text), commandsFor("dev")))).toBe(
    "the Pulumi plugin docker is not installed (pulumi_plugin_missing)\n" +
      "  fix: Run `pulumi plugin install resource docker` once where its download can be reached.",
  );
});
