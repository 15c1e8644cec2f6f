import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../../../kernel/store/store.ts';
import { asFault, type Fault } from '../../../model/fault.ts';
import type { Sandbox } from '../../sandbox/model.ts';

export interface LookParts {
  readonly store: Pick<Store, 'get'>;
  readonly commands: {
    /** Records what the project has, because the agent begins to change its copy. */
    starts(sandbox: Sandbox): Promise<void>;
  };
  report(id: string, fault: Fault): void;
}

/**
 * Looking at a working copy takes a processor for milliseconds, so it is delayed: clients first get the agent's first
 * text.
 */
const lookMs = 25;

/** Looks at the working copy of the sandbox after `lookMs` if the sandbox still runs. */
export function lookSoon({ id }: Sandbox, { store, commands, report }: LookParts): void {
  const looked = pause(lookMs, undefined, { ref: false }).then(async () => {
    const sandbox = store.get('sandbox', id)?.value;
    if (sandbox?.status.state === 'running') await commands.starts(sandbox);
  });
  looked.catch((error: unknown) => report(id, asFault(error)));
}
