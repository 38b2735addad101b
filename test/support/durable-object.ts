import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../runtime/support/processes.ts";
import { startModule } from "./module-worker.ts";

/** Returns a function that posts JSON to the module and resolves with the JSON response. */
export async function durableObject(
  source: string,
  className: string,
): Promise<(body: unknown) => Promise<unknown>> {
  const { url, close } = await startModule(source, className, await temporaryDirectory());
  onTestFinished(close);
  return async (body) => {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
}
