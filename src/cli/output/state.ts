import type { SandboxView } from '../../api/routes.ts';
import type { Colour, Output } from './output.ts';

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
