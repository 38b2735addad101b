/** A permission of the API token, on the account, to edit. */
export interface Permission {
  /** As Cloudflare's dashboard names it. */
  name: string;
  /** What of the stack it is for. */
  purpose: string;
  /** The cheapest read that Cloudflare refuses without it, below the account's address. */
  probe: string;
}

/** https://developers.cloudflare.com/fundamentals/api/reference/permissions/ ; the README names them in this order. */
const ALWAYS: readonly Permission[] = [
  {
    name: "Workers Scripts",
    purpose: "the Worker, its versions, classes and host name",
    probe: "workers/workers?per_page=1",
  },
  { name: "Workers R2 Storage", purpose: "the bucket", probe: "r2/buckets?per_page=1" },
  {
    name: "Containers",
    purpose: "the container application",
    probe: "containers/applications?name=steward",
  },
];

const GATE: Permission = {
  name: "Access: Apps and Policies",
  purpose: "the identity gateway before the admin pages",
  probe: "access/apps?per_page=1",
};

/** All that a stack's API token has to be allowed; the identity gateway's only where there is one. */
export function permissionsOf({ gate }: { gate: boolean }): readonly Permission[] {
  return gate ? [...ALWAYS, GATE] : ALWAYS;
}
