// The programs that the build bundles, each into one file: every `main.ts` and thread of src, and a few with names of
// their own. The adapter has to be one file: it is mounted into sandboxes without any other file of Carrel.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const src = join(dirname(dirname(fileURLToPath(import.meta.url))), 'src');
/** The CLI is left out here: commands load their files when they run. */
const found = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (path) => /(^|\/)(main|[a-z-]+-thread)\.ts$/.test(path) && path !== 'cli/main.ts',
);

export const programs = [
  ...found.map((path) => path.replace(/\.ts$/, '')).sort(),
  ...['daemon/enter', 'daemon/hub-container', 'agent/demo', 'agent/demo-acp/demo-acp'],
];
