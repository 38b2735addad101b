import { runProvider } from "../../../rehearsal/providers/serve.ts";

/** What the platforms add to the inputs that a program then hands on. */
const LIVE = {
  aud: "the-audience-of-the-application",
  imageId: `sha256:${"a".repeat(64)}`,
  stdout: "done",
  key: "the-key-of-the-attestation",
  deploymentId: "one",
  report: "done",
  line: "nothing",
  imageRound: 0,
  containerRound: 0,
};

/**
 * A provider that takes every resource and keeps none: what the rules look at also has types that neither the
 * project's own providers know nor an engine of this machine.
 */
await runProvider(() => ({
  name: "any",
  version: "99.0.0",
  configure: () => undefined,
  check: (_type, inputs) => Promise.resolve({ inputs, failures: [] }),
  diff(_type, { inputs: before }, after) {
    // The provider of this package does not compare connections either.
    const keys = Object.keys({ ...before, ...after }).filter((key) => key !== "connection");
    const changed = keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
    return { changed, replaces: [] };
  },
  create: (_type, inputs) => Promise.resolve({ id: "one", outputs: { ...inputs, ...LIVE } }),
  read: (_type, state) => Promise.resolve(state),
  update: (_type, _id, inputs) => Promise.resolve({ ...inputs, ...LIVE }),
  delete: () => Promise.resolve(),
}));
