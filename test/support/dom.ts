/** A node of {@link withDocument} without layout. */
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
 * Runs `work` with the parts of a document that the pages' rendering uses. As in a browser, the stack limits the number
 * of arguments per call.
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
