// The build copies this file to the place of each program that starts often. It runs the script beside it, with what V8 compiled of it at
// build time (decision 85). V8 refuses a cache of another version of itself, or of a process with other flags, and compiles the script.

// Not by `import`, for which Node looks at every export, and loads streams for those of `fs`.
const { readFileSync } = process.getBuiltinModule('node:fs');
const { createRequire } = process.getBuiltinModule('node:module');
const { dirname } = process.getBuiltinModule('node:path');
const { Script } = process.getBuiltinModule('node:vm');

const path = import.meta.filename.replace(/js$/, 'script.js');
// It is ASCII: V8 keeps one byte per character, and nothing has to be decoded.
const source = readFileSync(path, 'latin1');
const script = new Script(source, { filename: path, cachedData: cacheOf(`${path}.cache`) });
const program = { exports: {} };
const importPackage = (specifier) => import(specifier);
script.runInThisContext()(program.exports, createRequire(path), program, path, dirname(path), importPackage);

/** Of the command line. */
export const main = program.exports.main;

/** Undefined: there is none of this source. V8 itself compares only the length. Source and cache begin with the same checksum. */
function cacheOf(file) {
  try {
    const cache = readFileSync(file);
    const end = cache.indexOf('\n') + 1;
    return source.startsWith(cache.toString('latin1', 0, end)) ? cache.subarray(end) : undefined;
  } catch {
    return undefined;
  }
}
