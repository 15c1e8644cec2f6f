import type { Hook } from '../sandbox/launch/launch.ts';
import { programMount } from './model/agent.ts';

/** Mounts the program of an agent that is on this machine but not below /usr. */
export const agentProgram: Hook = {
  additions: ({ spec: { program: source } }) =>
    source ? { mounts: [{ kind: 'bind', source, target: programMount(source), readonly: true }] } : {},
};
