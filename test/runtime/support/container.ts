import type { ContainerConfig, ProcessList, SandboxStatus } from "../../../runtime/contract/control.ts";
import { freePort } from "../../support/ports.ts";
import { askJson, surroundings } from "./gateway.ts";
import { eventually, startRuntime } from "./processes.ts";

/** The container's main process with its gateway, not started yet, and questions to its control API. */
export async function container(extra: Record<string, string> = {}) {
  const around = await surroundings();
  const port = await freePort();
  const start = () =>
    startRuntime("supervisor/main.ts", { ...around.environment, SUPERVISOR_PORT: String(port), ...extra });
  const control = `http://127.0.0.1:${port}`;
  const status = () => askJson<SandboxStatus>(`${control}/status`);
  const config = () => askJson<ContainerConfig>(`${control}/config`);
  const gateway = async (query = "") => {
    const { processes } = await askJson<ProcessList>(`${control}/processes${query}`);
    const found = processes.find(({ name }) => name === "gateway");
    if (found === undefined) throw new Error("no gateway in the list");
    return found;
  };
  const state = (wanted: string) =>
    eventually(async () => {
      const now = await status().catch(() => undefined);
      return now?.state === wanted && now;
    });
  return { ...around, start, control, status, config, gateway, state };
}
