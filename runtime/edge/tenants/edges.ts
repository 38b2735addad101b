import { AGENT } from "../../contract/names.ts";
import type { TenantId } from "../../contract/tenant.ts";

/** An edge takes little memory, and an operator looks at few chats. */
const MOST_EDGES = 50;

/** Edges by the sandbox that their pages show: the deployment's, or a chat's. */
export class EdgesByChat<Edge> {
  readonly #edges = new Map<string, Edge>();

  /** Returns the edge of a chat, or without one that of the deployment. Builds it at its first request. */
  of(tenant: TenantId | undefined, build: () => Edge): Edge {
    const name = tenant ?? AGENT;
    const known = this.#edges.get(name);
    if (known !== undefined) return known;
    if (this.#edges.size >= MOST_EDGES) {
      // Never the deployment's: it counts strangers' requests, and a stranger's request makes an edge too.
      const oldest = [...this.#edges.keys()].find((one) => one !== AGENT);
      if (oldest !== undefined) this.#edges.delete(oldest);
    }
    const edge = build();
    this.#edges.set(name, edge);
    return edge;
  }
}
