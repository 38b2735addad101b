/** A node of {@link withDocument}: what the pages' scripts put into one, and no layout. */
class StandInNode {
  readonly children: (StandInNode | string)[] = [];
  readonly dataset: Record<string, string> = {};
  append(...nodes: (StandInNode | string)[]): void {
    this.children.push(...nodes);
  }
  replaceChildren(...nodes: (StandInNode | string)[]): void {
    this.children.length = 0;
    this.append(...nodes);
  }
  addEventListener(): void {}
  get textContent(): string {
    return this.children.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }
}

/** Returns an element that {@link withDocument} can fill. */
export function standInElement(): object {
  return new StandInNode();
}

/**
 * Runs something with the little of a document that the pages' rendering needs, for tests without a browser. Like in a
 * browser, a call takes no more nodes as arguments than the stack holds.
 */
export function withDocument<T>(work: () => T): T {
  const document = {
    createElement: standInElement,
    createDocumentFragment: standInElement,
    querySelector: () => null,
  };
  Object.assign(globalThis, { document });
  try {
    return work();
  } finally {
    Reflect.deleteProperty(globalThis, "document");
  }
}
