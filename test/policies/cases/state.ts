import { TYPES } from "../../../policies/reading/resource.ts";
import { sample } from "../resources.ts";
import { adding, bound, named, props, without, type Case } from "./case.ts";

const LOST =
  "prod-steward is replaced or deleted without a backup younger than a day. Take a backup, then run the command again with --backup and its time.";
const DEPLOYED = ["prod-steward", "steward-data"];
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const NEVER =
  'SANDBOX_SLEEP_AFTER is never, at the container\'s full price. Set steward:sleepAfter to a duration such as 1h, or give the reason in the policy configuration: {"never-with-reason": {"reason": "…"}}.';
const UNPROTECTED =
  "The bucket prod-steward is not protected. Set it: `pulumi config set -s prod steward:protectState true`.";
const unprotected: Case["change"] = (samples) => void (named(samples, "bucket").opts.protect = false);

export const STATE_CASES: readonly Case[] = [
  {
    rule: "bucket-private",
    what: "refuses the bucket's r2.dev address",
    change: props("domain", { enabled: true }),
    messages: [
      "The bucket prod-steward is public at its r2.dev address. Remove the domain or set enabled to false.",
    ],
  },
  {
    rule: "bucket-private",
    what: "refuses a domain for the bucket",
    change: adding(
      sample(TYPES.bucketDomain, "files", { bucketName: "prod-steward", domain: "files.example.com" }),
    ),
    messages: [
      "The bucket prod-steward is public at files.example.com. Remove the domain or set enabled to false.",
    ],
  },
  {
    rule: "bucket-lifecycle",
    what: "asks for a lifecycle",
    change: without("lifecycle"),
    messages: [
      "The bucket prod-steward has no lifecycle. Add an R2BucketLifecycle with an enabled rule for it.",
    ],
  },
  {
    rule: "bucket-lifecycle",
    what: "asks for a rule that is enabled",
    change: props("lifecycle", { rules: [{ enabled: false }] }),
    messages: [
      "The bucket prod-steward has no lifecycle. Add an R2BucketLifecycle with an enabled rule for it.",
    ],
  },
  {
    rule: "state-protected",
    what: "refuses a bucket that can go",
    change: unprotected,
    messages: [UNPROTECTED],
  },
  {
    rule: "state-protected",
    what: "refuses a volume that can go",
    change: (samples) => void (named(samples, "volume").opts.protect = false),
    messages: [
      "The volume steward-data is not protected. Set it: `pulumi config set -s prod steward:protectState true`.",
    ],
  },
  {
    rule: "state-protected",
    what: "lets a stack pass that is not production",
    change: unprotected,
    stack: "dev",
    messages: [],
  },
  {
    rule: "state-protected",
    what: "takes the stacks that its configuration names for production",
    change: unprotected,
    stack: "live",
    config: { stacks: "^live$" },
    messages: [UNPROTECTED.replace("-s prod", "-s live")],
  },
  {
    rule: "fresh-backup",
    what: "refuses a bucket of another name without a backup",
    change: props("bucket", { name: "other" }),
    config: { deployed: DEPLOYED },
    messages: [LOST],
  },
  {
    rule: "fresh-backup",
    what: "refuses a stack without the bucket, with a backup that is older than a day",
    change: without("bucket"),
    config: { deployed: DEPLOYED, backup: hoursAgo(25) },
    messages: [LOST],
  },
  {
    rule: "fresh-backup",
    what: "refuses a backup's time that is still to come",
    change: without("bucket"),
    config: { deployed: DEPLOYED, backup: hoursAgo(-3) },
    messages: [LOST],
  },
  {
    rule: "fresh-backup",
    what: "passes with a backup of this day",
    change: props("bucket", { name: "other" }),
    config: { deployed: DEPLOYED, backup: hoursAgo(23) },
    messages: [],
  },
  {
    rule: "fresh-backup",
    what: "passes what keeps its state",
    change: () => undefined,
    config: { deployed: DEPLOYED },
    messages: [],
  },
  {
    rule: "never-with-reason",
    what: "refuses never in production",
    change: bound("SANDBOX_SLEEP_AFTER", { text: "never" }),
    messages: [NEVER],
  },
  {
    rule: "never-with-reason",
    what: "refuses an empty reason",
    change: bound("SANDBOX_SLEEP_AFTER", { text: "never" }),
    config: { reason: " " },
    messages: [NEVER],
  },
  {
    rule: "never-with-reason",
    what: "passes never with a reason",
    change: bound("SANDBOX_SLEEP_AFTER", { text: "never" }),
    config: { reason: "an operations channel that has to answer within seconds" },
    messages: [],
  },
  {
    rule: "never-with-reason",
    what: "passes never elsewhere",
    change: bound("SANDBOX_SLEEP_AFTER", { text: "never" }),
    stack: "dev",
    messages: [],
  },
];
