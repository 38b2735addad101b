import { checkConfig } from "../../runtime/contract/config/index.ts";
import type { Capability } from "../../runtime/contract/config/rights.ts";
import { createLog } from "../../runtime/shared/log.ts";
import { createBroker } from "../../runtime/edge/broker.ts";
import { rightsOf } from "../../runtime/gateway/admission.ts";
import { listen } from "../../runtime/process/listen.ts";
import { figure, median, type Figure } from "../support/measure.ts";
import type { RunOptions } from "./run.ts";

const TOKEN = "bench-broker-token";
const REQUESTS = 400;
const ANSWERS = 1_000;

/**
 * Measures what the broker adds to a streamed answer of a model, and how long roles take. Client, broker and model share
 * one process, so that all that the broker does counts.
 */
export async function benchBroker({ surroundings, runs }: RunOptions): Promise<Figure[]> {
  const { environment } = surroundings;
  const broker = createBroker({
    environment,
    token: () => TOKEN,
    fetch,
    log: createLog({ name: "bench", level: "error", redact: (text) => text, write: () => {} }),
  });
  const server = await listen({ fetch: (request) => broker.handle(request), hostname: "127.0.0.1", port: 0 });
  const direct = {
    address: `${environment["ANTHROPIC_BASE_URL"] ?? ""}/v1/messages`,
    key: environment["ANTHROPIC_API_KEY"] ?? "",
  };
  const brokered = { address: `http://127.0.0.1:${server.port}/broker/anthropic/messages`, key: TOKEN };
  const added: number[] = [];
  const roles: number[] = [];
  await timeBoth(direct, brokered);
  for (let run = 0; run < runs; run += 1) {
    const [without, through] = await timeBoth(direct, brokered);
    added.push(through - without);
    roles.push(timeOfRoles());
  }
  await server.close(0);
  return [
    figure("what the broker adds to a model's streamed answer, median of 400", "ms", added, 2),
    figure("what a thousand answers may do, worked out from roles", "ms", roles, 10),
  ];
}

interface Way {
  address: string;
  key: string;
}

/** Asks by both ways in turn, so that the machine's moods meet both. The medians. */
async function timeBoth(direct: Way, brokered: Way): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let index = 0; index < REQUESTS; index += 1) {
    times[0].push(await timeOfAnswer(direct));
    times[1].push(await timeOfAnswer(brokered));
  }
  return [median(times[0]), median(times[1])];
}

async function timeOfAnswer({ address, key }: Way): Promise<number> {
  const started = performance.now();
  const messages = [{ role: "user", content: "hello" }];
  const answer = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({ model: "bench", max_tokens: 100, stream: true, messages }),
  });
  if (!answer.ok) throw new Error(`the model answered ${answer.status}`);
  await answer.text();
  return performance.now() - started;
}

function timeOfRoles(): number {
  const checked = checkConfig({});
  if (!checked.ok) throw new Error("the empty config is not valid");
  const capabilities = Object.keys(checked.config.agent.may) as Capability[];
  const started = performance.now();
  for (let index = 0; index < ANSWERS; index += 1) {
    const { may } = rightsOf(checked.config, [
      index % 2 === 0 ? { by: "approval", grants: "person" } : { by: "group", sendElsewhere: [] },
    ]);
    for (const capability of capabilities) may(capability);
  }
  return performance.now() - started;
}
