import { configureEndpoints } from "../../infra/channels/endpoints.ts";

/** Points dynamic providers at these servers, as the engine does from `steward:endpoints`; without any, at the platforms. */
export function useEndpoints(endpoints: Record<string, string> = {}): Promise<void> {
  const none = {
    slack: undefined,
    telegram: undefined,
    discord: undefined,
    anthropic: undefined,
    openai: undefined,
  };
  // An undefined endpoint is left out of JSON, so what another file has set is reset by name.
  const text = JSON.stringify({ ...none, ...endpoints }, (_key, value: unknown) => value ?? null);
  return configureEndpoints({ config: { get: () => text, require: () => text } });
}
