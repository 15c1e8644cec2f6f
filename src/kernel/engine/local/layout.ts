/** The paths of the engine's files. `run/<id>` is one sandbox: its bundle, console socket and log. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

export class Layout {
  readonly folder: string;
  constructor(folder: string) {
    this.folder = folder;
    for (const name of ['run', 'exit', 'state', 'bin']) mkdirSync(join(folder, name), { recursive: true, mode: 0o711 });
  }

  get runs(): string {
    return join(this.folder, 'run');
  }
  /** conmon writes the exit code of each sandbox here, under its id. */
  get exits(): string {
    return join(this.folder, 'exit');
  }
  get init(): string {
    return join(this.folder, 'bin', 'init');
  }
  run(id: string): string {
    return join(this.runs, id);
  }
  exit(id: string): string {
    return join(this.exits, id);
  }
  state(runtime: string): string {
    return join(this.folder, 'state', runtime);
  }
}
