import * as z from "zod/mini";
import type { Finding } from "../gateway/doctor.ts";
import { EVERYWHERE, flag, operation } from "./operation.ts";

/** `steward doctor`: exit code 1 while a problem remains. */
export const doctor = operation({
  name: "doctor",
  summary: "looks for what is wrong; exit code 1 while a problem remains",
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
