// Compiles src/ into dist/, then removes what dist/ holds of sources that are gone.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, 'src');
const dist = join(root, 'dist');

// Not incremental: a full build takes under a second, and a remembered one misses outputs that were deleted by hand.
const tsc = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json', '--incremental', 'false'], {
  cwd: root,
  stdio: 'inherit',
});
if (tsc.error)
  console.error(`scripts/build.mjs: cannot run the TypeScript compiler (${tsc.error.message}); run ./setup`);
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const output = join(entry.parentPath, entry.name);
  if (/\.c?js$/.test(entry.name) && !existsSync(sourceOf(output))) rmSync(output);
}

function sourceOf(output) {
  return join(src, relative(dist, output).replace(/js$/, 'ts'));
}
