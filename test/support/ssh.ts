import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { runProcess, tail } from "../../infra/shell/process.ts";
import { accepting } from "./measure.ts";
import { freePort } from "./ports.ts";

const SSHD = "/usr/sbin/sshd";

/** Without OpenSSH's server, tests that need it are skipped, but CI fails. */
export const sshd = existsSync(SSHD);

if (!sshd && process.env["CI"]) throw new Error(`CI skips nothing, and ${SSHD} is missing`);
if (!sshd) process.stderr.write(`skipped: what needs ${SSHD}\n`);

export interface SshServer {
  /** `ssh://user@127.0.0.1:port` */
  url: string;
  /** Folder to put first on PATH. Its `ssh` uses the test's key and known hosts. */
  bin: string;
  close(): Promise<void>;
}

/** Starts sshd with one authorized key. Its sessions get these environment variables. */
export async function startSshServer(environment: Record<string, string>): Promise<SshServer> {
  const folder = await mkdtemp(path.join(tmpdir(), "steward-ssh-"));
  const file = (name: string): string => path.join(folder, name);
  for (const key of ["host", "user"]) {
    const made = await runProcess("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file(key)]);
    if (made.code !== 0) throw new Error(tail(made));
  }
  const port = await freePort();
  const hostKey = await readFile(file("host.pub"), "utf8");
  await writeFile(file("known_hosts"), `[127.0.0.1]:${port} ${hostKey}`);
  const server = {
    Port: port,
    ListenAddress: "127.0.0.1",
    HostKey: file("host"),
    AuthorizedKeysFile: file("user.pub"),
    PasswordAuthentication: "no",
    KbdInteractiveAuthentication: "no",
    PermitRootLogin: "prohibit-password",
    PidFile: "none",
    // Otherwise sshd rejects the key, because everybody can write to the temporary directory.
    StrictModes: "no",
    MaxStartups: "100",
    SetEnv: Object.entries(environment)
      .map(([name, value]) => `${name}=${value}`)
      .join(" "),
  };
  const client = {
    IdentityFile: file("user"),
    IdentitiesOnly: "yes",
    UserKnownHostsFile: file("known_hosts"),
    GlobalKnownHostsFile: "/dev/null",
    StrictHostKeyChecking: "yes",
    BatchMode: "yes",
  };
  await writeFile(file("sshd_config"), lines(server));
  await writeFile(file("ssh_config"), lines(client));
  await mkdir(file("bin"));
  await writeFile(file("bin/ssh"), `#!/bin/sh\nexec /usr/bin/ssh -F ${file("ssh_config")} "$@"\n`);
  await chmod(file("bin/ssh"), 0o755);
  // As root, sshd requires this folder.
  if (process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true });
  const child = spawn(SSHD, ["-D", "-e", "-f", file("sshd_config")], { stdio: "ignore" });
  await accepting(port, 120_000);
  return {
    url: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    bin: file("bin"),
    async close() {
      const gone = once(child, "exit");
      child.kill();
      await gone;
      await rm(folder, { recursive: true });
    },
  };
}

function lines(settings: Record<string, string | number>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}\n`)
    .join("");
}
