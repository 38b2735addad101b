import { AGENT } from "../../contract/names.ts";
import type { TenantId } from "../../contract/tenant.ts";

/** Cached edges. Operators look at few chats, and an edge uses little memory. */
const MOST_EDGES = 50;

/** Caches the edge of each sandbox: the deployment's and those of chats. */
export class EdgesByChat<Edge> {
  readonly #edges = new Map<string, Edge>();

  /** Returns a chat's edge, or the deployment's without `tenant`. Builds it on first use. */
  of(tenant: TenantId | undefined, build: () => Edge): Edge {
    const name = tenant ?? AGENT;
    const known = this.#edges.get(name);
    if (known !== undefined) return known;
    if (this.#edges.size >= MOST_EDGES) {
      // Never evict the deployment's edge: it counts strangers' requests, and those also create edges.
      const oldest = [...this.#edges.keys()].find((one) => one !== AGENT);
      if (oldest !== undefined) this.#edges.delete(oldest);
    }
    const edge = build();
    this.#edges.set(name, edge);
    return edge;
  }
}
