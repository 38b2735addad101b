import { text } from "node:stream/consumers";
import { replayRecordSchema } from "../../contract/replay.ts";
import { print } from "../../shared/terminal.ts";
import { replay } from "./read.ts";

/**
 * Program that a rollout runs on the operator's machine, from the bundle that it is about to deploy: reads a record on
 * standard input and prints what this version makes of it. It needs no environment, no file and no network.
 */
const record = replayRecordSchema.parse(JSON.parse(await text(process.stdin)));
print(`${JSON.stringify(replay(record, () => performance.now()))}\n`);
