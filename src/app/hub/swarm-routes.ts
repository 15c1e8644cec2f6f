import type { BegunSwarmView, SwarmView } from '../../api/swarm.ts';

/** Routes of the API that swarms use, called for the user, with the audit acts and the policy of these routes. */
export interface SwarmRoutes {
  run(request: {
    project: string;
    files?: string[] | undefined;
    agent?: string | undefined;
    max?: number | undefined;
  }): Promise<BegunSwarmView>;
  show(project: string): Promise<SwarmView>;
  stop(project: string, names: string[] | undefined): Promise<SwarmView>;
}
