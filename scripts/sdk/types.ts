/** Matches `"$ref": "#/types/steward:index:Slack"`. */
const REFERENCE = /"#\/types\/([^"]+)"/g;

export interface Schema<Type extends object = object> {
  types: Record<string, Type>;
  resources: Record<string, { isComponent?: boolean }>;
}

/** Returns the components or all other resources, with the types that they use. */
export function partOf<Type extends object>(
  { types, resources }: Schema<Type>,
  components: boolean,
): Schema<Type> {
  const chosen = Object.entries(resources).filter(
    ([, { isComponent = false }]) => isComponent === components,
  );
  const used = new Map<string, Type>();
  const collect = (part: object): void => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(REFERENCE)) {
      const type = types[name];
      if (type === undefined || used.has(name)) continue;
      used.set(name, type);
      collect(type);
    }
  };
  collect(chosen);
  return { types: Object.fromEntries(used), resources: Object.fromEntries(chosen) };
}
