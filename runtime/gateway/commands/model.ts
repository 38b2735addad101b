import type { Config } from "../../contract/config/index.ts";

type Models = Pick<Config["models"], "primary" | "fallbacks">;

/** What /model tells: the models in the order in which they are asked, and which one this chat chose. */
export function modelText(models: Models, chosen: string | undefined): string {
  const known = configured(models);
  const current = chosen !== undefined && known.includes(chosen) ? chosen : models.primary;
  const lines = known.map((reference) => {
    const notes = [
      ...(reference === models.primary ? ["default"] : []),
      ...(reference === current ? ["asked first here"] : []),
    ];
    return `- ${reference}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
  });
  return ["Models:", ...lines, "/model <name> chooses one for this chat, /model default undoes that."].join(
    "\n",
  );
}

/** What /model <name> comes to: `reference` is `undefined` for the default. */
export type ModelChange =
  | { ok: true; reference: string | undefined; text: string }
  | { ok: false; text: string };

/** Reads a choice: a model's whole name or, where only one has it, the part behind the provider. */
export function changeModel(models: Models, argument: string): ModelChange {
  const wanted = argument.toLowerCase();
  if (wanted === "default") {
    return { ok: true, reference: undefined, text: `The default is asked again: ${models.primary}.` };
  }
  const known = configured(models);
  const short = known.filter(
    (reference) => reference.slice(reference.indexOf("/") + 1).toLowerCase() === wanted,
  );
  const reference =
    known.find((one) => one.toLowerCase() === wanted) ?? (short.length === 1 ? short[0] : undefined);
  if (reference === undefined) {
    return { ok: false, text: `I have no model of that name. I have: ${known.join(", ")}.` };
  }
  return { ok: true, reference, text: `From now on ${reference} is asked first in this chat.` };
}

function configured({ primary, fallbacks }: Models): string[] {
  return [...new Set([primary, ...fallbacks])];
}
