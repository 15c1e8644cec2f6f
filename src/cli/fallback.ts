import type { SandboxRequest, SandboxView } from '../api/routes.ts';
import type { Output } from './output/output.ts';

/** Where an overlay was asked for and another kind of working copy was made, its owner should know: it costs more. */
export function tellFallback(out: Output, { mode }: SandboxRequest, { name, workspace, project }: SandboxView): void {
  if (mode !== 'overlay' || workspace?.kind !== 'copy') return;
  out.warn(`overlay is not possible here; ${name} works on a whole copy of ${project}`);
}
