/** Writes the settings of an agent's terminal program into the home of the sandbox, before the program starts. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { preparedSettings } from '../../model/agent.ts';
import { merged } from './merged.ts';

interface Settings {
  readonly files: readonly { readonly path: string; readonly set: object; readonly defaults: object }[];
}

const home = process.env.HOME ?? '/home/agent';

for (const { path, set, defaults } of (JSON.parse(process.argv[2]!) as Settings).files) {
  const file = join(home, path);
  const before = contentOf(file);
  const after = merged(merged(defaults, before), set);
  if (JSON.stringify(after) !== JSON.stringify(before)) replace(file, `${JSON.stringify(after, null, 2)}\n`);
}

writeFileSync(preparedSettings, process.argv[2]!);

/** A file that cannot be parsed is the agent's to report: nothing is added to it. */
function contentOf(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return {};
  }
  try {
    return JSON.parse(text);
  } catch {
    console.error(`${file} is not JSON, ignoring; the agent may ask questions that Carrel answers otherwise`);
    process.exit(0);
  }
}

function replace(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
