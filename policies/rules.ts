import type { Rule } from "./rule.ts";
import { audienceFromApplication } from "./rules/audience-from-application.ts";
import { bucketLifecycle } from "./rules/bucket-lifecycle.ts";
import { bucketPrivate } from "./rules/bucket-private.ts";
import { freshBackup } from "./rules/fresh-backup.ts";
import { hostImagePinned } from "./rules/host-image-pinned.ts";
import { hostLimits } from "./rules/host-limits.ts";
import { hostLoopbackOrTls } from "./rules/host-loopback-or-tls.ts";
import { hostNoEngineSocket } from "./rules/host-no-engine-socket.ts";
import { hostNoPrivileges } from "./rules/host-no-privileges.ts";
import { hostNonRoot } from "./rules/host-non-root.ts";
import { hostOwnNamespaces } from "./rules/host-own-namespaces.ts";
import { imageDigest } from "./rules/image-digest.ts";
import { knownTypes } from "./rules/known-types.ts";
import { migrationTagsInOrder } from "./rules/migration-tags-in-order.ts";
import { neverWithReason } from "./rules/never-with-reason.ts";
import { noDmPolicy } from "./rules/no-dm-policy.ts";
import { noEveryoneAllowed } from "./rules/no-everyone-allowed.ts";
import { noSecretInOutputs } from "./rules/no-secret-in-outputs.ts";
import { privateRoutesGated } from "./rules/private-routes-gated.ts";
import { publicRoutesExact } from "./rules/public-routes-exact.ts";
import { sandboxClassListed } from "./rules/sandbox-class-listed.ts";
import { sandboxRunsContainers } from "./rules/sandbox-runs-containers.ts";
import { secretsStaySecret } from "./rules/secrets-stay-secret.ts";
import { stateProtected } from "./rules/state-protected.ts";
import { teamDomainIsForeign } from "./rules/team-domain-is-foreign.ts";

/**
 * All rules of the policy pack. Other packs can reuse the list: `new PolicyPack("mine", {policies:
 * [...stewardPolicies, …]})`.
 */
export const stewardPolicies: readonly Rule[] = [
  migrationTagsInOrder,
  sandboxClassListed,
  sandboxRunsContainers,
  secretsStaySecret,
  noSecretInOutputs,
  noDmPolicy,
  teamDomainIsForeign,
  audienceFromApplication,
  privateRoutesGated,
  publicRoutesExact,
  noEveryoneAllowed,
  bucketPrivate,
  bucketLifecycle,
  stateProtected,
  freshBackup,
  neverWithReason,
  imageDigest,
  hostImagePinned,
  hostNonRoot,
  hostNoPrivileges,
  hostOwnNamespaces,
  hostNoEngineSocket,
  hostLoopbackOrTls,
  hostLimits,
  knownTypes,
];
