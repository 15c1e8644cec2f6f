/** What the commands about swarms have in common. */
import { absolute } from './paths.ts';

/** The project of a swarm: the one that was named, or the folder here. */
export function projectOf({ project }: { readonly project?: string }): string {
  return absolute(project ?? '.', '--project');
}
