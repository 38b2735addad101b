import * as z from "zod/mini";
import { keysOf } from "../contract/config/paths.ts";
import { StewardError } from "../contract/errors.ts";
import { createRedactor, redactValue } from "../shared/redact.ts";
import { argument, EVERYWHERE, flag, operation, option, TERMINAL } from "./operation.ts";

const path = () => argument(z.string(), "for example channels.slack.dmPolicy, or in short slack.dmPolicy");

/** `steward config`. A running gateway applies changes to the config file automatically. */
export const config = {
  get: operation({
    name: "config get",
    summary: "the value at a path, including defaults; the path of a secret shows its resolved value",
    rights: EVERYWHERE,
    input: () => z.strictObject({ path: path() }),
    async run(tools, { path: wanted }) {
      const { environment } = tools;
      const { isReference } = await tools.contract.references();
      const { resolveSecret, secretValues } = await tools.contract.text();
      const valid = await tools.config.valid();
      const place = keysOf(wanted);
      const found = lookUp(valid, place);
      if (found === undefined) {
        throw new StewardError("config_path_not_found", `Config path not found: ${wanted}`);
      }
      if (isReference(found)) return resolveSecret(found, environment);
      if (typeof found !== "object") return found;
      // Mask the secrets in a section: operators may show whole sections to others.
      return redactValue(found, createRedactor(environment, secretValues(valid, environment)), place.at(-1));
    },
    text: (value) => (typeof value === "object" ? JSON.stringify(value, null, 2) : String(value)),
  }),
  validate: operation({
    name: "config validate",
    summary: "checks the file as the gateway does at startup",
    rights: EVERYWHERE,
    output: () =>
      z.object({
        path: z.string(),
        valid: z.boolean(),
        problems: z.array(z.object({ path: z.string(), message: z.string() })),
        warnings: z.array(z.object({ path: z.string(), detail: z.string(), fix: z.string() })),
        report: z.optional(z.string()),
      }),
    async run({ config, configPath, contract, redact }) {
      const { result } = await config.check();
      if (result.ok)
        return { path: configPath, valid: true, problems: [], warnings: await config.risks(result.config) };
      const { formatConfigProblems } = await contract.config();
      const problems = result.problems.map(({ path, message }) => ({ path, message: redact(message) }));
      const report = redact(formatConfigProblems(configPath, result.problems));
      return { path: configPath, valid: false, problems, warnings: [], report };
    },
    text({ path, valid, report }) {
      if (!valid) throw new StewardError("config_invalid", report);
      return `Config is valid: ${path}`;
    },
    warnings: ({ warnings }) => warnings.map(({ path, detail, fix }) => `${path}: ${detail}\nFix: ${fix}`),
    failed: ({ valid }) => !valid,
  }),
  set: operation({
    name: "config set",
    summary: "writes a value, JSON or text; the whole file is checked before it is written",
    rights: TERMINAL,
    input: () =>
      z.strictObject({
        path: path(),
        value: argument(z.optional(z.string()), "JSON or plain text"),
        env: option(
          z.optional(z.string()),
          "write a reference to this environment variable; use it for secrets",
          "name",
        ),
        plain: flag("write a secret in plain text"),
      }),
    async run(tools, { path, value, env, plain }) {
      const { context, setConfig } = await tools.config.changes();
      await setConfig(context, path, value, { env, plain });
      return { path, set: true };
    },
    text: ({ path }) => `Set ${path}.`,
  }),
  unset: operation({
    name: "config unset",
    summary: "removes a value, so that its default applies",
    rights: TERMINAL,
    input: () => z.strictObject({ path: path() }),
    async run(tools, { path }) {
      const { context, unsetConfig } = await tools.config.changes();
      await unsetConfig(context, path);
      return { path, unset: true };
    },
    text: ({ path }) => `Removed ${path}.`,
  }),
  schema: operation({
    name: "config schema",
    summary: "the JSON Schema of the file",
    rights: TERMINAL,
    run: (tools) => tools.config.schema(),
    text: (schema) => JSON.stringify(schema, null, 2),
  }),
};

// Own keys only: `constructor` is not a config path.
function lookUp(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return lookUp(Object.entries(value).find(([name]) => name === key)?.[1], rest);
}
