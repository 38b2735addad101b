import { expect, test } from "vitest";
import { RemoteState } from "../../../runtime/backups/remote-state.ts";

const MANIFEST = {
  version: 1,
  id: "00000001-00000001",
  createdAt: "2026-11-21T12:00:00.000Z",
  sha256: "0".repeat(64),
  size: 1,
  configSha256: null,
  configValid: true,
  counts: { files: 1, sessions: 0, messages: 0, schedules: 0, approvals: 0 },
  agentVersion: "1.0.0",
} as const;

/** The state of a container whose supervisor gives one answer to everything. */
function answering(body: unknown, status = 200) {
  const asked: string[] = [];
  const state = new RemoteState({
    status: async () => ({}),
    control: async (path, { method = "GET" }) => {
      asked.push(`${method} ${path}`);
      return typeof body === "string" ? new Response(body, { status }) : Response.json(body, { status });
    },
  });
  const archive = { manifest: MANIFEST, content: new Blob(["a"]).stream() as ReadableStream<Uint8Array> };
  return { state, archive, asked };
}

test("an error of the container arrives with its code, and one without a known code as a failure", async () => {
  const full = answering({ code: "disk_full", detail: "No room." }, 507);
  await expect(full.state.revision()).rejects.toMatchObject({ code: "disk_full", message: "No room." });
  for (const body of ["<html>", {}, { code: "of_the_future", detail: "New." }, { code: "disk_full" }]) {
    await expect(answering(body, 500).state.revision()).rejects.toMatchObject({
      code: "backup_failed",
      message: "The container's supervisor answered 500.",
    });
  }
});

test("an answer of another form is a failure, wherever it is read", async () => {
  const { state, archive } = answering({ revision: 1, text: 1, id: "x" });
  const failed = { code: "backup_failed" };
  await expect(state.revision()).rejects.toMatchObject(failed);
  await expect(state.configText()).rejects.toMatchObject(failed);
  await expect(state.verifyArchive(archive)).rejects.toMatchObject(failed);
  await expect(state.snapshot("00000001-00000001")).rejects.toMatchObject(failed);
  await expect(answering(MANIFEST).state.snapshot("00000001-00000002")).rejects.toMatchObject(failed);
});

test("what a later version adds to an answer is left out", async () => {
  const report = { id: MANIFEST.id, counts: MANIFEST.counts, configProblems: [] };
  const { state, archive, asked } = answering({ ...report, more: true });
  expect(await state.receive(archive, { config: "current", start: false })).toEqual(report);
  expect(asked).toEqual(["POST /restore?config=current&start=false"]);
});
