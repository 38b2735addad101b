import { isProperties, text, type Properties } from "../values.ts";
import { without, type ResourceDefinition } from "./definition.ts";
import { createByPost, readByGet, type RestForm } from "./rest.ts";
import { bodyOf, fromWire } from "./shape.ts";

const form: RestForm = {
  path: (inputs) =>
    `/accounts/${text(inputs, "accountId")}/workers/scripts/${text(inputs, "scriptName")}/deployments`,
  body: (inputs) => {
    const { annotations, ...rest } = without(inputs, "accountId", "scriptName");
    return { ...bodyOf(rest), ...(isProperties(annotations) && { annotations: toApi(annotations) }) };
  },
  fromApi: (value) => {
    const { annotations = {}, ...rest } = fromWire(value);
    return { ...rest, ...(isProperties(annotations) && { annotations: fromApi(annotations) }) };
  },
};

/** Converts annotations to the API's names, which contain a slash, such as `workers/message`. */
function toApi({ workersMessage }: Properties): Properties {
  return workersMessage === undefined ? {} : { "workers/message": workersMessage };
}

function fromApi({ "workers/message": workersMessage }: Properties): Properties {
  return workersMessage === undefined ? {} : { workersMessage };
}

/** Traffic shares of a Worker's versions. A change creates another deployment. Deletion sends no request. */
export const workersDeployment: ResourceDefinition = {
  type: "cloudflare:index/workersDeployment:WorkersDeployment",
  required: ["accountId", "scriptName", "strategy", "versions"],
  optional: ["annotations"],
  replaceOn: "all",
  unanswered: ["accountId", "scriptName"],
  create: createByPost(form),
  read: readByGet(form),
};
