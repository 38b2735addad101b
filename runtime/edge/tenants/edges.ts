import { AGENT } from "../../contract/names.ts";
import type { TenantId } from "../../contract/tenant.ts";

const MAX_EDGES = 50;

/** Caches one edge for the deployment and one for each recent chat. */
export class EdgesByChat<Edge> {
  readonly #edges = new Map<string, Edge>();

  /** Returns the chat's edge or, without `tenant`, the deployment's. */
  of(tenant: TenantId | undefined, build: () => Edge): Edge {
    const name = tenant ?? AGENT;
    const known = this.#edges.get(name);
    if (known !== undefined) return known;
    if (this.#edges.size >= MAX_EDGES) {
      // Never evict the deployment's edge: it holds rate limits, which strangers could reset by creating other
      // edges.
      const oldest = [...this.#edges.keys()].find((one) => one !== AGENT);
      if (oldest !== undefined) this.#edges.delete(oldest);
    }
    const edge = build();
    this.#edges.set(name, edge);
    return edge;
  }
}
