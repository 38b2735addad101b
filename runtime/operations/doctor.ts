import * as z from "zod/mini";
import type { Finding } from "../gateway/doctor.ts";
import { EVERYWHERE, flag, operation } from "./operation.ts";

export const doctor = operation({
  name: "doctor",
  summary: "checks for problems; exit code 1 while one remains",
  rights: EVERYWHERE,
  input: () =>
    z.strictObject({
      fix: flag("fix what can be fixed without losing data; saves a copy of the config"),
    }),
  changes: ({ fix }) => fix === true,
  async run(tools, { fix }) {
    const changes = fix ? await tools.doctor.mend() : [];
    const findings = await tools.doctor.examine();
    return { healthy: findings.every(({ state }) => state !== "problem"), findings, changes };
  },
  text: ({ findings, changes }) =>
    [...changes.map((change) => `fixed: ${change}`), ...findings.map(findingText)].join("\n"),
  failed: ({ healthy }) => !healthy,
});

function findingText({ check, state, detail, code, fix }: Finding): string {
  const head = `${state.padEnd(7)}  ${check}: ${detail}`;
  return code === undefined ? head : `${head}\n         Fix [${code}]: ${fix}`;
}
