import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { COMPATIBILITY } from "./infra/bundle/bundle.ts";
import { cacheRoot } from "./infra/shell/cache.ts";
import { SpreadTurns } from "./test/support/order.ts";

const EDGE = [
  "test/runtime/{backups,edge}/**/*.test.ts",
  "test/security/{routes,csrf,tokens,paths,webhooks}.test.ts",
];
/** The tiers that a test's file name tells, as `status.process.test.ts`. Without one it is a unit test. */
const TIERS = ["process", "engine", "system", "main"] as const;
const named = (tier: (typeof TIERS)[number]): string => `test/**/*.${tier}.test.ts`;
/** Generous: these bounds end what hangs, they measure nothing. */
const TIMEOUTS = { testTimeout: 60_000, hookTimeout: 120_000, expect: { poll: { timeout: 50_000 } } };

// Workers and what they start find Node's own code compiled.
process.env["NODE_COMPILE_CACHE"] ??= `${cacheRoot(process.env)}/compiled`;
// The engine's processes are short: collecting less garbage saves a twentieth of their time.
process.env["GOGC"] ??= "400";

const PREPARED = { globalSetup: ["test/support/prepare.ts"] };
/** A young heap that is large from the start saves a worker a tenth of its time. */
const WORKER = { execArgv: ["--min-semi-space-size=16"], ...TIMEOUTS };
/** Groups run one after the other: many of these tests wait, and a run of the engine keeps a processor busy. */
const FAST = { ...WORKER, maxWorkers: 4, sequence: { groupOrder: 0 }, isolate: false };

/** Above the processors of a small machine: what waits for a probe or a retry leaves its own to another. */
const SLOW_WORKERS = 5;

/** The tiers; see test/README.md. `npm test` is unit, workerd, process and main; `npm run test:all` is all of them. */
export default defineConfig({
  test: {
    sequence: { sequencer: SpreadTurns },
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: TIERS.map(named),
          setupFiles: ["test/support/unit-guard.ts"],
          ...FAST,
        },
      },
      {
        // The edge's own tests once more inside workerd: same files, same results.
        plugins: [
          cloudflareTest({
            miniflare: {
              compatibilityDate: COMPATIBILITY.date,
              compatibilityFlags: [...COMPATIBILITY.flags],
            },
          }),
        ],
        test: { name: "workerd", include: EDGE, ...FAST },
      },
      { test: { name: "process", include: [named("process")], ...PREPARED, ...FAST } },
      {
        test: {
          name: "main",
          include: [named("main")],
          ...PREPARED,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          ...WORKER,
        },
      },
      {
        test: {
          name: "engine",
          include: [named("engine")],
          ...PREPARED,
          maxWorkers: SLOW_WORKERS,
          isolate: false,
          sequence: { groupOrder: 2 },
          ...WORKER,
        },
      },
      {
        test: {
          name: "system",
          include: [named("system")],
          ...PREPARED,
          maxWorkers: SLOW_WORKERS,
          isolate: false,
          sequence: { groupOrder: 2 },
          ...WORKER,
        },
      },
    ],
  },
});
