import * as z from "zod/mini";
import type { Platform } from "../../contract/delivery.ts";
import type { AccessRules } from "../../shared/channel-access.ts";
import { once } from "../../shared/once.ts";
import { parseJson } from "../../shared/json.ts";

const ids = () => z._default(z.array(z.string()), []);
const group = () =>
  z.object({ enabled: z._default(z.boolean(), true), requireMention: z._default(z.boolean(), true) });
const groups = () => z._default(z.record(z.string(), group()), {});
const policy = z.enum(["open", "allowlist", "disabled"]);

/**
 * Schema of the settings that decide access on a channel. The complete schema would add 5 % to the Worker's bundle.
 * The gateway validates the rest.
 */
const section = (groupPolicy: z.infer<typeof policy>) =>
  z.prefault(
    z.object({
      enabled: z._default(z.boolean(), true),
      dmPolicy: z._default(z.enum(["pairing", "allowlist", "open", "disabled"]), "pairing"),
      allowFrom: ids(),
      groupPolicy: z._default(policy, groupPolicy),
      groupAllowFrom: ids(),
      groups: groups(),
      channels: groups(),
      guilds: groups(),
    }),
    {},
  );

const form = once(() =>
  z.object({
    agent: z.prefault(z.object({ operators: ids() }), {}),
    channels: z.prefault(
      z.object({ slack: section("open"), telegram: section("allowlist"), discord: section("allowlist") }),
      {},
    ),
  }),
);

const GROUPS = { slack: "channels", telegram: "groups", discord: "guilds" } as const;

/**
 * Reads a platform's access rules from the config's text. Without text, the defaults apply.
 *
 * @returns `undefined` if the text is invalid.
 */
export function readAccessRules(text: string | undefined, platform: Platform): AccessRules | undefined {
  const { data } = form().safeParse(text === undefined ? {} : parseJson(text));
  if (data === undefined) return undefined;
  const { enabled, ...rules } = data.channels[platform];
  const prefix = `${platform}:`;
  const operators = data.agent.operators
    .filter((one) => one.startsWith(prefix))
    .map((one) => one.slice(prefix.length));
  const off = enabled ? {} : { dmPolicy: "disabled" as const, groupPolicy: "disabled" as const };
  return { ...rules, ...off, groups: rules[GROUPS[platform]], operators };
}
