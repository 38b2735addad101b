// npm run image: builds the container image of this checkout and prints its name, the last line of its output.
import { buildBundle } from "./bundle.ts";
import { BuildFailure } from "./failure.ts";
import { stewardImage } from "./image.ts";

const log = (line: string): void => void process.stderr.write(`${line}\n`);
try {
  const { image } = await stewardImage(await buildBundle(), log);
  process.stdout.write(`${image}\n`);
} catch (error) {
  if (!(error instanceof BuildFailure)) throw error;
  log(error.message);
  process.exitCode = 1;
}
