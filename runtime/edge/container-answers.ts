import * as z from "zod/mini";
import type {
  ChannelHealth,
  ConfigRefusal,
  ConfigText,
  ContainerConfig,
  GatewayStatus,
  OperationReply,
  ProcessList,
  UsageReport,
} from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";
import { once } from "../shared/once.ts";

/**
 * Returns a parser that validates container responses, because the agent may have forged them. The schema covers only
 * what the edge needs, so that responses of other versions pass. The parser throws StewardError `gateway_unavailable`
 * for malformed responses.
 */
function reader<T>(make: () => z.ZodMiniType): (response: Response) => Promise<T> {
  const form = once(make);
  return async (response) => {
    const value: unknown = await response.json().catch(() => undefined);
    if (form().safeParse(value).success) return value as T;
    throw new StewardError("gateway_unavailable", "The container's response is malformed.");
  };
}

const [text, number, list, optional, object] = [z.string, z.number, z.array, z.optional, z.object] as const;
const reasonSchema = () => optional(object({ code: text(), detail: text(), fix: text() }));
const problems = () =>
  list(object({ path: text(), message: text(), line: optional(number()), help: optional(text()) }));
const sources = () =>
  list(
    object({
      kind: z.enum(["person", "place"]),
      platform: text(),
      id: text(),
      model: text(),
      requests: number(),
      inputTokens: number(),
      outputTokens: number(),
    }),
  );
const usage = () =>
  list(
    object({ day: text(), model: text(), requests: number(), inputTokens: number(), outputTokens: number() }),
  );

export const readProcesses = reader<ProcessList>(() =>
  object({
    processes: list(object({ name: text(), logs: optional(list(text())), nextLog: optional(number()) })),
  }),
);

export const readContainerConfig = reader<ContainerConfig>(() =>
  object({ path: optional(text()), valid: optional(z.boolean()), problems: problems() }),
);

export const readEditedConfig = reader<ConfigText>(() =>
  object({
    text: z.nullable(text()),
    sha256: z.nullable(text()),
    secrets: optional(list(text())),
    problems: optional(problems()),
  }),
);

export const readConfigRefusal = reader<ConfigRefusal>(() => object({ text: text(), problems: problems() }));

/** The operation's own schema validates the value. */
export const readReply = reader<OperationReply>(() =>
  z.union([object({ ok: z.literal(true) }), object({ ok: z.literal(false), error: object({}) })]),
);

export const readChannelHealth = reader<ChannelHealth>(() =>
  object({
    platform: text(),
    state: z.enum(["unknown", "ready", "failing", "disabled"]),
    reason: reasonSchema(),
  }),
);

export const readGatewayStatus = reader<GatewayStatus>(() =>
  object({
    model: object({ id: text(), reason: reasonSchema() }),
    models: list(object({ id: text(), state: text(), reason: reasonSchema() })),
    channels: list(object({ platform: text(), state: text(), reason: reasonSchema() })),
    counts: z.record(text(), number()),
    schedules: object({ count: number(), missed: number() }),
    firstWords: optional(
      object({
        buckets: list(object({ le: text(), count: number() })),
        count: number(),
        seconds: number(),
      }),
    ),
    config: object({ loadedAt: text(), problem: reasonSchema() }),
    usage: usage(),
    servers: optional(
      list(object({ name: text(), leftOut: list(object({ name: text(), problem: text() })) })),
    ),
    findings: optional(list(object({ area: text(), what: text(), count: number(), lastAt: text() }))),
  }),
);

export const readUsage = reader<UsageReport>(() =>
  object({
    days: list(text()),
    messages: list(object({ day: text(), received: number(), answered: number() })),
    models: usage(),
    prices: z.record(text(), object({ input: number(), output: number() })),
    sources: optional(object({ day: sources(), week: sources(), month: sources() })),
  }),
);
