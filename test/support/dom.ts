/** Node in the document of {@link withDocument}. It has no layout. */
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

export function standInElement(): object {
  return new StandInNode();
}

/**
 * Runs `work` with a global `document` that has only the functions that the pages use. As in a browser, `append`
 * fails if it gets too many arguments.
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
