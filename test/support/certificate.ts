import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runProcess } from "../../infra/shell/process.ts";

export interface Certificate {
  key: string;
  cert: string;
  file: string;
}

/** @param subject Alternative name in OpenSSL's form, such as `IP:127.0.0.1`. */
export async function selfSigned(folder: string, subject: string): Promise<Certificate> {
  const [key, file] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const names = ["-subj", "/CN=a test", "-addext", `subjectAltName=${subject}`];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key, "-out", file];
  const { code, stderr } = await runProcess("openssl", [...made, ...names]);
  if (code !== 0) throw new Error(stderr);
  return { key: await readFile(key, "utf8"), cert: await readFile(file, "utf8"), file };
}
