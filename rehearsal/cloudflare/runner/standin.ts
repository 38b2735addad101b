export interface StandInOptions {
  /** URL of the process host, including the access secret. No trailing slash. */
  host: string;
  namespaceId: string;
  objectId: string;
  waitUntil: (promise: Promise<unknown>) => void;
}

interface StartOptions {
  env?: Record<string, string>;
  entrypoint?: string[];
  enableInternet?: boolean;
}

// Stored per isolate, because a container outlives a restart of its Durable Object. The value of each start keeps a
// former container's end from ending its successor.
const running = new Map<string, symbol>();

/** Registers the containers that were running before this isolate started. */
export function alreadyRunning(names: readonly string[]): void {
  for (const name of names) running.set(name, Symbol());
}

/**
 * Stand-in for `ctx.container` inside workerd. It calls the process host over loopback HTTP. This file must not import
 * anything, because it is uploaded as a separate module.
 * https://developers.cloudflare.com/durable-objects/api/container/
 */
export class ContainerStandIn {
  readonly #options: StandInOptions;
  readonly #name: string;
  #ended: Promise<void> | undefined;
  #started: Promise<unknown> = Promise.resolve();

  constructor(options: StandInOptions) {
    this.#options = options;
    this.#name = `${options.namespaceId}/${options.objectId}`;
  }

  get running(): boolean {
    return running.has(this.#name);
  }

  /** Starts the container and returns immediately, as on Cloudflare. If the start fails, monitor() rejects. */
  start(options: StartOptions = {}): void {
    if (this.running) throw new Error("start() cannot be called on a container that is already running.");
    running.set(this.#name, Symbol());
    this.#started = this.#call("start", options);
    this.#ended = this.#watch();
    // If nobody calls monitor(), a failure must not become an unhandled rejection.
    this.#options.waitUntil(this.#ended.catch(() => undefined));
  }

  /** Resolves when the container exits with code 0, otherwise rejects. */
  monitor(): Promise<void> {
    if (!this.running && this.#ended === undefined) {
      return Promise.reject(new Error("monitor() cannot be called on a container that is not running."));
    }
    this.#ended ??= this.#watch();
    return this.#ended;
  }

  signal(number: number): void {
    if (!this.running) throw new Error("signal() cannot be called on a container that is not running.");
    this.#options.waitUntil(this.#call("signal", { signal: number }));
  }

  async destroy(): Promise<void> {
    const start = running.get(this.#name);
    if (start === undefined) return;
    await this.#started.catch(() => undefined);
    await this.#call("destroy", {});
    this.#end(start);
  }

  /** Does nothing, because the rehearsal never evicts an object that has a container. */
  async setInactivityTimeout(): Promise<void> {}

  getTcpPort(port: number): { fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> } {
    return {
      fetch: async (input, init) => {
        if (!this.running) {
          throw new Error("The container is not running, consider calling start()");
        }
        await this.#started;
        const request = new Request(input, init);
        const { host, pathname, search } = new URL(request.url);
        const target = `${this.#base()}/port/${port}${pathname}${search}`;
        const onward = new Request(new Request(target, request), { redirect: "manual" });
        onward.headers.set("x-standin-host", host);
        const response = await fetch(onward);
        const refusal = response.headers.get("x-standin-error");
        if (refusal !== null) throw new Error(refusal);
        return response;
      },
    };
  }

  #base(): string {
    return `${this.#options.host}/${this.#name}`;
  }

  #end(start: symbol | undefined): void {
    if (running.get(this.#name) === start) running.delete(this.#name);
  }

  async #watch(): Promise<void> {
    const start = running.get(this.#name);
    try {
      await this.#started;
      const { exitCode } = (await this.#call("monitor", {})) as { exitCode: number };
      if (exitCode === 0) return;
      const message = `Container exited with unexpected exit code: ${exitCode}`;
      throw Object.assign(new Error(message), { exitCode });
    } finally {
      this.#end(start);
    }
  }

  async #call(action: string, body: unknown): Promise<unknown> {
    const response = await fetch(`${this.#base()}/${action}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  }
}
