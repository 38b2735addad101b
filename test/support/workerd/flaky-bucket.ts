import type { R2Bucket } from "@cloudflare/workers-types/index.ts";

/** Wrapper around a real bucket. Tests select operations that fail. */
export class FlakyBucket {
  /** Operations that fail and have no effect, as `<operation> <key prefix>`. */
  failing: string[] = [];
  /** Operations that take effect but lose their response. */
  lost: string[] = [];
  readonly calls: string[] = [];
  readonly #bucket: R2Bucket;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  async list(...given: Parameters<R2Bucket["list"]>) {
    this.#check("list");
    return this.#bucket.list(...given);
  }

  async get(key: string) {
    this.#check(`get ${key}`);
    return this.#bucket.get(key);
  }

  async put(key: string, ...given: [Parameters<R2Bucket["put"]>[1], Parameters<R2Bucket["put"]>[2]]) {
    this.#check(`put ${key}`);
    this.calls.push(`put ${key}`);
    const stored = await this.#bucket.put(key, ...given);
    if (matches(this.lost, `put ${key}`)) throw new Error("The connection was lost");
    return stored;
  }

  async delete(key: string): Promise<void> {
    this.#check(`delete ${key}`);
    this.calls.push(`delete ${key}`);
    return this.#bucket.delete(key);
  }

  #check(call: string): void {
    if (matches(this.failing, call)) throw new Error("We encountered an internal error");
  }
}

function matches(beginnings: string[], call: string): boolean {
  return beginnings.some((one) => call.startsWith(one));
}
