import * as z from "zod";

/** A secret is written as a reference to an environment variable, so the file holds none itself. */
const secret = z.union([
  z.string().min(1),
  z.strictObject({ env: z.string().regex(/^[A-Z][A-Z0-9_]*$/, "must name an environment variable") }),
]);

/**
 * Who may write a direct message: the listed user ids and whoever the operator approves by a pairing
 * code, the listed ones alone, everyone, or nobody.
 */
const dmPolicy = z.enum(["pairing", "allowlist", "open", "disabled"]).default("pairing");

const slack = z
  .strictObject({
    enabled: z.boolean().default(true),
    botToken: secret,
    signingSecret: secret,
    dmPolicy,
    allowFrom: z.array(z.string().min(1)).default([]),
    /** Characters of one message before it is split. */
    textChunkLimit: z.int().min(200).max(12_000).default(4_000),
  })
  .refine((value) => value.dmPolicy !== "open" || value.allowFrom.includes("*"), {
    path: ["allowFrom"],
    message: 'dmPolicy "open" requires allowFrom to include "*"',
  });

/** Schema of `steward.json`. Strict at every level: an unknown key stops the gateway. */
export const configSchema = z.strictObject({
  gateway: z.strictObject({}).prefault({}),
  agent: z
    .strictObject({
      /** Put before every conversation. */
      instructions: z
        .string()
        .max(20_000)
        .default("You are steward, a helpful assistant in a team chat. Answer briefly and plainly."),
    })
    .prefault({}),
  models: z
    .strictObject({
      /** `<provider>/<model id>`; Anthropic is the provider known so far. */
      primary: z
        .string()
        .regex(/^anthropic\/[\w.:-]+$/, "must be anthropic/<model id>")
        .default("anthropic/claude-sonnet-4-5"),
      /** Tokens of one answer. */
      maxOutputTokens: z.int().min(1).max(64_000).default(4_096),
    })
    .prefault({}),
  channels: z
    .strictObject({
      telegram: z.strictObject({ enabled: z.boolean().default(true), botToken: secret }).optional(),
      slack: slack.optional(),
      discord: z.strictObject({ enabled: z.boolean().default(true), token: secret }).optional(),
    })
    .prefault({}),
  sessions: z
    .strictObject({
      /** Messages of a conversation that are put before the model. */
      historyLimit: z.int().min(2).max(1_000).default(60),
    })
    .prefault({}),
  logging: z
    .strictObject({ level: z.enum(["debug", "info", "warning", "error"]).default("info") })
    .prefault({}),
});

/** A config file's content after defaults. */
export type Config = z.output<typeof configSchema>;

/** One thing wrong with a config: where, and what. */
export interface ConfigProblem {
  /** Dotted path of the object or value, for example `channels.telegram`; empty for the root. */
  path: string;
  message: string;
}

/** A config, or everything that is wrong with it. */
export type ConfigResult = { ok: true; config: Config } | { ok: false; problems: ConfigProblem[] };

/** Checks a parsed config file and reports all of its problems at once. */
export function checkConfig(value: unknown): ConfigResult {
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return { ok: true, config: parsed.data };
  const problems = parsed.error.issues.flatMap((issue): ConfigProblem[] => {
    const path = issue.path.join(".");
    if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({ path, message: `Unrecognized key: "${key}"` }));
  });
  return { ok: false, problems };
}

/**
 * The report of an invalid config: a head line, then one line a problem. The wording is what
 * operators and their scripts look for (specification, section 7).
 */
export function formatConfigProblems(file: string, problems: readonly ConfigProblem[]): string {
  const lines = problems.map(({ path, message }) => `- ${path === "" ? "(root)" : path}: ${message}`);
  return [`Invalid config at ${file}:`, ...lines].join("\n");
}
