import type { Environment } from "../environment.ts";
import { withCredentials } from "./credentials.ts";

const OPENAI_BASE_URL = "https://api.openai.com/v1";

/**
 * Returns the config file for a new data directory, built from the environment. The file refers to variables and
 * contains no secrets.
 */
export function renderConfig(environment: Environment): string {
  const has = (name: string): boolean => Boolean(environment[name]);
  const openai = {
    baseUrl: environment["OPENAI_BASE_URL"] || OPENAI_BASE_URL,
    ...(has("OPENAI_API_KEY") && { apiKey: { env: "OPENAI_API_KEY" } }),
  };
  const usesOpenai = has("OPENAI_API_KEY") || has("OPENAI_BASE_URL");
  const models = { ...(usesOpenai && { models: { providers: { openai } } }) };
  return `${JSON.stringify(withCredentials({ ...models, channels: {} }, environment), null, 2)}\n`;
}
