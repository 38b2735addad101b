import * as z from "zod/mini";
import { parseDuration } from "./duration.ts";

const httpsUrl = () => z.url({ protocol: /^https?$/, error: "must be an http or https address" });

/** What `steward:alerts` and the variable ALERTS hold. Made when it is read, and not while a Worker starts. */
export const alertsSchema = () =>
  z
    .strictObject({
      /** What this deployment is called in its messages. */
      name: z._default(z.string().check(z.minLength(1), z.maxLength(64)), "steward"),
      /** Takes JSON by POST, signed with `signingKey`. */
      webhook: z.optional(httpsUrl()),
      signingKey: z.optional(z.string().check(z.minLength(16, "must have at least 16 characters"))),
      /** A Slack incoming webhook: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
      slack: z.optional(httpsUrl()),
      /** How long something fails before it is told. */
      after: z._default(
        z
          .string()
          .check(
            z.refine(
              (text) => Number.isFinite(parseDuration(text) ?? Number.NaN),
              "must be a duration such as 5m",
            ),
          ),
        "5m",
      ),
    })
    .check(
      z.refine(
        ({ webhook, slack }) => webhook !== undefined || slack !== undefined,
        "must have webhook or slack",
      ),
      z.refine(({ webhook, signingKey }) => (webhook === undefined) === (signingKey === undefined), {
        path: ["signingKey"],
        message: "belongs to webhook: give both or neither",
      }),
    );

/** Where the operator is told of an outage. */
export type AlertSettings = z.output<ReturnType<typeof alertsSchema>>;

/** Reads the variable ALERTS; `undefined` where it is not of that form. */
export function parseAlerts(text: string): AlertSettings | undefined {
  try {
    return alertsSchema().safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
