import type { Reason } from "../../../runtime/contract/errors.ts";
import { CONFIG_FILE, DATA_DIRECTORY } from "../../../runtime/contract/names.ts";
import { run } from "../../shell/process.ts";
import type { Host, HostPlan } from "./engine.ts";

/** Many times what a config comes to. */
const MOST_BYTES = 1 << 20;

/** The config that runs would not start under what is about to be deployed. */
export async function configProblems(plan: HostPlan, { container }: Host): Promise<Reason[]> {
  const { judgeConfig, environment: env } = plan;
  if (judgeConfig === undefined || container?.running !== true) return [];
  const file = `${DATA_DIRECTORY}/${CONFIG_FILE}`;
  const { code, stdout } = await run(
    "docker",
    ["exec", container.id, "head", `--bytes=${MOST_BYTES}`, file],
    { env },
  );
  // Not there yet, or not to be read: the start tells what is wrong with it.
  const problem = code === 0 ? judgeConfig(stdout) : undefined;
  return problem === undefined ? [] : [problem];
}
