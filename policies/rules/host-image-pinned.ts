import { AGENT } from "../../runtime/contract/names.ts";
import { stackRule, type Violation } from "../rule.ts";
import { hasDigest, resourcesOfType, type StackResource, TYPES } from "../reading/resource.ts";
import { text } from "../reading/values.ts";

/**
 * The host runs an image that is named by its content: by id or digest, or by this project's hash.
 *
 * Severity: high. A tag can be pushed again: what runs would then not be what was reviewed.
 * Fix: `steward:image` with a digest, and the container's image from the stack's `RemoteImage`.
 */
export const hostImagePinned = stackRule({
  name: "host-image-pinned",
  description: "The host runs an image that is named by its content.",
  severity: "high",
  topics: ["host", "supply"],
  check(resources) {
    return [
      ...resourcesOfType(resources, TYPES.image).flatMap(imageProblem),
      ...resourcesOfType(resources, TYPES.container).flatMap(containerProblem),
    ];
  },
});

function imageProblem({ urn, props }: StackResource<typeof TYPES.image>): Violation[] {
  const { name, build } = props;
  const image = text(name);
  if (build !== undefined || image === undefined || isPinned(image)) return [];
  const message = `The image ${image} is named by a tag. Set steward:image to <repository>@sha256:<digest>.`;
  return [{ urn, message }];
}

function containerProblem({ urn, props, sources }: StackResource<typeof TYPES.container>): Violation[] {
  const image = text(props.image);
  const fromImage = resourcesOfType(sources["image"] ?? [], TYPES.image).length > 0;
  if (fromImage || (image !== undefined && isPinned(image))) return [];
  const message = `The container runs ${image ?? "an image"} by a tag. Give it the imageId of the stack's RemoteImage.`;
  return [{ urn, message }];
}

/** `npm run image` names what it builds by its content; such an image is in no registry and has no digest. */
function isPinned(image: string): boolean {
  return hasDigest(image) || /^sha256:[0-9a-f]{64}$/.test(image) || OWN_NAME.test(image);
}

const OWN_NAME = new RegExp(`^${AGENT}:[0-9a-f]{16}$`);
