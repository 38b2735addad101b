import Cloudflare, { NotFoundError } from "cloudflare";
import { toValue, type Properties, type Value } from "../values.ts";

interface Envelope {
  result?: unknown;
}

/**
 * Cloudflare's API by path, over the official client, which brings the token, the retries and the
 * errors with their texts. Paths and bodies are the caller's, so that they are exactly those of the
 * official provider, also where the client's types know a field not yet.
 */
export class CloudflareApi {
  readonly #client: Cloudflare;

  /** `baseUrl` defaults to Cloudflare's own. */
  constructor(apiToken: string, baseUrl: string | undefined) {
    this.#client = new Cloudflare({ apiToken, ...(baseUrl && { baseURL: baseUrl }) });
  }

  /** The result, or `undefined` when there is no such thing (404). */
  async get(path: string, query: Record<string, string> = {}): Promise<Value | undefined> {
    try {
      const envelope = await this.#client.get<Envelope>(path, { query });
      return toValue(envelope.result);
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  async post(path: string, body: Properties, query: Record<string, string> = {}): Promise<Value> {
    return toValue((await this.#client.post<Envelope>(path, { body, query })).result);
  }

  async put(path: string, body: Properties): Promise<Value> {
    return toValue((await this.#client.put<Envelope>(path, { body })).result);
  }

  /** A thing that is gone already counts as deleted. */
  async delete(path: string): Promise<void> {
    try {
      await this.#client.delete(path);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
}
