import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { COMPATIBILITY } from "./infra/build/compatibility.ts";

const EDGE = "test/runtime/edge/**/*.test.ts";
/** Generous: these bounds end what hangs, they measure nothing. */
const TIMEOUTS = { testTimeout: 60_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "node",
          include: ["test/**/*.test.ts"],
          // The engine, workerd and Docker are started by whole files; two cores carry two of them.
          maxWorkers: 2,
          ...TIMEOUTS,
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
        test: { name: "workerd", include: [EDGE], ...TIMEOUTS },
      },
    ],
  },
});
