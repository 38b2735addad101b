import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openTunnel } from "../../../infra/host/update/tunnel.ts";
import { runProcess } from "../../../infra/shell/process.ts";
import { sshd, startSshServer, type SshServer } from "../../support/ssh.ts";

describe.skipIf(!sshd)("the tunnel to an engine by SSH", () => {
  const searched = process.env["PATH"] ?? "";
  let ssh: SshServer;
  let service: Server;
  let url: string;
  let folder: string;
  let tunnel: Awaited<ReturnType<typeof openTunnel>> | undefined;

  beforeAll(async () => {
    ssh = await startSshServer({ LANG: "C" });
    service = createServer((_request, response) => response.end("the service")).listen(0, "127.0.0.1");
    await once(service, "listening");
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  });

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "steward-tunnel-test-"));
    process.env["PATH"] = `${folder}${path.delimiter}${searched}`;
    await installSsh();
  });

  afterEach(async () => {
    await tunnel?.close();
    tunnel = undefined;
    process.env["PATH"] = searched;
    await rm(folder, { recursive: true });
  });

  afterAll(async () => {
    service?.close().closeAllConnections();
    await ssh?.close();
  });

  const file = (name: string): string => path.join(folder, name);

  /** Puts an `ssh` on PATH that records its process id, runs `first`, and becomes the test's `ssh`. */
  async function installSsh(first = "", options = ""): Promise<void> {
    const script = `#!/bin/sh\necho $$ >> ${file("ids")}\n${first}\nexec ${ssh.bin}/ssh ${options} "$@"\n`;
    await writeFile(file("ssh"), script);
    await chmod(file("ssh"), 0o755);
  }

  const started = async (): Promise<number[]> =>
    (await readFile(file("ids"), "utf8")).trim().split("\n").map(Number);

  const answer = async (): Promise<string> =>
    fetch(tunnel?.url ?? "", { headers: { connection: "close" } }).then(
      (response) => response.text(),
      (error: Error) => String(error.cause),
    );

  test("reaches a port that the host publishes on its loopback interface", async () => {
    tunnel = await openTunnel(url, ssh.url);

    await expect.poll(answer).toBe("the service");
    expect(await started()).toHaveLength(1);
  });

  test("starts ssh again if it ends before it forwards", async () => {
    await installSsh(`[ $(wc -l < ${file("ids")}) -gt 2 ] || exit 255`);
    tunnel = await openTunnel(url, ssh.url);

    await expect.poll(answer, { timeout: 10_000 }).toBe("the service");
    expect(await started()).toHaveLength(3);
  });

  test("reaches the service again after its connection has broken", async () => {
    tunnel = await openTunnel(url, ssh.url);
    await expect.poll(answer).toBe("the service");
    process.kill((await started())[0] ?? 0, "SIGKILL");

    await expect.poll(answer, { timeout: 10_000 }).toBe("the service");
    expect(await started()).toHaveLength(2);
  });

  test("uses a connection that ssh shares, and another one after its end", async () => {
    const shared = `-o ControlMaster=auto -o ControlPersist=yes -o ControlPath=${file("shared")}`;
    await installSsh("", shared);
    const { hostname, port } = new URL(ssh.url);
    const control = (action: string) =>
      runProcess(file("ssh"), ["-O", action, "-p", port, hostname], { timeoutMs: 10_000 });
    await runProcess(file("ssh"), ["-p", port, hostname, "true"]);
    expect(await control("check")).toMatchObject({ code: 0 });
    tunnel = await openTunnel(url, ssh.url);
    await expect.poll(answer).toBe("the service");
    const before = (await started()).length;
    await control("exit");

    await expect.poll(answer, { timeout: 10_000 }).toBe("the service");
    expect((await started()).length - before).toBe(2);
    await tunnel.close();
    await control("exit");
  });

  test("opens to port 80 too, which an address omits", async () => {
    tunnel = await openTunnel("http://127.0.0.1:80", ssh.url);
    expect(await started()).toHaveLength(1);
  });

  test("says what ssh says if the login is refused", async () => {
    const engine = new URL(ssh.url);
    engine.username = "stranger";

    await expect(openTunnel(url, engine.href)).rejects.toThrow(/127\.0\.0\.1.*Permission denied/s);
    expect(await started()).toHaveLength(3);
  });
});
