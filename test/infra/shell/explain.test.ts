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
      "  fix: Run `pulumi plugin install resource cloudflare 6.22.1` once on a network that can reach its download.",
  );
});

test("a plugin whose version the engine does not name is named without one", () => {
  const text = "no resource plugin 'pulumi-resource-docker' found in the workspace or on your $PATH";
  expect(explanationText(explain(new Error(text), commandsFor("dev")))).toBe(
    "the Pulumi plugin docker is not installed (pulumi_plugin_missing)\n" +
      "  fix: Run `pulumi plugin install resource docker` once on a network that can reach its download.",
  );
});

test.each([
  "no resource plugin 'pulumi-resource-steward' found in the workspace or on your $PATH",
  'could not find latest version for provider steward: Get "https://api.github.com/repos/pulumi/pulumi-steward"',
])("the package's own provider is found by a line in Pulumi.yaml: %s", (text) => {
  expect(explanationText(explain(new Error(text), commandsFor("dev")))).toBe(
    "Pulumi does not find the provider steward, because Pulumi.yaml does not say where it is (pulumi_plugin_unlisted)\n" +
      "  fix: Add this line to Pulumi.yaml: `plugins: {providers: [{name: steward, path: .}]}`",
  );
});

/** An engine's output for a program's error under the Automation API, which reports the error twice. */
function diagnosticsOf(...errors: string[]): Error {
  const lines = errors.flatMap((error) => ["    error: " + error.replaceAll("\n", "\n    ")]);
  return new Error(
    [
      "code: 255",
      "Diagnostics:",
      "  pulumi:pulumi:Stack (steward-dev):",
      "    warning: The application is public",
      ...lines,
      "",
      "  pulumi:pulumi:Stack (other):",
      "    warning: nothing",
      "",
      "Resources:",
      "    1 errored",
    ].join("\n"),
  );
}

const UNREACHABLE =
  "https://a.test does not answer: ENOTFOUND (cloudflare_unreachable)\n  fix: Check the network.";

test("an error that the program has explained keeps its code, cause and fix, once", () => {
  expect(explain(diagnosticsOf(UNREACHABLE, UNREACHABLE), commandsFor("dev"))).toEqual({
    code: "cloudflare_unreachable",
    cause: "https://a.test does not answer: ENOTFOUND",
    fix: "Check the network.",
  });
});

test("an error with a fix for each of its problems keeps them", () => {
  const lacking =
    "The API token lacks 2 permissions (token_permission_missing):\n" +
    "  Containers: needed\n    fix: add Containers\n" +
    "  Workers Scripts: needed\n    fix: add Workers Scripts";
  expect(explanationText(explain(diagnosticsOf(lacking), commandsFor("dev")))).toBe(lacking);
});

test("different errors are printed in their order, and the first one's code counts", () => {
  const gone = "The bucket x is gone (bucket_gone)\n  fix: Refresh.";
  const explanation = explain(diagnosticsOf(UNREACHABLE, gone), commandsFor("dev"));
  expect(explanation.code).toBe("cloudflare_unreachable");
  expect(explanationText(explanation)).toBe(`${UNREACHABLE}\n${gone}`);
});

test("the diagnostics of an unexplained error are printed once", () => {
  const { cause } = explain(diagnosticsOf("out of memory", "out of memory"), commandsFor("dev"));
  expect(cause.match(/error: out of memory/g)).toHaveLength(1);
  expect(cause).toContain("warning: The application is public");
});

test("a refusal by an official provider names its resource, in Cloudflare's words", () => {
  const refused =
    'POST "https://a.test": 403 Forbidden {"success":false,"errors":[{"code":10000,"message":"Authentication error"}]}';
  const { code, cause } = explain(diagnosticsOf(refused, "update failed"), commandsFor("dev"));
  expect(code).toBe("token_permission_missing");
  expect(cause).toBe(
    'pulumi:pulumi:Stack (steward-dev): POST "https://a.test": 403: Authentication error (10000)',
  );
});
