import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import workers from "node:worker_threads";

/** Returns a function that fails the unit test which calls it. */
function refuse(what: string) {
  return (): never => {
    throw new Error(`A unit test must not ${what}: rename the file to *.process.test.ts (test/README.md).`);
  };
}

Object.assign(childProcess, {
  spawn: refuse("start a process"),
  spawnSync: refuse("start a process"),
  fork: refuse("start a process"),
  exec: refuse("start a process"),
  execSync: refuse("start a process"),
  execFile: refuse("start a process"),
  execFileSync: refuse("start a process"),
});
Object.assign(workers, { Worker: refuse("start a thread") });
net.Server.prototype.listen = refuse("listen on a socket");
net.Socket.prototype.connect = refuse("open a socket");
syncBuiltinESMExports();
