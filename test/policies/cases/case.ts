import type { Sample, Samples } from "../resources.ts";

/** A change of a passing stack, and what a rule then says. */
export interface Case {
  rule: string;
  what: string;
  change: (samples: Samples) => void;
  messages: string[];
  /** Default: a stack of production. */
  stack?: string;
  config?: object;
}

/** Changes some properties of one resource. */
export function props(name: string, changed: Record<string, unknown>): Case["change"] {
  return (samples) => void Object.assign(named(samples, name).props, changed);
}

/** Replaces one of the Worker's bindings, or adds it. */
export function bound(
  name: string,
  value: { type?: string; text?: string; className?: string; scriptName?: string },
): Case["change"] {
  return (samples) => {
    const { props: current } = named(samples, "current");
    const others = (current["bindings"] as { name: string }[]).filter((binding) => binding.name !== name);
    current["bindings"] = [...others, { name, type: "plain_text", ...value }];
  };
}

/** Adds a variable to the container. */
export function env(entry: string): Case["change"] {
  return (samples) => void (named(samples, "container").props["envs"] as string[]).push(entry);
}

/** Takes resources away. */
export function without(...names: string[]): Case["change"] {
  return (samples) => names.forEach((name) => Reflect.deleteProperty(samples, name));
}

/** Adds resources. */
export function adding(...added: Sample[]): Case["change"] {
  return (samples) => added.forEach((one) => void (samples[one.name] = one));
}

/** One change after the other. */
export function all(...changes: Case["change"][]): Case["change"] {
  return (samples) => changes.forEach((change) => change(samples));
}

/** The resource of that name; a test that names another one is wrong. */
export function named(samples: Samples, name: string): Sample {
  const found = samples[name];
  if (found === undefined) throw new Error(`the passing stack has no ${name}`);
  return found;
}
