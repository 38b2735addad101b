import * as fc from "fast-check";

const NESTED = JSON.parse(`${'{"text":'.repeat(400)}1${"}".repeat(400)}`) as unknown;
/** An own key, as JSON.parse makes it of a body. */
const PROTOTYPE = JSON.parse('{"__proto__":{"type":"message"},"constructor":{"prototype":1}}') as unknown;

/** What stands in a field where something else belongs. */
const wrong = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1e308, Number.MAX_SAFE_INTEGER + 1, 1.5, "", " ", "0", "12"),
  fc.constantFrom<unknown>([], {}, [null], [[]], [{}], { type: 7 }, NESTED, PROTOTYPE),
  fc.constantFrom<unknown>(
    "\u0000",
    "\ud800",
    "\u202e\u200d",
    "🧑‍🚀".repeat(300),
    "x".repeat(20_000),
    "9".repeat(400),
  ),
  fc.constantFrom<unknown>("/new", "/status@", "<@UBOT>", "<@", "__proto__", "constructor", "toString"),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
);
const mutation = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom("replace", "replace", "remove", "wrap", "restring", "add"),
  value: wrong,
  key: fc.constantFrom(
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "text",
    "bot_id",
    "entities",
    "files",
    "id",
  ),
});

interface Place {
  parent: Record<string, unknown>;
  key: string;
}

/** A body of a valid shape with up to five of its fields, anywhere in it, changed. */
export function mutated(valid: readonly object[]): fc.Arbitrary<unknown> {
  const mutations = fc.array(mutation, { maxLength: 5 });
  return fc.tuple(fc.constantFrom(...valid), mutations).map(([shape, changes]) => {
    const root = { body: structuredClone(shape) as unknown };
    for (const { at, kind, key, ...change } of changes) {
      // A copy: the same value in two places could become a part of itself.
      const value = structuredClone(change.value);
      const places = placesOf(root);
      const place = places[at % places.length];
      if (place === undefined) continue;
      const now = place.parent[place.key];
      if (kind === "remove" && place.parent !== root) delete place.parent[place.key];
      else if (kind === "wrap") define(place.parent, place.key, [now]);
      else if (kind === "restring") define(place.parent, place.key, JSON.stringify(now) ?? "");
      else if (kind === "add" && isObject(now)) define(now, key, value);
      else define(place.parent, place.key, value);
    }
    return root.body;
  });
}

/** Not by assignment, which `__proto__` would take as the prototype. */
function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function placesOf(parent: Record<string, unknown>, depth = 0): Place[] {
  if (depth > 12) return [];
  const places: Place[] = [];
  for (const key of Object.keys(parent)) {
    const value = parent[key];
    places.push({ parent, key });
    if (isObject(value)) places.push(...placesOf(value, depth + 1));
  }
  return places;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
