import type { Colour, Output } from '../../../client/output/output.ts';
import type { SandboxView } from '../api.ts';

const colours: { readonly [state in SandboxView['state']]: Colour } = {
  pending: 'yellow',
  running: 'green',
  completed: 'dim',
  failed: 'red',
  stopped: 'dim',
};

export function paintState(out: Output, state: SandboxView['state']): string {
  return out.paint(colours[state], state);
}

/** Warns about sandboxes whose engine does not answer: their state may be out of date. */
export function warnUnseen(out: Output, sandboxes: readonly SandboxView[]): void {
  for (const why of new Set(sandboxes.map(({ unseen }) => unseen))) {
    const names = sandboxes.filter(({ unseen }) => unseen === why).map(({ name }) => name);
    if (why !== null) out.warn(`${names.join(', ')} as last seen: ${why}`);
  }
}
