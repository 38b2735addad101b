import type { Figure } from "../support/measure.ts";

/** Returns whether a figure keeps what the project promises, or `undefined` if nothing is promised. */
function isKept({ median, atMost, atLeast }: Figure): boolean | undefined {
  if (atMost !== undefined) return median <= atMost;
  return atLeast === undefined ? undefined : median >= atLeast;
}

/** Returns the figures that miss what the project promises. */
export function missed(figures: readonly Figure[]): Figure[] {
  return figures.filter((figure) => isKept(figure) === false);
}

/** Returns all figures as a table: median, unit, promise, lowest and highest run, name. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, unit, median, atMost, atLeast, runs } = figure;
    const [miss, bound] = atMost === undefined ? ["BELOW", atLeast] : ["ABOVE", atMost];
    const promise = bound === undefined ? "" : `${isKept(figure) ? "within" : miss} ${bound}`;
    const spread = `${Math.min(...runs)} to ${Math.max(...runs)}`;
    return `${String(median).padStart(10)} ${unit.padEnd(6)} ${promise.padEnd(13)} ${spread.padEnd(22)} ${name}`;
  });
  return `${rows.join("\n")}\n`;
}

/** Returns a line for each promise, and one that counts them. */
export function promises(figures: readonly Figure[]): string {
  const promised = figures.filter((figure) => isKept(figure) !== undefined);
  const lines = promised.map((figure) => {
    const { name, unit, median, atMost, atLeast } = figure;
    const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
    return `${isKept(figure) ? "kept  " : "MISSED"} ${median} ${unit}, promised ${bound}: ${name}`;
  });
  return `${lines.join("\n")}\n${promised.length} promises, ${missed(figures).length} missed\n`;
}
