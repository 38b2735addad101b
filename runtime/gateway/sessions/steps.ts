import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { ModelImage, ToolCall } from "../models/model.ts";

/** Milliseconds after which a step is deleted. By then, its delivery is no longer retried. */
const KEEP_MS = 9 * 24 * 3_600_000;

/** Progress of a tool call. After a crash, the result of a call in state `begun` is unknown. */
export type CallState = "waiting" | "begun" | "done" | "failed";

export interface StepCall extends ToolCall {
  state: CallState;
  output?: string;
  /** Pictures in the result. They are not stored, so they are missing if the answer resumes after a restart. */
  images?: readonly ModelImage[];
}

/** A model response that contains tool calls. */
export interface Step {
  seq: number;
  text: string;
  calls: StepCall[];
}

/**
 * Stores each step of an answer before the next step starts. A retried delivery continues after the last step, so no
 * tool runs twice for one call.
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
    // Insert all of a step's calls with one statement, so that a failure leaves either all or none of them stored.
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

  add(session: string, delivery: string, text: string, calls: readonly ToolCall[], at: number): Step {
    const seq = Number(this.#insert.get(session, delivery, text, at)?.["seq"]);
    // Store an empty object for a missing input, since JSON has no `undefined`.
    const known = calls.map(({ id, name, input }): StepCall => ({
      id,
      name,
      input: input ?? {},
      state: "waiting",
    }));
    this.#insertCall.run(seq, JSON.stringify(known));
    return { seq, text, calls: known };
  }

  mark({ seq, calls }: Step, call: StepCall, state: CallState, output?: string): void {
    this.#mark.run(state, output ?? null, seq, calls.indexOf(call));
    call.state = state;
    if (output !== undefined) call.output = output;
  }

  /** Returns the stored steps of an answer in order. Omits steps without stored calls. */
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

  /** Removes the steps of a complete answer, and steps too old to resume. */
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
