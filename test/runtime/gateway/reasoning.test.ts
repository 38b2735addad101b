import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createReasoningFilter } from "../../../runtime/gateway/models/reasoning.ts";

/** The answer that a person sees when it has come in these pieces. */
function shown(pieces: readonly string[]): string {
  const filter = createReasoningFilter();
  let text = "";
  for (const added of [...pieces.map((piece) => filter.push(piece)), filter.end()])
    text = added.startsOver ? added.text : text + added.text;
  return text;
}

const FENCE = "```html\n<think>kept</think>\n```";
const GPT_OSS = "<|channel|>analysis<|message|>hidden<|end|><|start|>assistant<|channel|>final<|message|>";

/** Texts that a model sends, each with the answer in it. */
const ANSWERS: readonly (readonly [name: string, sent: string, answer: string])[] = [
  ["an element before the answer", "<think>\nhidden\n</think>\n\nHello.", "Hello."],
  ["an element without a line of its own", "<think>hidden</think>Fine.", "Fine."],
  ["other names of it", "<Thinking>hidden</Thinking><reasoning>hidden</reasoning> Fine.", "Fine."],
  ["an element that the template has begun", "hidden\n</think>\n\nFine.", "Fine."],
  ["one whose end has no line of its own", "hidden, `a` and </think>Fine.", "Fine."],
  ["several", "<think>a</think>One.\n\n<think>b</think>Two.", "One.\n\nTwo."],
  ["code within an element", "<think>```\nhidden\n</think>Fine.", "Fine."],
  ["an element that never ends", "<think>hidden", ""],
  ["the channels of gpt-oss", `${GPT_OSS}Fine.<|return|>`, "Fine."],
  ["an answer with marks of its own", `${GPT_OSS}a <b>c</b> < d`, "a <b>c</b> < d"],
  ["code", `Use \`<think>\`:\n\n${FENCE}`, `Use \`<think>\`:\n\n${FENCE}`],
  ["code in long runs of backticks", "x ``a ` <think>`` y", "x ``a ` <think>`` y"],
  ["what follows code", `${FENCE}\n<think>hidden</think>Fine.`, `${FENCE}\nFine.`],
  ["a backtick that opens nothing", "5` long\n\n<think>hidden</think>Fine.", "5` long\n\nFine."],
  ["an answer about the element", "The <think> element opens it.", "The <think> element opens it."],
  ["what only begins like a mark", "a <b <<think>hidden</think> <|x|> </thin>", "a <b < <|x|> </thin>"],
];

describe("a model's reasoning is not in its answer, however the answer is torn", () => {
  test.each(ANSWERS)("%s", (_, sent, answer) => {
    expect(shown([sent])).toBe(answer);
    expect(shown([...sent])).toBe(answer);
    for (let at = 1; at < sent.length; at += 1)
      expect(shown([sent.slice(0, at), sent.slice(at)])).toBe(answer);
  });

  test("every split of every mixture gives what the whole gives", () => {
    const parts = fc.constantFrom(...ANSWERS.map(([, sent]) => sent), "\n", "`", "```\n", "<", "word ");
    const mixture = fc.array(parts, { minLength: 1, maxLength: 6 }).map((some) => some.join(""));
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 20 });
    fc.assert(
      fc.property(mixture, cuts, (text, places) => {
        const sorted = [
          0,
          ...places.filter((at) => at <= text.length).toSorted((a, b) => a - b),
          text.length,
        ];
        expect(shown(sorted.slice(1).map((end, at) => text.slice(sorted[at], end)))).toBe(shown([text]));
      }),
      { numRuns: 2_000 },
    );
  });

  test("ordinary text passes as it comes", () => {
    const filter = createReasoningFilter();
    expect(filter.push("Hello, ")).toEqual({ text: "Hello, ", startsOver: false });
    expect(filter.push("a <")).toEqual({ text: "a ", startsOver: false });
    expect(filter.push(" b")).toEqual({ text: "< b", startsOver: false });
    expect(filter.hasEnded).toBe(false);
  });
});
