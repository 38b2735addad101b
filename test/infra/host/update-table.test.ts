import { describe, expect, test } from "vitest";
import { SCHEMA_LABEL } from "../../../infra/bundle/arguments.ts";
import type { Containers, InspectedContainer } from "../../../infra/host/update/containers.ts";
import {
  backUp,
  removePrevious,
  previousName,
  freeName,
  restorePrevious,
  isReady,
  keepPrevious,
  replacePrevious,
} from "../../../infra/host/update/previous.ts";

/**
 * An update of a host, cut off before each of its `docker` commands, with housekeeping by hand at that moment. However it
 * was cut off, the next update ends with a version that runs.
 *
 * The engine and Pulumi's part (remove the old container, create the new one) are scripted here. The real ones are in
 * test/stacks/false-green-host.system.test.ts and host-update.system.test.ts.
 */

const NAME = "steward";
const FORMER = previousName(NAME);

interface Container {
  id: string;
  version: string;
  status: "created" | "running" | "exited" | "paused";
  restart: string;
}

class Killed extends Error {}

/**
 * An engine with one port, which one container at a time can have. `works` tells which versions get ready. A version
 * reads data up to the schema of its own number.
 */
class ScriptedEngine implements Containers {
  readonly containers = new Map<string, Container>();
  works = new Set(["1"]);
  /** Number of the next health checks that a busy gateway answers too late. */
  late = 0;
  /** Schema version of the data. */
  schema = 1;
  /** Number of next attempts to read the schema that fail. */
  locked = 0;
  /** Error codes of the next backups. */
  refusals: string[] = [];
  /** Commands run inside a container, without the container's name. */
  readonly asked: string[] = [];
  waitedMs = 0;
  /** Runs before each command that changes something, with its number. */
  before: (step: number) => void = () => undefined;
  steps = 0;
  #ids = 0;

  create(name: string, version: string, status: Container["status"] = "created"): Container {
    if (this.containers.has(name)) throw new Error(`The name ${name} is taken`);
    const container = { id: String((this.#ids += 1)), version, status, restart: "unless-stopped" };
    this.containers.set(name, container);
    return container;
  }

  find(nameOrId: string): Container | undefined {
    return this.containers.get(nameOrId) ?? [...this.containers.values()].find(({ id }) => id === nameOrId);
  }

  prune(): void {
    for (const [name, { status }] of this.containers) {
      if (status === "created" || status === "exited") this.containers.delete(name);
    }
  }

  rename(from: string, to: string): void {
    const found = this.containers.get(from);
    if (found === undefined || this.containers.has(to)) return;
    this.containers.delete(from);
    this.containers.set(to, found);
  }

  reboot(): void {
    for (const container of this.containers.values()) {
      if (container.status === "running" && container.restart === "no") container.status = "exited";
    }
  }

  runs(): string[] {
    return [...this.containers].filter(([, { status }]) => status === "running").map(([name]) => name);
  }

  step(): void {
    this.before((this.steps += 1));
  }

  async inspect(name: string): Promise<InspectedContainer | undefined> {
    const found = this.find(name);
    if (found === undefined) return undefined;
    const { id, version, status } = found;
    return {
      Id: id,
      Image: version,
      RestartCount: 0,
      State: {
        Status: status,
        Running: status === "running" || status === "paused",
        Paused: status === "paused",
        ExitCode: 0,
        OOMKilled: false,
      },
      Config: { Labels: { [SCHEMA_LABEL]: version }, Env: null },
      HostConfig: {},
      NetworkSettings: { Networks: {} },
    };
  }

  async copy({ Image }: InspectedContainer, to: string): Promise<void> {
    this.step();
    this.create(to, Image).restart = "no";
  }

  async wait(milliseconds: number): Promise<void> {
    this.waitedMs += milliseconds;
  }

  async docker(words: readonly string[]) {
    const answer = (code: number, stdout = "") => {
      return {
        code,
        stdout,
        stderr: code === 0 ? "" : `failed: ${words.join(" ")}`,
        missing: false,
        timedOut: false,
      };
    };
    const [verb = ""] = words;
    const name = (verb === "exec" || verb === "rename" ? words[1] : words.at(-1)) ?? "";
    if (verb !== "exec" || words.includes("create")) this.step();
    const found = this.find(name);
    if (found === undefined) return answer(1);
    if (verb === "exec") {
      this.asked.push(words.slice(2, 5).join(" "));
      if (found.status !== "running") return answer(1);
      if (words.includes("health") && this.late > 0) {
        this.late -= 1;
        return answer(1);
      }
      if (words.includes("node")) {
        if (this.locked === 0) return answer(0, `${this.schema}\n`);
        this.locked -= 1;
        return answer(1);
      }
      if (words.includes("list")) return answer(0, JSON.stringify({ backups: [{ id: "backup" }] }));
      if (words.includes("restore")) {
        this.schema = 1;
        return answer(0);
      }
      const code = words.includes("create") ? this.refusals.shift() : undefined;
      if (code !== undefined) return answer(1, JSON.stringify({ error: { code } }));
      const ready = this.works.has(found.version) && this.schema <= Number(found.version);
      return ready ? answer(0, JSON.stringify({ id: "backup" })) : answer(1);
    }
    if (verb === "rename") this.rename(name, words[2] ?? "");
    if (verb === "rm") this.containers.delete(name);
    if (verb === "stop") found.status = found.status === "running" ? "exited" : found.status;
    if (verb === "update") found.restart = "unless-stopped";
    if (verb === "unpause" || verb === "restart") found.status = "running";
    if (verb === "start") {
      const others = this.runs().filter((running) => this.find(running) !== found);
      if (others.length > 0) return answer(1);
      found.status = "running";
    }
    return answer(0);
  }
}

/** What Pulumi remembers between two updates. */
interface State {
  id: string | undefined;
  version: string | undefined;
}

/** One `pulumi up`, step by step as the stack's resources do it. Throws as an update fails. */
async function up(engine: ScriptedEngine, state: State, version: string): Promise<void> {
  // Placement sees what is missing under the name; Service refuses an id that the engine does not have.
  const missing = (await engine.inspect(NAME)) === undefined;
  // `up --refresh`, which the refusal names.
  if (state.id !== undefined && engine.find(state.id) === undefined) state.id = undefined;
  if (missing || state.id === undefined || state.version !== version) {
    await keepPrevious(engine, NAME);
    if (state.id !== undefined) {
      engine.step();
      const [old] = [...engine.containers].find(([, { id }]) => id === state.id) ?? [];
      if (old !== undefined) engine.containers.delete(old);
      state.id = undefined;
    }
    engine.step();
    await freeName(engine, NAME);
    state.id = engine.create(NAME, version).id;
    state.version = version;
  }
  try {
    await replacePrevious(engine, NAME);
    if (!(await isReady(engine, NAME))) throw new Error("The probe failed");
  } catch (error) {
    if (error instanceof Killed) throw error;
    await restorePrevious(engine, NAME);
    throw error;
  }
  await removePrevious(engine, NAME);
}

const HOUSEKEEPING: Record<string, (engine: ScriptedEngine) => void> = {
  "a kill of the process": () => undefined,
  "docker container prune": (engine) => engine.prune(),
  "docker rm -f of the service": (engine) => engine.containers.delete(NAME),
  "docker rm -f of the former": (engine) => engine.containers.delete(FORMER),
  "docker rename of the service": (engine) => engine.rename(NAME, "renamed"),
  "docker rename of the former": (engine) => engine.rename(FORMER, "renamed"),
  "docker rename of the former to the service": (engine) => engine.rename(FORMER, NAME),
  "docker stop of the service": (engine) => void engine.docker(["stop", NAME]),
  "a restart of the engine": (engine) => engine.reboot(),
};

async function deployed(): Promise<{ engine: ScriptedEngine; state: State }> {
  const engine = new ScriptedEngine();
  const { id } = engine.create(NAME, "1", "running");
  return { engine, state: { id, version: "1" } };
}

/** Does what the preflight's fix says of a renamed container that has the port: one of the two names, else a stop. */
function followPreflight(engine: ScriptedEngine): void {
  const renamed = engine.containers.get("renamed");
  if (renamed?.status !== "running") return;
  engine.rename("renamed", NAME);
  engine.rename("renamed", FORMER);
  if (engine.containers.get("renamed") === renamed) renamed.status = "exited";
}

/** Number of commands in an uninterrupted update to this version. */
async function stepsOf(version: string, works: readonly string[]): Promise<number> {
  const { engine, state } = await deployed();
  engine.works = new Set(works);
  await up(engine, state, version).catch(() => undefined);
  return engine.steps;
}

const UPDATES = [
  { to: "2", works: ["1", "2"], what: "an update that works" },
  { to: "2", works: ["1"], what: "an update that goes back" },
];

for (const { to, works, what } of UPDATES) {
  const steps = await stepsOf(to, works);

  describe.each(Object.keys(HOUSEKEEPING))(`${what}, cut off by %s`, (name) => {
    test.each(Array.from({ length: steps }, (_, index) => index + 1))(
      `before its command ${"%i"} of ${steps}`,
      async (at) => {
        const { engine, state } = await deployed();
        engine.works = new Set(works);
        engine.before = (step) => {
          if (step !== at) return;
          engine.before = () => undefined;
          HOUSEKEEPING[name]?.(engine);
          throw new Killed();
        };
        await up(engine, state, to).catch(() => undefined);
        followPreflight(engine);
        const survives = [NAME, FORMER].some((kept) => works.includes(engine.find(kept)?.version ?? ""));
        await up(engine, state, to).catch(() => undefined);

        // Only if housekeeping took away every version that works, one that does not is left running.
        const wanted = works.includes(to) ? [to] : survives ? works : ["1", "2"];
        expect(engine.runs()).toHaveLength(1);
        expect(wanted).toContain(engine.find(engine.runs()[0] ?? "")?.version);
      },
    );
  });
}

describe.each(Object.keys(HOUSEKEEPING))("after an update that went back, and %s", (name) => {
  test.each(["2", "3"])("the next update, to version %s, ends with a version that runs", async (next) => {
    const { engine, state } = await deployed();
    engine.works = new Set(["1", "3"]);
    await expect(up(engine, state, "2")).rejects.toThrow("The probe failed");
    expect(engine.runs()).toEqual([FORMER]);
    HOUSEKEEPING[name]?.(engine);
    followPreflight(engine);
    await up(engine, state, next).catch(() => undefined);

    // Without the former one, the version that fails is all that there is.
    const back = name.endsWith("rm -f of the former") ? "2" : "1";
    expect(engine.runs()).toHaveLength(1);
    expect(engine.find(engine.runs()[0] ?? "")?.version).toBe(next === "3" ? "3" : back);
  });
});

test("a running version that answers late twice is backed up and kept for a rollback", async () => {
  const { engine } = await deployed();
  engine.late = 2;
  expect(await keepPrevious(engine, NAME)).toContain("Its data is in the backup backup.");
  expect(engine.find(FORMER)).toMatchObject({ version: "1", status: "created" });
});

test("a new version that answers late twice is not restarted", async () => {
  const { engine } = await deployed();
  engine.late = 2;
  await replacePrevious(engine, NAME);
  expect(engine.steps).toBe(0);
});

/** A new version has changed the data and then failed, and nothing but the data keeps the former from answering. */
function failed(): ScriptedEngine {
  const engine = new ScriptedEngine();
  engine.create(NAME, "2", "running");
  engine.create(FORMER, "1");
  engine.schema = 2;
  return engine;
}

test("newer data is replaced by the backup although its schema cannot be read at first", async () => {
  const engine = failed();
  engine.locked = 3;
  expect(await restorePrevious(engine, NAME)).toContain("with the data of the backup backup.");
  expect(engine.schema).toBe(1);
  expect(engine.waitedMs).toBe(1_500);
});

test("if the schema can never be read, the rollback still waits a minute for the former version", async () => {
  const engine = failed();
  engine.locked = Infinity;
  expect(await restorePrevious(engine, NAME)).toContain("The previous version does not respond either");
  expect(engine.waitedMs).toBe(2 * 60_000);
});

test("a former version that answers is not asked again for a schema that cannot be read", async () => {
  const engine = failed();
  Object.assign(engine, { schema: 1, locked: Infinity, late: 1 });
  expect(await restorePrevious(engine, NAME)).toContain(`as the container ${FORMER}.`);
  expect(engine.asked.filter((words) => words.startsWith("node"))).toHaveLength(2);
});

test("an update waits until a backup that is already running has ended", async () => {
  const { engine } = await deployed();
  engine.refusals = ["commands_busy", "commands_busy"];
  expect(await backUp(engine, NAME)).toBe("backup");
  expect(engine.waitedMs).toBe(1_000);
});

test.each([
  { code: "commands_busy", waitedMs: 60_000 },
  { code: "disk_full", waitedMs: 0 },
])("an update whose backup always fails with $code does not start, after $waitedMs ms", async (refused) => {
  const { engine } = await deployed();
  engine.refusals = Array.from({ length: 200 }, () => refused.code);
  await expect(keepPrevious(engine, NAME)).rejects.toMatchObject({ code: "backup_failed" });
  expect(engine.waitedMs).toBe(refused.waitedMs);
  expect(engine.find(FORMER)).toBeUndefined();
});
