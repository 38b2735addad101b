import { text } from "node:stream/consumers";
import { replayRecordSchema } from "../../contract/replay.ts";
import { print } from "../../shared/terminal.ts";
import { replay } from "./read.ts";

/**
 * Program that a rollout runs on the operator's machine, from the bundle to be deployed. Reads a replay record from
 * standard input and prints this version's results.
 */
const record = replayRecordSchema.parse(JSON.parse(await text(process.stdin)));
print(`${JSON.stringify(replay(record, () => performance.now()))}\n`);
