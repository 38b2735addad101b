import { unknown } from "../resources.ts";
import { bound, env, named, props, type Case } from "./case.ts";

const DM_POLICY =
  "TELEGRAM_DM_POLICY is set, which stops the gateway. Remove TELEGRAM_DM_POLICY; if a secret cannot be deleted, set it to an empty value.";
const OUTPUT =
  "The output leak holds a secret. Remove it from the stack's outputs, and replace the secret where it was issued.";

export const SECRET_CASES: readonly Case[] = [
  {
    rule: "secrets-stay-secret",
    what: "refuses a secret in a plain binding, beside a value that is not known yet",
    change: bound("SLACK_BOT_TOKEN", { text: "xoxb-the-bot-token" }),
    messages: ["SLACK_BOT_TOKEN is a secret but bound as plain_text. Bind it as secret_text."],
  },
  {
    rule: "secrets-stay-secret",
    what: "refuses a secret that the runtime does not know, by its name",
    change: bound("WEATHER_API_KEY", { text: "anything" }),
    messages: ["WEATHER_API_KEY is a secret but bound as plain_text. Bind it as secret_text."],
  },
  {
    rule: "secrets-stay-secret",
    what: "refuses a secret under a harmless name, by its form",
    change: bound("LOG_LEVEL", { text: "xoxb-1234567890" }),
    messages: ["LOG_LEVEL is a secret but bound as plain_text. Bind it as secret_text."],
  },
  {
    rule: "secrets-stay-secret",
    what: "refuses a container whose variables are stored in plain",
    change: (samples) => void (named(samples, "container").opts.additionalSecretOutputs = []),
    messages: [
      'ADMIN_TOKEN is a secret, and the container\'s envs are stored unencrypted. Add "envs" to additionalSecretOutputs.',
    ],
  },
  {
    rule: "no-secret-in-outputs",
    what: "refuses the value of a Worker's secret",
    change: props("stack", { leak: { of: ["Bearer xoxb-the-bot-token"] } }),
    messages: [OUTPUT],
  },
  {
    rule: "no-secret-in-outputs",
    what: "refuses the value of a container's secret",
    change: props("stack", { leak: "http://127.0.0.1/?token=the-admin-token-of-the-host" }),
    messages: [OUTPUT],
  },
  {
    rule: "no-secret-in-outputs",
    what: "refuses what looks like a secret, and goes on past what is not known yet",
    change: (samples) => {
      const stack = named(samples, "stack");
      stack.props = Object.defineProperty({ leak: "sk-ant-0123456789abcdef0123" }, "url", {
        enumerable: true,
        get: unknown,
      });
    },
    messages: [OUTPUT],
  },
  {
    rule: "no-dm-policy",
    what: "refuses it as a Worker's variable",
    change: bound("TELEGRAM_DM_POLICY", { text: "open" }),
    messages: [DM_POLICY],
  },
  {
    rule: "no-dm-policy",
    what: "refuses it as a Worker's secret",
    change: bound("TELEGRAM_DM_POLICY", { type: "secret_text", text: "open" }),
    messages: [DM_POLICY],
  },
  {
    rule: "no-dm-policy",
    what: "passes the empty value",
    change: bound("TELEGRAM_DM_POLICY", { type: "secret_text", text: "" }),
    messages: [],
  },
  {
    rule: "no-dm-policy",
    what: "refuses it in a container's environment",
    change: env("TELEGRAM_DM_POLICY=open"),
    messages: [DM_POLICY],
  },
  {
    rule: "no-dm-policy",
    what: "passes the empty value in a container's environment",
    change: env("TELEGRAM_DM_POLICY="),
    messages: [],
  },
];
