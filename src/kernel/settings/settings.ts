/**
 * The owner's settings while the daemon runs. `refresh` reads config.yaml again if it has changed, before requests that depend
 * on it. A file with a mistake refuses such a request of the owner; everything else goes on with the last good settings. Some settings
 * are used when the daemon starts and not again: a change of these waits for the next start, and the owner gets a notice.
 */
import { statSync } from 'node:fs';
import { asFault, Fault } from '../../model/fault.ts';
import { type Config, sections } from '../../noun/app.ts';
import { readConfig } from './config.ts';

/** Values that are used when the daemon starts, with their names in config.yaml. */
const atStart: Readonly<Record<string, string>> = Object.assign(
  {},
  ...sections.map((section) => section.atStart ?? {}),
);
const keysAtStart = Object.keys(atStart) as (keyof Config)[];

/** A file that changed so recently may change again without a new time stamp. */
const settledMs = 100;

export class Settings {
  readonly #path: string;
  readonly #atStart: Config;
  #last: Config;
  #inFile: Config;
  #stamp: string | null;
  #waiting: readonly string[] = [];
  #noticed = '';
  /** Called after new settings took effect. */
  onChange: () => void = () => {};
  /** The last good settings; each field is looked up when it is used. */
  readonly config: Config;

  constructor(path: string) {
    this.#path = path;
    this.#stamp = stampOf(path);
    this.#last = readConfig(path);
    this.#atStart = this.#last;
    this.#inFile = this.#last;
    this.config = liveView(() => this.#last);
  }

  /** Settings that were changed and wait for the next start. */
  get waiting(): readonly string[] {
    return this.#waiting;
  }

  /** The settings in the file, including those that wait for the next start. */
  get inFile(): Config {
    return this.#inFile;
  }

  refresh(): void {
    const stamp = stampOf(this.#path);
    if (stamp !== null && stamp === this.#stamp) return;
    const read = this.#read();
    const changed = keysAtStart.filter((key) => JSON.stringify(read[key]) !== JSON.stringify(this.#atStart[key]));
    this.#waiting = changed.map((key) => atStart[key]!);
    this.#inFile = read;
    this.#last = { ...read, ...Object.fromEntries(keysAtStart.map((key) => [key, this.#atStart[key]])) };
    this.#stamp = stamp;
    this.onChange();
  }

  /** Why the current file is not used; null: it is used. */
  refusal(): string | null {
    try {
      this.refresh();
      return null;
    } catch (error) {
      return asFault(error).message;
    }
  }

  /** A notice to the owner, once per change, about settings that wait for the next start. */
  notice(): string | null {
    const names = this.#waiting.join(', ');
    if (names === this.#noticed) return null;
    this.#noticed = names;
    return names === '' ? null : `${names} in config.yaml: ${whenUsed}`;
  }

  #read(): Config {
    try {
      return readConfig(this.#path);
    } catch (error) {
      const { code, message, hint = 'Correct the file.' } = asFault(error);
      const meanwhile = 'Until then the daemon uses the settings it read before.';
      throw new Fault(code, message, { hint: `${hint} ${meanwhile}`, cause: error });
    }
  }
}

const whenUsed = 'used when the daemon starts again: carrel down, then any command. Sandboxes go on meanwhile';

/** Null: the file changed so recently that it may change again with the same stamp. */
function stampOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return 'absent';
  if (Math.abs(Date.now() - Number(stat.ctimeMs)) < settledMs) return null;
  return [stat.dev, stat.ino, stat.mtimeNs, stat.ctimeNs, stat.size].join(':');
}

function liveView(current: () => Config): Config {
  const keys = Object.keys(current()) as (keyof Config)[];
  const field = (key: keyof Config) => [key, { enumerable: true, get: () => current()[key] }] as const;
  return Object.defineProperties({}, Object.fromEntries(keys.map(field))) as Config;
}
