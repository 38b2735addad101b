import { AGENT } from "../../runtime/contract/names.ts";
import { stackRule, type Violation } from "../rule.ts";
import { hasDigest, resourcesOfType, type StackResource, TYPES } from "../reading/resource.ts";
import { text } from "../reading/values.ts";

/**
 * Requires the host's image to be named by id, digest or this project's content hash. A tag could later point to
 * another, unreviewed image.
 */
export const hostImagePinned = stackRule({
  name: "host-image-pinned",
  description: "The host's image is identified by its content.",
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
  const message = `The container runs ${image ?? "an image"}, which is named by a tag. Give it the imageId of the stack's RemoteImage.`;
  return [{ urn, message }];
}

/** Returns true if the name identifies the image's content. `npm run image` names its image by a content hash. */
function isPinned(image: string): boolean {
  return hasDigest(image) || /^sha256:[0-9a-f]{64}$/.test(image) || OWN_NAME.test(image);
}

const OWN_NAME = new RegExp(`^${AGENT}:[0-9a-f]{16}$`);
