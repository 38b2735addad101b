import { text } from "../values.ts";
import { without, type ResourceDefinition } from "./definition.ts";
import { createByPost, readByGet, type RestForm } from "./rest.ts";
import { bodyOf } from "./shape.ts";

const form: RestForm = {
  path: (inputs) =>
    `/accounts/${text(inputs, "accountId")}/workers/scripts/${text(inputs, "scriptName")}/deployments`,
  body: (inputs) => bodyOf(without(inputs, "accountId", "scriptName")),
};

/**
 * Which versions of a Worker receive which share of its traffic. The next deployment takes over, so
 * a change is a replacement and a delete is no request.
 */
export const workersDeployment: ResourceDefinition = {
  type: "cloudflare:index/workersDeployment:WorkersDeployment",
  required: ["accountId", "scriptName", "strategy", "versions"],
  optional: [],
  replaceOn: "all",
  create: createByPost(form),
  read: readByGet(form),
};
