import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
} from "node:fs";
import type { Socket } from "node:net";
import path from "node:path";
import { StewardError } from "../../contract/errors.ts";
import { CHAT_USERS, CONTAINER_USER } from "../../contract/names.ts";
import { isTenantId, type TenantId } from "../../contract/tenant.ts";
import { ensureDirectory } from "../../process/files.ts";
import type { ProcessUser } from "../../supervisor/child.ts";

const { first: FIRST_USER, rights: RIGHTS } = CHAT_USERS;
const TENANTS = "tenants";
/** Other users may pass through the folder but not list it. */
const PASSAGE = 0o711;
const OTHERS = 0o077;
/** Bit numbers from linux/capability.h. */
const BITS = { CHOWN: 0n, KILL: 5n, SETGID: 6n, SETUID: 7n };
/**
 * `spawn` options to start a program as root. This process itself never switches to root: all its threads would switch,
 * and their file operations would fail.
 */
const AS_ROOT = { uid: 0, gid: 0 };

/**
 * Operating system users of the chats' gateways. The owner of a chat's folder is the only record of the user's id, so
 * the id cannot be lost or restored without the data.
 */
export class TenantUsers {
  readonly base: ProcessUser;
  readonly #folder: string;
  readonly #signals = new SignalSender();

  private constructor(home: string, base: number) {
    this.#folder = path.join(home, TENANTS);
    this.base = this.#user(base);
  }

  /**
   * Makes this process run as the owner of the data directory. Only the programs that it starts can be root again.
   *
   * @throws StewardError `tenancy_unsupported` if this process cannot give chats their own users.
   */
  static take(home: string): TenantUsers {
    const missing = missingCapabilities();
    if (process.geteuid?.() !== 0 || missing.length > 0)
      throw unsupported(
        process.geteuid?.() === 0
          ? `The container lacks ${missing.join(", ")}.`
          : "The process does not run as root.",
      );
    const base = takeDirectory(home);
    process.setgroups?.([]);
    process.setegid?.(base);
    process.seteuid?.(base);
    const users = new TenantUsers(home, base);
    closeFiles(home);
    chmodSync(home, PASSAGE);
    ensureDirectory(users.#folder);
    chmodSync(users.#folder, PASSAGE);
    users.#try();
    users.#signals.start();
    return users;
  }

  /** Folder that contains every chat's folder. */
  get folder(): string {
    return this.#folder;
  }

  has(tenant: TenantId): boolean {
    return (ownerOf(path.join(this.#folder, tenant)) ?? 0) >= FIRST_USER;
  }

  /** Returns a chat's folder and user. Creates both for a new chat. */
  of(tenant: TenantId): { home: string; user: ProcessUser } {
    const home = path.join(this.#folder, tenant);
    const known = ownerOf(home);
    // A lower id means that an earlier start was interrupted before it assigned a user.
    if (known !== undefined && known >= FIRST_USER) return { home, user: this.#user(known) };
    const id = this.#nextId();
    this.#give(home, id);
    return { home, user: this.#user(id) };
  }

  #user(id: number): ProcessUser {
    return {
      id,
      as: (command) => ({
        command: ["/usr/bin/setpriv", `--reuid=${id}`, `--regid=${id}`, "--clear-groups", "--", ...command],
        options: AS_ROOT,
      }),
      kill: (group, signal) => this.#signals.send(signal, group),
    };
  }

  #nextId(): number {
    const owners = readdirSync(this.#folder)
      .filter(isTenantId)
      .map((tenant) => ownerOf(path.join(this.#folder, tenant)) ?? 0);
    return Math.max(FIRST_USER - 1, ...owners) + 1;
  }

  #give(folder: string, id: number): void {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    runSync({ command: ["/bin/chown", `${id}:${id}`, folder], options: AS_ROOT });
  }

  /** Throws if a chat cannot have its own user, so that the service fails at startup. */
  #try(): void {
    const folder = path.join(this.#folder, ".trial");
    try {
      this.#give(folder, FIRST_USER);
      if (ownerOf(folder) !== FIRST_USER)
        throw new Error("the data directory's file system does not support file owners");
      runSync(this.#user(FIRST_USER).as(["/bin/true"]));
      rmdirSync(folder);
    } catch (error) {
      throw unsupported(
        `User ${FIRST_USER} cannot be used: ${error instanceof Error ? error.message : String(error)}.`,
      );
    }
  }
}

/**
 * Creates the data directory and returns its owner. If the directory is empty and belongs to root, steward's user
 * becomes the owner.
 */
function takeDirectory(home: string): number {
  ensureDirectory(home);
  const owner = ownerOf(home) ?? 0;
  if (owner >= FIRST_USER) throw unsupported(`${home} belongs to user ${owner}, which is a chat's.`);
  if (owner !== 0) return owner;
  if (readdirSync(home).length > 0)
    throw unsupported(
      `${home} belongs to root, and it is not empty: chown -R ${CONTAINER_USER}:${CONTAINER_USER} ${home}`,
    );
  chownSync(home, CONTAINER_USER, CONTAINER_USER);
  return CONTAINER_USER;
}

/** Runs a program without this process's variables, which contain secrets. Throws if the program fails. */
function runSync({ command: [file, ...args], options }: ReturnType<ProcessUser["as"]>): void {
  const { error, status, stderr } = spawnSync(file, args, { ...options, env: {}, encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${file} ended with ${status}: ${stderr.trim()}`);
}

/**
 * Sends signals to other users' processes through a root shell. The shell is started in advance, because later a chat's
 * programs may have used up the container's processes.
 */
class SignalSender {
  #input: Socket | undefined;

  send(signal: NodeJS.Signals, group: number): void {
    if (this.#input === undefined) this.start();
    this.#input?.write(`${signal.replace("SIG", "")} ${group}\n`);
  }

  start(): void {
    const script = 'while read -r signal group; do kill -s "$signal" -- "-$group"; done';
    const shell = spawn("/bin/sh", ["-c", script], {
      ...AS_ROOT,
      env: {},
      stdio: ["pipe", "ignore", "ignore"],
      // Ctrl-C must not end the shell before the gateways stop.
      detached: true,
    });
    // Undefined without free file descriptors.
    const input = shell.stdin as Socket | undefined;
    this.#input = input;
    const onEnd = (): void => {
      if (this.#input === input) this.#input = undefined;
    };
    shell.on("error", onEnd).on("exit", onEnd);
    input?.on("error", onEnd);
    // Let this process end; the shell then ends too.
    shell.unref();
    input?.unref();
  }
}

/**
 * Makes the entries of the data directory, except the `tenants` folder, inaccessible to other users. Call this
 * function before granting those users access to the directory itself.
 */
function closeFiles(home: string): void {
  for (const entry of readdirSync(home, { withFileTypes: true })) {
    const file = path.join(home, entry.name);
    const { mode } = lstatSync(file);
    if ((mode & OTHERS) !== 0 && entry.name !== TENANTS && !entry.isSymbolicLink())
      chmodSync(file, mode & ~OTHERS & 0o7777);
  }
}

function ownerOf(folder: string): number | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.uid;
}

/** Reads `CapEff`: https://man7.org/linux/man-pages/man5/proc_pid_status.5.html */
function missingCapabilities(): string[] {
  const status = readFileSync("/proc/self/status", "utf8");
  const held = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  return RIGHTS.filter((right) => ((held >> BITS[right]) & 1n) === 0n);
}

function unsupported(detail: string): StewardError {
  return new StewardError("tenancy_unsupported", detail);
}
