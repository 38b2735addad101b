import * as z from "zod/mini";
import { parseDuration } from "./duration.ts";

const httpsUrl = () => z.url({ protocol: /^https?$/, error: "must be an http or https address" });
const emailAddress = () => z.email({ error: "must be an e-mail address" });

/**
 * Schema of the setting `steward:alerts` and of the variable ALERTS. A function, because creating the schema would
 * slow a Worker's start.
 */
export const alertsSchema = () =>
  z
    .strictObject({
      /** Name of this deployment in its alerts. */
      name: z._default(z.string().check(z.minLength(1), z.maxLength(64)), "steward"),
      /** Receives JSON by POST, signed with `signingKey`. */
      webhook: z.optional(httpsUrl()),
      signingKey: z.optional(z.string().check(z.minLength(16, "must have at least 16 characters"))),
      /** A Slack incoming webhook: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
      slack: z.optional(httpsUrl()),
      /**
       * E-mail sent by Cloudflare. `from` must be on a domain with Email Routing, and `to` must be a verified
       * address.
       * https://developers.cloudflare.com/email-routing/email-workers/send-email-workers/
       */
      email: z.optional(z.strictObject({ from: emailAddress(), to: emailAddress() })),
      /** Time that a failure must last before it is reported. */
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
        ({ webhook, slack, email }) => [webhook, slack, email].some((one) => one !== undefined),
        "must have webhook, slack or email",
      ),
      z.refine(({ webhook, signingKey }) => (webhook === undefined) === (signingKey === undefined), {
        path: ["signingKey"],
        message: "belongs to webhook: give both or neither",
      }),
    );

export type AlertSettings = z.output<ReturnType<typeof alertsSchema>>;

/** Parses the variable ALERTS. Returns `undefined` if it is malformed. */
export function parseAlerts(text: string): AlertSettings | undefined {
  try {
    return alertsSchema().safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
