import type { Properties, Value } from "../values.ts";
import { idOf, type ResourceDefinition } from "./definition.ts";
import { fromWire } from "./shape.ts";

export interface RestForm {
  path(inputs: Properties): string;
  body(inputs: Properties): Properties;
  /** Defaults to {@link fromWire}. */
  fromApi?(value: Value): Properties;
}

export function createByPost({ path, body, fromApi = fromWire }: RestForm): ResourceDefinition["create"] {
  return async (api, inputs) => {
    const live = fromApi(await api.post(path(inputs), body(inputs)));
    return { id: idOf(live), live };
  };
}

export function readByGet(form: Pick<RestForm, "path" | "fromApi">): ResourceDefinition["read"] {
  const { path, fromApi = fromWire } = form;
  return async (api, id, inputs) => {
    const live = await api.get(`${path(inputs)}/${id}`);
    return live === undefined ? undefined : fromApi(live);
  };
}

export function deleteById({ path }: Pick<RestForm, "path">): NonNullable<ResourceDefinition["delete"]> {
  return (api, id, inputs) => api.delete(`${path(inputs)}/${id}`);
}

/** Returns the operations of a resource that is created by POST and updated by PUT. */
export function restOperations(
  form: RestForm,
): Required<Pick<ResourceDefinition, "create" | "read" | "update" | "delete">> {
  const { path, body, fromApi = fromWire } = form;
  return {
    create: createByPost(form),
    read: readByGet(form),
    update: async (api, id, inputs) => fromApi(await api.put(`${path(inputs)}/${id}`, body(inputs))),
    delete: deleteById(form),
  };
}
