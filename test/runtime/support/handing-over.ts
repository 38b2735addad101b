import type { ChatDeliveries, Delivery } from "../../../runtime/contract/delivery.ts";
import type { AttemptResult, Deliver } from "../../../runtime/edge/ledger/dispatcher.ts";

/** Hands each event of a request over by itself, with the id of the one that it is behind. */
export function handOver(
  one: (delivery: Delivery, after: string | undefined) => Promise<AttemptResult>,
): Deliver {
  return async ({ after, deliveries }, { placed, ended }) => {
    const ends = deliveries.map(async (delivery, index) => {
      const before = index === 0 ? after : deliveries[index - 1]?.id;
      ended(delivery.id, await one(delivery, before));
    });
    await Promise.resolve();
    placed();
    await Promise.all(ends);
    return { kind: "retry", note: "no end was told" };
  };
}

/** A gateway that answers each event of a request by itself, as soon as its answer is there. */
export function gatewayOf(one: (delivery: Delivery, after: string | undefined) => Promise<Response>) {
  return {
    request: async (_port: string, { body = "" }: { body?: string }): Promise<Response> => {
      const { after, deliveries } = JSON.parse(body) as ChatDeliveries;
      const { readable, writable } = new TransformStream<string, string>();
      const writer = writable.getWriter();
      const ends = deliveries.map(async (delivery, index) => {
        const answer = await one(delivery, index === 0 ? after : deliveries[index - 1]?.id);
        const retryAfter = answer.headers.get("retry-after");
        const line = { index, status: answer.status, retryAfter, body: await answer.json() };
        await writer.write(`${JSON.stringify(line)}\n`);
      });
      void Promise.all(ends).then(() => writer.close());
      return new Response(readable.pipeThrough(new TextEncoderStream()));
    },
  };
}

/** Lets what follows from something happen. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
