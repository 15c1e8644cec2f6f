import { programMount } from '../model/agent.ts';
import type { Hook } from './launch.ts';

/** Mounts the program of an agent that is on this machine but not below /usr. */
export const agentProgram: Hook = {
  additions: ({ spec: { program: source } }) =>
    source ? { mounts: [{ kind: 'bind', source, target: programMount(source), readonly: true }] } : {},
};
