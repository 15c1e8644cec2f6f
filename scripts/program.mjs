// The build copies this file to the path of each program that starts often. It runs the script beside it with the code
// cache of the build (decision 85). V8 refuses a cache of another V8 version, or of a process with other flags, and
// compiles the script instead.

// Without `import`, with which Node would look at every export and load streams for those of `fs`.
const { readFileSync } = process.getBuiltinModule('node:fs');
const { createRequire } = process.getBuiltinModule('node:module');
const { dirname } = process.getBuiltinModule('node:path');
const { Script } = process.getBuiltinModule('node:vm');

const path = import.meta.filename.replace(/js$/, 'script.js');
// The script is ASCII: V8 keeps one byte per character, and nothing has to be decoded.
const source = readFileSync(path, 'latin1');
const script = new Script(source, { filename: path, cachedData: cacheOf(`${path}.cache`) });
const program = { exports: {} };
const importPackage = (specifier) => import(specifier);
script.runInThisContext()(program.exports, createRequire(path), program, path, dirname(path), importPackage);

/** The entry point of the command line. */
export const main = program.exports.main;

/**
 * Undefined: there is no cache of this source. V8 itself compares only the length; source and cache begin with the same
 * checksum.
 */
function cacheOf(file) {
  try {
    const cache = readFileSync(file);
    const end = cache.indexOf('\n') + 1;
    return source.startsWith(cache.toString('latin1', 0, end)) ? cache.subarray(end) : undefined;
  } catch {
    return undefined;
  }
}
