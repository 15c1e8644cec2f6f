// Compiles src/ into dist/, removes what dist/ holds of sources that are gone, and puts each program together into few files:
// Node takes more time to find and open a file than to read it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, 'src');
const dist = join(root, 'dist');

/** Each becomes one file. The adapter has to: it is mounted into sandboxes, where there is no other file of ours. */
const programs = JSON.parse(readFileSync(join(root, 'scripts/programs.json'), 'utf8'));
/** They have parts that are no JavaScript, or are seldom loaded. */
const external = ['better-sqlite3', 'dockerode', 'koffi', 'sqlite-vec', /^@modelcontextprotocol\//];
/** A command loads what it needs, besides one file with what many commands need: opening a file costs more than a few unused lines. */
const commandLine = 'cli/main';
const shared = { name: 'shared', test: (file) => file.startsWith(`${dist}/`), minShareCount: 8 };

// Not incremental: a full build takes about a second, and a remembered one misses outputs that were deleted by hand. `npm run check` looks at the types.
const compile = ['-p', 'tsconfig.build.json', '--incremental', 'false', '--noCheck'];
const tsc = spawnSync(join(root, 'node_modules/.bin/tsc'), compile, { cwd: root, stdio: 'inherit' });
if (tsc.error)
  console.error(`scripts/build.mjs: cannot run the TypeScript compiler (${tsc.error.message}); run ./setup`);
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const output = join(entry.parentPath, entry.name);
  if (/\.c?js$/.test(entry.name) && !existsSync(sourceOf(output))) rmSync(output);
}

const bundled = [
  bundle(commandLine, { chunkFileNames: 'cli/chunk/[name].js', codeSplitting: { groups: [shared] } }),
  ...programs.map((program) => bundle(program, { codeSplitting: false })),
];
writeFileSync(join(dist, 'LICENSES'), licensesOf((await Promise.all(bundled)).flat()));
writeFileSync(join(dist, 'build.json'), `${JSON.stringify({ build: buildId(), builtAt: new Date().toISOString() })}\n`);

/** By which a command knows whether the daemon that answers is of the same build. The command line itself does not count. */
function buildId() {
  const hash = createHash('sha256');
  for (const program of programs) hash.update(readFileSync(join(dist, `${program}.js`)));
  return hash.digest('hex').slice(0, 16);
}

function sourceOf(output) {
  return join(src, relative(dist, output).replace(/js$/, 'ts'));
}

/** In the place of what was compiled. Answers with the files that went into it. */
async function bundle(program, chunks) {
  const input = { [program]: join(dist, `${program}.js`) };
  // Of a package with two forms the ES modules: the other one of jsonc-parser cannot be bundled.
  const resolve = { mainFields: ['module', 'main'] };
  const build = await rolldown({ input, external, resolve, platform: 'node', logLevel: 'warn' });
  const { output } = await build.write({ dir: dist, format: 'esm', ...chunks });
  await build.close();
  return output.flatMap(({ moduleIds }) => moduleIds ?? []);
}

/** Of the packages whose files are now part of ours. */
function licensesOf(files) {
  const packages = new Set(files.flatMap((file) => file.match(/.*\/node_modules\/(@[^/]+\/)?[^/]+(?=\/)/)?.[0] ?? []));
  const license = (folder) => readdirSync(folder).find((name) => /^licen[sc]e/i.test(name));
  return [...packages]
    .sort()
    .map((folder) => {
      const { name, version, license: kind } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const text = license(folder) ? readFileSync(join(folder, license(folder)), 'utf8') : `${kind}\n`;
      return `== ${name} ${version}\n\n${text}`;
    })
    .join('\n');
}
