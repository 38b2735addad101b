import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { Image, ToolCall } from "../models/model.ts";

/** Longer than the edge retries a delivery. */
const KEEP_MS = 9 * 24 * 3_600_000;

/** Progress of a tool's call. `begun`: a crash in between leaves its result unknown. */
export type CallState = "waiting" | "begun" | "done" | "failed";

/** A tool's call of a step. */
export interface StepCall extends ToolCall {
  state: CallState;
  /** Outcome, where it has ended. */
  output?: string;
  /** Pictures of the outcome. Not stored: after a restart the answer continues without them. */
  images?: readonly Image[];
}

/** One answer of the model that asked for tools. */
export interface Step {
  seq: number;
  text: string;
  calls: StepCall[];
}

/**
 * The steps of answers that are being made. Each is kept before the next thing happens, so that a
 * delivery that is retried continues after it, and no tool runs twice for one call.
 */
export class Steps {
  readonly #insert: StatementSync;
  readonly #insertCall: StatementSync;
  readonly #mark: StatementSync;
  readonly #read: StatementSync;
  readonly #readCalls: StatementSync;
  readonly #drop: StatementSync;
  readonly #prune: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      "INSERT INTO steps (conversation, delivery, text, at) VALUES (?, ?, ?, ?) RETURNING seq",
    );
    // One statement, so that a step is never there with some of its calls only.
    this.#insertCall = database.prepare(
      `INSERT INTO tool_calls (step, position, id, name, input, state)
       SELECT ?, key, value ->> 'id', value ->> 'name', value -> 'input', 'waiting' FROM json_each(?)`,
    );
    this.#mark = database.prepare(
      "UPDATE tool_calls SET state = ?, output = ? WHERE step = ? AND position = ?",
    );
    this.#read = database.prepare(
      "SELECT seq, text FROM steps WHERE conversation = ? AND delivery = ? ORDER BY seq",
    );
    this.#readCalls = database.prepare(
      "SELECT id, name, input, state, output FROM tool_calls WHERE step = ? ORDER BY position",
    );
    this.#drop = database.prepare("DELETE FROM steps WHERE conversation = ? AND delivery = ?");
    this.#prune = database.prepare("DELETE FROM steps WHERE at < ?");
  }

  /** Keeps a step whose calls are still to be run. */
  add(session: string, delivery: string, text: string, calls: readonly ToolCall[], at: number): Step {
    const seq = Number(this.#insert.get(session, delivery, text, at)?.["seq"]);
    // A call without an input gets an empty one: JSON has no other word for it.
    const known = calls.map(({ id, name, input }): StepCall => ({
      id,
      name,
      input: input ?? {},
      state: "waiting",
    }));
    this.#insertCall.run(seq, JSON.stringify(known));
    return { seq, text, calls: known };
  }

  /** Keeps how far a call has come. */
  mark({ seq, calls }: Step, call: StepCall, state: CallState, output?: string): void {
    this.#mark.run(state, output ?? null, seq, calls.indexOf(call));
    call.state = state;
    if (output !== undefined) call.output = output;
  }

  /** The steps that were kept for a delivery, in order. A step whose calls were never kept did not happen. */
  of(session: string, delivery: string): Step[] {
    return this.#read
      .all(session, delivery)
      .map((row) => ({
        seq: Number(row["seq"]),
        text: String(row["text"]),
        calls: this.#calls(Number(row["seq"])),
      }))
      .filter(({ calls }) => calls.length > 0);
  }

  /** Forgets the steps of a complete answer, and those that will not be continued. */
  drop(session: string, deliveries: readonly string[], now: number): void {
    for (const delivery of deliveries) this.#drop.run(session, delivery);
    this.#prune.run(now - KEEP_MS);
  }

  #calls(step: number): StepCall[] {
    return this.#readCalls.all(step).map(readCall);
  }
}

function readCall(row: Record<string, SQLOutputValue>): StepCall {
  return {
    id: String(row["id"]),
    name: String(row["name"]),
    input: JSON.parse(String(row["input"])) as unknown,
    state: row["state"] as CallState,
    ...(row["output"] !== null && { output: String(row["output"]) }),
  };
}
